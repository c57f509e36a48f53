/** Rules of caching and of access tokens. */
import type { Rules } from "./rule.ts";

const CACHING = "server/utilities/caching";
const AUTHORIZATION = "basic/authorization/index";
const DISCOVERY = "basic/authorization/authorization-server-discovery";
const PRIVACY = "One caller's answer must not reach another.";
const IDENTITY = "Every binding rests on who is calling.";

export const CACHE = {
  "cache/hints-missing": {
    meaning: "A complete result that may be cached says for how long and for whom.",
    page: CACHING,
    level: "MUST",
    side: "server",
    rows: [112],
    action: "mend",
    mode: "report",
  },
  "cache/bad-hints": {
    meaning: "ttlMs is a whole number, zero or more, and cacheScope public or private.",
    page: CACHING,
    level: "MUST",
    side: "server",
    rows: [113],
    action: "mend",
    mode: "report",
  },
  "cache/hints-on-question": {
    meaning: "A question carries no cache hints.",
    page: CACHING,
    level: "schema",
    side: "server",
    rows: [114],
    action: "mend",
    core: PRIVACY,
  },
  "cache/answered-result": {
    meaning: "The result of a request that brought answers or a state is not cached.",
    page: CACHING,
    level: "MUST",
    side: "gateway",
    rows: [115],
    action: "mend",
    core: PRIVACY,
  },
  "cache/personal-result": {
    meaning: "What was filtered for one caller leaves as private; the gateway keeps no result for another.",
    page: CACHING,
    level: "MUST",
    side: "gateway",
    rows: [116, 117],
    action: "mend",
    core: PRIVACY,
  },
  "cache/scope-varies": {
    meaning: "All pages of a list have the same cacheScope.",
    page: CACHING,
    level: "MUST",
    side: "server",
    rows: [118],
    action: "mend",
    mode: "report",
  },
} as const satisfies Rules;

export const AUTH = {
  "auth/bearer": {
    meaning: "Every request brings its token in Authorization, never in the query.",
    page: AUTHORIZATION,
    level: "MUST",
    side: "client",
    rows: [104],
    action: "refuse",
    core: IDENTITY,
  },
  "auth/token": {
    meaning: "A token is signed by an issuer that is trusted, has not expired, and is meant for this route.",
    page: AUTHORIZATION,
    level: "MUST",
    side: "gateway",
    rows: [105],
    action: "refuse",
    core: IDENTITY,
  },
  "auth/passthrough": {
    meaning: "The caller's token is never sent to the server.",
    page: AUTHORIZATION,
    level: "MUST",
    side: "gateway",
    rows: [106],
    action: "mend",
    core: "The token was given to the gateway and to nobody else.",
  },
  "auth/metadata": {
    meaning: "Protected resource metadata is published and names the authorization servers.",
    page: DISCOVERY,
    level: "MUST",
    side: "gateway",
    rows: [107],
    action: "mend",
    core: "It is how clients find where to sign in.",
  },
  "auth/challenge": {
    meaning: "A 401 names the metadata in WWW-Authenticate.",
    page: DISCOVERY,
    level: "MUST",
    side: "gateway",
    rows: [108],
    action: "refuse",
    core: "It is how clients find where to sign in.",
  },
  "auth/scope": {
    meaning: "A token that lacks a scope gets 403 and a challenge that names it.",
    page: AUTHORIZATION,
    level: "SHOULD",
    side: "gateway",
    rows: [109],
    action: "refuse",
    core: IDENTITY,
  },
} as const satisfies Rules;
