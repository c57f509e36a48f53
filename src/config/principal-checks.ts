/**
 * Configurations under which all traffic arrives as one principal, or one caller as many. A state is bound to the principal it
 * was sealed for: where many people are one, each is good for the states of the others. Warnings only, since one person may
 * well be all there is. Part of `cross-checks.ts`, pure like it.
 */
import { isLoopback, parseUrl } from "./addresses.ts";
import { tokenIssuers } from "./caller-issuers.ts";
import { allows } from "./consent-checks.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";

/** Claims that say for which client, by which issuer and for what a token was made: the same for all users of a client. */
const SHARED = new Set(
  "aud appid appidacr azp azpacr cid client_id clientId idtyp iss scope scp tenant tid typ ver".split(" "),
);

/** Claims that are new in every token, or in every session. */
const FLEETING = new Set(
  "aio at_hash auth_time c_hash exp iat jti nbf nonce rh session_state sid uti".split(" "),
);

/** Warns of claims that cannot tell callers apart, or tell apart what is one caller. */
function checkClaims({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  for (const { claims, path: entry } of tokenIssuers(authentication)) {
    const at = (...more: Step[]): Step[] => [...entry, "claims", ...more];
    const named = [
      { name: claims.subject, path: at("subject") },
      ...claims.client.map((name, place) => ({ name, path: at("client", place) })),
      ...(claims.tenant === undefined ? [] : [{ name: claims.tenant, path: at("tenant") }]),
    ];
    for (const { name, path } of named) {
      if (!FLEETING.has(name)) continue;
      report.warning(
        path,
        "is a claim that is new in each token: a state would be refused once its caller has another token",
      );
    }
    if (SHARED.has(claims.subject)) {
      report.warning(
        at("subject"),
        "is a claim that is the same for all users of a client: all of them would be one principal, good for each other's states",
      );
    }
  }
}

/** Warns of an issuer whose signed and opaque tokens name people by different claims, since by either they are the same principals. */
function checkMappings({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  const { issuers, introspection = [] } = authentication;
  for (const [index, { issuer, claims }] of introspection.entries()) {
    const signed = issuers.find((other) => other.issuer === issuer)?.claims;
    if (signed === undefined) continue;
    for (const name of ["subject", "absentSubject", "tenant"] as const) {
      const [one = "refuse", other = "refuse"] = [claims[name], signed[name]];
      if (one === other) continue;
      report.warning(
        ["authentication", "introspection", index, "claims", name],
        "is not the one of the same issuer in authentication.issuers: whoever has here the name that somebody else has there is the same principal",
      );
    }
  }
}

/** Warns of anonymous use where more than one person is to be expected. A listener open to others has its warning already. */
function checkAnonymous({ authentication, server }: Sound, report: Report): void {
  if (authentication?.mode !== "anonymous" || report.lost(["authentication", "mode"])) return;
  if (server === undefined || report.lost(["server"]) || !isLoopback(server.listen.host)) return;
  const url = server.publicUrl === undefined ? undefined : parseUrl(server.publicUrl);
  const reason =
    url !== undefined && !isLoopback(url.hostname)
      ? "server.publicUrl is an address of others"
      : server.trustedProxies.length > 0
        ? "a proxy stands in front"
        : server.replicas > 1
          ? "there is more than one replica"
          : undefined;
  if (reason === undefined) return;
  report.warning(
    ["authentication", "mode"],
    `is anonymous, while ${reason}: all callers are one principal, and a state is bound to no caller`,
  );
}

const isLiteral = (pattern: string): boolean => !/[*?]/.test(pattern);

/** Warns where policies leave one subject: often a gateway in front that comes with a token of its own. */
function checkSubjects({ authorization }: Sound, report: Report): void {
  if (authorization === undefined || report.lost(["authorization"])) return;
  const granting = authorization.policies.filter(allows);
  if (authorization.default === "allow" || granting.length === 0) return;
  const subjects = granting.map(({ principal }) => principal?.subjects ?? ["*"]);
  const [first = "*"] = subjects[0] ?? [];
  if (!isLiteral(first) || !subjects.every((list) => list.every((subject) => subject === first))) return;
  report.warning(
    ["authorization", "policies"],
    "allow one subject and nobody else: if it is a gateway with a token of its own, all its users are one principal, good for each other's states",
  );
}

/** All checks of how many principals there can be. */
export function checkPrincipals(sections: Sound, report: Report): void {
  checkClaims(sections, report);
  checkMappings(sections, report);
  checkAnonymous(sections, report);
  checkSubjects(sections, report);
}
