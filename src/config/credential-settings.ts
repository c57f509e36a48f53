/** What the gateway shows to a server: `routes[].upstream.credential`, and the section `assertions` with the keys that sign. */
import * as z from "zod";
import {
  credentialHeader,
  duration,
  httpUrl,
  label,
  list,
  oneOf,
  scopeToken,
  secretRef,
  some,
  text,
} from "./fields.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Section `assertions`. */
export const assertions = z.strictObject({
  issuer: httpUrl({ query: false })
    .exactOptional()
    .describe("The iss of all assertions, equal on all replicas. Default: server.publicUrl."),
  primary: label().describe("The id of the key that signs. The others are only published."),
  ring: some(
    z.strictObject({
      id: label().describe("A name for people. Not secret, not part of an assertion."),
      key: secretRef().describe("A private key in PEM without passphrase: P-256 signs ES256, Ed25519 EdDSA."),
    }),
  ).describe("All keys. Rotation: add everywhere, promote when servers know it, remove."),
});

const header = credentialHeader()
  .prefault("authorization")
  .describe("Header that carries it. In authorization it stands behind Bearer, in any other alone.");

const assertion = z.strictObject({
  audience: text("an audience")
    .exactOptional()
    .describe("The aud of its assertions. Default: upstream.url without its query."),
  lifetime: duration(5 * SECOND, 10 * MINUTE)
    .prefault("60s")
    .describe("From iat to exp. An assertion is used again for half of it."),
  subject: z
    .enum(["qualified", "plain"])
    .default("qualified")
    .describe(
      "What sub is: issuer, # and subject of the caller, or the subject alone, which two issuers may both know.",
    ),
  claims: list(z.enum(["groups", "scopes"]))
    .default([])
    .describe("What else it says of the caller."),
  anonymous: z
    .enum(["refuse", "send"])
    .default("refuse")
    .describe("Callers without identity: refuse them, or send an assertion that says so and has no sub."),
  header,
});

const secretClient = z.strictObject({
  id: text("a client id").describe("The gateway's client_id at this server."),
  secret: secretRef().describe("Its secret."),
});

/** How the gateway authenticates at an authorization server. */
export const client = oneOf(
  {
    basic: secretClient.describe("Authenticates with HTTP Basic (client_secret_basic)."),
    post: secretClient.describe("Authenticates with members of the form (client_secret_post)."),
    privateKeyJwt: z
      .strictObject({
        id: text("a client id").describe("The gateway's client_id at this server."),
        key: secretRef().describe(
          "A private key in PEM without passphrase: P-256 signs ES256, Ed25519 EdDSA, RSA of 2048 bits or more RS256.",
        ),
        audience: text("an audience")
          .exactOptional()
          .describe("The aud of its JWTs, often the issuer. Default: the endpoint."),
      })
      .describe("Authenticates with a signed JWT (private_key_jwt)."),
  },
  "{ basic: { id, secret } }, { post: { id, secret } } or { privateKeyJwt: { id, key } }",
).describe("How the gateway authenticates.");

const grant = {
  endpoint: httpUrl({ query: true }).describe(
    "Token endpoint of the authorization server. https, or http on loopback.",
  ),
  client,
  audience: some(text("an audience")).exactOptional().describe("Servers the token is asked for, by name."),
  resource: some(httpUrl({ query: true }))
    .exactOptional()
    .describe("Servers the token is asked for, by URL (RFC 8707)."),
  scope: some(scopeToken()).exactOptional().describe("Scopes that are asked for."),
  header,
};

const exchange = z.strictObject({
  ...grant,
  subject: z
    .enum(["same", "any"])
    .default("same")
    .describe(
      "Whether a token in form of a JWT must have the caller's own sub. any for a server that names people anew.",
    ),
});

/** `routes[].upstream.credential`. */
export const upstreamCredential = oneOf(
  {
    bearer: secretRef().describe("Sent as Authorization: Bearer."),
    header: z
      .strictObject({
        name: credentialHeader().describe("Name of the header."),
        value: secretRef().describe("Value of the header."),
      })
      .describe("Sent in a header of its own."),
    assertion: assertion.describe(
      "A short-lived JWT that says who is calling, signed with a key of assertions.",
    ),
    exchange: exchange.describe("A token in the caller's name, exchanged for the caller's own (RFC 8693)."),
    clientCredentials: z
      .strictObject(grant)
      .describe("A token in the gateway's own name (RFC 6749 section 4.4)."),
  },
  "{ bearer: … } or { header: { name, value } } with the secret as { file } or { env }, { assertion }, { exchange } or { clientCredentials }",
);
