/** Rules of callers and of what is theirs, broken and kept: before an issuer, with policies that hide something. */
import { PUBLIC_URL, type Reply } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { ACCEPT, retry, url } from "./mrtr-cases.ts";
import { asksOne, CALL, DONE, FORM, LIST, type RuleCase, type Stage, tools } from "./stage.ts";

/** What the cases need: tokens of two users, one that lacks the scope, and one that has expired. */
export interface Callers {
  readonly issuer: TestIssuer;
  readonly owner: string;
  readonly stranger: string;
  readonly scopeless: string;
  readonly expired: string;
}

/** Starts an issuer with its tokens. */
export async function setCallers(): Promise<Callers> {
  const issuer = await startIssuer();
  const aud = `${PUBLIC_URL}/mcp`;
  const scope = "mcp:use";
  return {
    issuer,
    owner: await issuer.token({ sub: "u-1001", aud, scope }),
    stranger: await issuer.token({ sub: "u-2002", aud, scope }),
    scopeless: await issuer.token({ sub: "u-1001", aud }),
    expired: await issuer.token({ sub: "u-1001", aud, scope, exp: Math.floor(Date.now() / 1000) - 3_600 }),
  };
}

/** The sections of gateways for these callers; `admin_*` is hidden from all of them. */
export const sectionsFor = ({ issuer }: Callers) => ({
  authentication: {
    issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, requiredScopes: ["mcp:use"] }],
  },
  authorization: { default: "allow", policies: [{ id: "no-admin", effect: "deny", tools: ["admin_*"] }] },
});

const ALL = { elicitation: { form: {}, url: {} } };
const METADATA = "/.well-known/oauth-protected-resource/mcp";
const LISTED = tools('{"name":"admin_x"},{"name":"add"}', '"ttlMs":60000,"cacheScope":"public"');

export const authCases = (callers: Callers): readonly RuleCase[] => {
  const { owner, stranger, scopeless, expired, issuer } = callers;
  const as = (token: string) => (stage: Stage) => stage.answered(CALL, DONE, { token });
  return [
    {
      rule: "mrtr/state-principal",
      rows: [9, 40, 110],
      bad: async (stage) =>
        retry(stage, await stage.asked(CALL, asksOne(FORM), { token: owner }), ACCEPT, { token: stranger }),
      honest: async (stage) =>
        retry(stage, await stage.asked(CALL, asksOne(FORM), { token: owner }), ACCEPT, { token: owner }),
    },
    {
      rule: "elicitation/url-own-issuer",
      rows: [49],
      bad: (stage) =>
        stage.answered(CALL, asksOne(url("https://gateway.test/authorize?client_id=x")), {
          token: owner,
          capabilities: ALL,
        }),
      honest: (stage) =>
        stage.answered(CALL, asksOne(url("https://pay.example/authorize?client_id=x")), {
          token: owner,
          capabilities: ALL,
        }),
    },
    {
      rule: "auth/bearer",
      rows: [104],
      bad: (stage) => stage.gateway.call(CALL, { path: `/mcp?access_token=${owner}` }),
      honest: as(owner),
    },
    { rule: "auth/token", rows: [105], bad: as(expired), honest: as(owner) },
    {
      rule: "auth/passthrough",
      rows: [106],
      noted: false,
      bad: (stage) => sent(stage, owner, "authorization"),
      honest: (stage) => sent(stage, owner, "traceparent"),
      acted: (reply) => reply.status === 0,
    },
    {
      rule: "auth/metadata",
      rows: [107],
      noted: false,
      bad: (stage) => stage.gateway.send({ method: "GET", path: METADATA }),
      honest: (stage) => stage.gateway.send({ method: "GET", path: `${METADATA}x` }),
      acted: (reply) => reply.json?.authorization_servers?.[0] === issuer.issuer,
    },
    {
      rule: "auth/challenge",
      rows: [108],
      noted: false,
      bad: as("no-token"),
      honest: as(owner),
      acted: (reply) =>
        String(reply.headers["www-authenticate"]).includes(`resource_metadata="${PUBLIC_URL}${METADATA}"`),
    },
    {
      rule: "auth/scope",
      rows: [109],
      bad: as(scopeless),
      honest: as(owner),
      acted: (reply) =>
        reply.status === 403 &&
        /error="insufficient_scope".*scope="mcp:use"/.test(String(reply.headers["www-authenticate"])),
    },
    {
      rule: "cache/personal-result",
      rows: [117],
      noted: false,
      bad: (stage) => stage.answered(LIST, LISTED, { token: owner }),
      honest: (stage) => stage.answered(CALL, LISTED.replace("admin_x", "b"), { token: owner }),
      acted: ({ json }) =>
        json.result.cacheScope === "private" &&
        json.result.ttlMs === 0 &&
        !JSON.stringify(json).includes("admin_x"),
    },
  ];
};

/** A call with a header; status 0 if the header did not reach the server. */
async function sent(stage: Stage, token: string, header: string): Promise<Reply> {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const reply = await stage.answered(CALL, DONE, { token, headers: { traceparent } });
  return stage.last()?.headers[header] === undefined ? { ...reply, status: 0 } : reply;
}
