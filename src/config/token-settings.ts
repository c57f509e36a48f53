/** The settings of access tokens: what is read from them, tokens that only their issuer can read, and tokens bound to a key. */
import * as z from "zod";
import { ALGORITHMS } from "./algorithms.ts";
import { client } from "./credential-settings.ts";
import { duration, field, httpUrl, list, scopeToken, some, text } from "./fields.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The kinds of credential, as `routes[].authentication.accept` names them. */
export const CREDENTIAL_KINDS = ["jwt", "introspection", "certificate", "forwarded"] as const;

const claimName = text("the name of a claim, or a dotted path to one", 128);

/** Which claims of a token say who is calling. */
export const claims = z
  .strictObject({
    subject: claimName.prefault("sub").describe("Claim with the subject."),
    absentSubject: z
      .enum(["refuse", "client"])
      .exactOptional()
      .describe(
        "A token without subject: refuse it, or take its client for the subject (client credentials). Only where no user can have a client's name. Default: refuse.",
      ),
    client: some(claimName)
      .prefault(["client_id", "azp", "appid"])
      .describe("Claims with the client, first hit wins."),
    groups: claimName
      .exactOptional()
      .describe(
        "Claim with the groups: groups, realm_access.roles, https://example.com/groups. Without it, nobody has any.",
      ),
    scope: some(claimName).prefault(["scope", "scp"]).describe("Claims with the scopes, first hit wins."),
    tenant: claimName.exactOptional().describe("Claim with the tenant, for issuers shared by tenants."),
  })
  .prefault({})
  .describe(
    "Which claims say who is calling. A name is the claim of exactly that name, dots and URLs included; where there is none, a dotted path into objects.",
  );

/** Whether tokens must be bound to their sender. */
export const senderConstrained = z
  .enum(["optional", "required"])
  .exactOptional()
  .describe(
    "Tokens that are bound to nothing: take them, or refuse all but those bound to a client certificate or a DPoP key. Default: optional.",
  );

/** Scopes every token of an issuer needs. */
export const requiredScopes = list(scopeToken()).default([]).describe("Scopes every token needs.");

/** The start of opaque tokens: characters of a token (RFC 6750 section 2.1). */
function tokenPrefix() {
  return field<string>(
    "the first characters of tokens, 1 to 64 of letters, digits and - . _ ~ + /",
    (given, refuse) =>
      /^[A-Za-z0-9._~+/-]{1,64}$/.test(given) ? given : refuse("is not the start of a token"),
  );
}

/** One entry of `authentication.introspection`. */
export const introspection = z.strictObject({
  issuer: httpUrl({ query: false }).describe(
    "The issuer of its tokens, as policies and the audit log name it.",
  ),
  url: httpUrl({ query: true }).describe(
    "The introspection endpoint (RFC 7662). https, or http on loopback.",
  ),
  client,
  tokenPrefixes: some(tokenPrefix())
    .exactOptional()
    .describe("How its opaque tokens begin. Needed where several issuers have such tokens on one route."),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted on every route. Default: the resource URL of the route."),
  clockTolerance: duration(0, 5 * MINUTE)
    .prefault("30s")
    .describe("Leeway for exp and nbf."),
  claims,
  requiredScopes,
  senderConstrained,
  cache: duration(0, 10 * MINUTE)
    .prefault("30s")
    .describe(
      "How long an answer is used again, never past exp. A revoked token is good for so long. 0s asks each time.",
    ),
});

/** Bounds of `maxAge` and `clockTolerance` of `authentication.dpop`, in milliseconds: used proofs are remembered by these. */
export const PROOF_BOUNDS = { maxAge: 5 * MINUTE, clockTolerance: 1 * MINUTE } as const;

/** `authentication.dpop`. */
export const dpop = z.strictObject({
  algorithms: some(z.enum(ALGORITHMS))
    .default([...ALGORITHMS])
    .describe("Signature algorithms of proofs. Asymmetric only."),
  maxAge: duration(5 * SECOND, PROOF_BOUNDS.maxAge)
    .prefault("60s")
    .describe("Oldest iat of a proof."),
  clockTolerance: duration(0, PROOF_BOUNDS.clockTolerance)
    .prefault("30s")
    .describe("Leeway for iat, at both ends."),
  nonce: z
    .enum(["off", "required"])
    .default("off")
    .describe("Whether proofs need a nonce of the gateway, which shows that they were not made in advance."),
});

/** `routes[].authentication`. */
export const routeAuthentication = z.strictObject({
  accept: some(z.enum(CREDENTIAL_KINDS))
    .exactOptional()
    .describe("Kinds of credential taken on this route. Default: all that are configured."),
  introspection: httpUrl({ query: false })
    .exactOptional()
    .describe("The issuer of authentication.introspection whose opaque tokens are taken on this route."),
});
