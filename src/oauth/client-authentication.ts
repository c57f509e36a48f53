/** How the gateway shows a token endpoint who it is: RFC 6749 section 2.3.1, and private_key_jwt (RFC 7523 section 2.2). */
import { createPrivateKey, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { algorithmOf } from "../config/credential-material.ts";
import type { Config } from "../config/schema.ts";

type Credential = NonNullable<Config["routes"][number]["upstream"]["credential"]>;
type Grant = Extract<Credential, { clientCredentials: unknown }>["clientCredentials"];
/** `client` of a route's grant. */
export type Client = Grant["client"];

/** Headers and members of the form that authenticate one request. Secret. */
export interface Authentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
}

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ASSERTION_SECONDS = 60;

/**
 * Opens the client's authentication.
 * @param secret what `loadMaterial` read for it: the secret, or PEM of a private key that signs
 * @param endpoint the default audience of its JWTs
 * @param now milliseconds since the epoch
 * @throws Error for a key that signs nothing here, which `loadMaterial` rules out
 */
export function openClient(
  client: Client,
  secret: Buffer,
  endpoint: string,
  now: () => number,
): () => Authentication | Promise<Authentication> {
  if ("basic" in client) {
    const pair = [client.basic.id, secret.toString("latin1")].map(formEncoded).join(":");
    const headers = { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
    return () => ({ headers, form: {} });
  }
  if ("post" in client) {
    const form = { client_id: client.post.id, client_secret: secret.toString("latin1") };
    return () => ({ headers: {}, form });
  }
  const { id, audience = endpoint } = client.privateKeyJwt;
  const key = createPrivateKey(secret);
  const alg = algorithmOf(key);
  if (alg === undefined) throw new Error("the key of a client signs nothing here");
  return async () => {
    const iat = Math.floor(now() / 1000);
    const claims = { iss: id, sub: id, aud: audience, iat, exp: iat + ASSERTION_SECONDS, jti: randomUUID() };
    const assertion = await new SignJWT(claims).setProtectedHeader({ alg, typ: "JWT" }).sign(key);
    return {
      headers: {},
      form: { client_id: id, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion },
    };
  };
}

/** application/x-www-form-urlencoded, which RFC 6749 wants of both parts before they are joined. */
const formEncoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
