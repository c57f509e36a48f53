/** DPoP proofs for tests, honest unless told otherwise (RFC 9449 section 4.2). Signs whatever it is told to. */
import { createHash, randomUUID, type webcrypto } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export interface ProofKey {
  readonly alg: string;
  readonly privateKey: webcrypto.CryptoKey;
  /** With the private members, for proofs that give them away. */
  readonly privateJwk: JWK;
  readonly jwk: JWK;
  /** `cnf.jkt` of tokens bound to it. */
  readonly thumbprint: string;
}

export async function proofKey(alg = "ES256"): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  const privateJwk = await exportJWK(privateKey);
  return { alg, privateKey, privateJwk, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

export interface ProofOptions {
  readonly token: string;
  readonly url: string;
  readonly method?: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Replacing or further claims; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

const kept = (from: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined));

/** The `ath` of a token. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Makes a proof. */
export async function prove(key: ProofKey, options: ProofOptions): Promise<string> {
  const { token, url, method = "POST", now } = options;
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(now / 1000),
    ath: tokenHash(token),
    ...options.claims,
  };
  const header = { typ: "dpop+jwt", alg: key.alg, jwk: key.jwk, ...options.header };
  const crit = Array.isArray(header["crit" as keyof typeof header])
    ? { crit: Object.fromEntries((header["crit" as keyof typeof header] as string[]).map((n) => [n, true])) }
    : undefined;
  return await new SignJWT(kept(claims) as JWTPayload)
    .setProtectedHeader({ ...kept(header), alg: key.alg })
    .sign(key.privateKey, crit);
}
