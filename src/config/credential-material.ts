/** What credentials of upstreams refer to: secrets, private keys, certificates. Read and checked as the rest of `material.ts`. */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Step } from "./json-schema.ts";
import type { Report } from "./report.ts";
import type { Config, Secret } from "./schema.ts";
import { SecretError, secretLine } from "./secret.ts";

/** A private key of the section `assertions`, as PEM that was tried. */
export interface AssertionKey {
  readonly id: string;
  readonly pem: Buffer;
}

/** What was read for upstreams. By route path, but for the keys, which all routes share. */
export interface UpstreamSecrets {
  /** The header that an upstream gets. Names in lower case. */
  readonly credentials: ReadonlyMap<string, { readonly header: string; readonly value: string }>;
  /** What the gateway authenticates with at an authorization server: a client secret, or the PEM of a private key. */
  readonly clientSecrets: ReadonlyMap<string, Buffer>;
  /** PEM of `upstream.tls.ca`. */
  readonly upstreamCas: ReadonlyMap<string, Buffer>;
  /** PEM of `upstream.tls.cert` and `key`, a pair that fits. */
  readonly upstreamPairs: ReadonlyMap<string, { readonly cert: Buffer; readonly key: Buffer }>;
  /** In the order of `assertions.ring`. */
  readonly assertionKeys: readonly AssertionKey[];
}

/** What there is where nothing is read. */
export const NO_UPSTREAM_SECRETS: UpstreamSecrets = {
  credentials: new Map(),
  clientSecrets: new Map(),
  upstreamCas: new Map(),
  upstreamPairs: new Map(),
  assertionKeys: [],
};

/** How `material.ts` reads: what is wrong goes to the report, and undefined comes back. */
export interface Readers {
  secretOf<T>(path: readonly Step[], secret: Secret, decode: (bytes: Buffer) => T): Promise<T | undefined>;
  fileOf<T>(
    path: readonly Step[],
    file: string,
    decode: (bytes: Buffer) => T,
    secret?: boolean,
  ): Promise<T | undefined>;
  readonly authorities: (bytes: Buffer) => Buffer;
  readonly report: Report;
}

/** Reads everything that credentials and TLS of upstreams refer to. */
export async function loadUpstreamSecrets(config: Config, readers: Readers): Promise<UpstreamSecrets> {
  const { secretOf, fileOf, authorities } = readers;
  const credentials = new Map<string, { header: string; value: string }>();
  const clientSecrets = new Map<string, Buffer>();
  const upstreamCas = new Map<string, Buffer>();
  const upstreamPairs = new Map<string, { cert: Buffer; key: Buffer }>();
  for (const [index, { path: route, upstream }] of config.routes.entries()) {
    const path = ["routes", index, "upstream"];
    const { credential, tls } = upstream;
    if (credential !== undefined) {
      const at = [...path, "credential"];
      if ("bearer" in credential) {
        const value = await secretOf([...at, "bearer"], credential.bearer, (bytes) =>
          bearer(secretLine(bytes)),
        );
        if (value !== undefined) credentials.set(route, { header: "authorization", value });
      } else if ("header" in credential) {
        const { name, value: secret } = credential.header;
        const value = await secretOf([...at, "header", "value"], secret, secretLine);
        if (value !== undefined) credentials.set(route, { header: name, value });
      } else {
        const secret = await clientSecret(credential, at, readers);
        if (secret !== undefined) clientSecrets.set(route, secret);
      }
    }
    if (tls?.ca !== undefined) {
      const ca = await fileOf([...path, "tls", "ca"], tls.ca.file, authorities);
      if (ca !== undefined) upstreamCas.set(route, ca);
    }
    const pair = await loadPair(tls, [...path, "tls"], readers);
    if (pair !== undefined) upstreamPairs.set(route, pair);
  }
  const assertionKeys = await loadAssertionKeys(config, readers);
  return { credentials, clientSecrets, upstreamCas, upstreamPairs, assertionKeys };
}

type Credential = NonNullable<Config["routes"][number]["upstream"]["credential"]>;
/** `client` of a grant, or of an introspection endpoint. */
export type Client = Extract<Credential, { exchange: unknown }>["exchange"]["client"];
type Tls = Config["routes"][number]["upstream"]["tls"];

function bearer(line: string): string {
  if (/^bearer /i.test(line))
    throw new SecretError('the secret starts with "Bearer", allowed the token alone');
  // RFC 6750 section 2.1
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(line)) throw new SecretError("the secret is not a bearer token");
  return `Bearer ${line}`;
}

/** What authenticates the gateway at a token endpoint, if the credential comes from one. */
async function clientSecret(
  credential: Exclude<Credential, { bearer: unknown } | { header: unknown }>,
  at: readonly Step[],
  readers: Readers,
): Promise<Buffer | undefined> {
  if ("assertion" in credential) return undefined;
  const [grant, name] =
    "exchange" in credential
      ? [credential.exchange, "exchange"]
      : [credential.clientCredentials, "clientCredentials"];
  const path = [...at, name, "client"];
  return clientSecretOf(grant.client, path, readers);
}

/** The secret or private key of a client; `path` is that of its setting. */
export async function clientSecretOf(
  client: Client,
  path: readonly Step[],
  { secretOf }: Pick<Readers, "secretOf">,
): Promise<Buffer | undefined> {
  if ("privateKeyJwt" in client) {
    const of = [...path, "privateKeyJwt", "key"];
    return secretOf(of, client.privateKeyJwt.key, (pem) => privateKey(pem, ["ES256", "EdDSA", "RS256"]));
  }
  const [method, secret] = "basic" in client ? ["basic", client.basic.secret] : ["post", client.post.secret];
  return secretOf([...path, method, "secret"], secret, (bytes) => Buffer.from(secretLine(bytes), "latin1"));
}

/** The gateway's certificate for a server, with the key that fits it. */
async function loadPair(
  tls: Tls,
  path: readonly Step[],
  { fileOf, authorities, report }: Readers,
): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tls?.cert === undefined || tls.key === undefined) return undefined;
  const cert = await fileOf([...path, "cert"], tls.cert.file, authorities);
  const key = await fileOf([...path, "key"], tls.key.file, (bytes) => bytes, true);
  if (cert === undefined || key === undefined) return undefined;
  try {
    createSecureContext({ cert, key });
  } catch {
    report.problem([...path, "key"], "is no PEM private key without passphrase that fits cert");
    return undefined;
  }
  return { cert, key };
}

async function loadAssertionKeys(
  { assertions }: Config,
  { secretOf, report }: Readers,
): Promise<AssertionKey[]> {
  const keys: AssertionKey[] = [];
  const seen: Buffer[] = [];
  for (const [index, { id, key }] of (assertions?.ring ?? []).entries()) {
    const path = ["assertions", "ring", index, "key"];
    const pem = await secretOf(path, key, (bytes) => privateKey(bytes, ["ES256", "EdDSA"]));
    if (pem === undefined) continue;
    // By bytes: `KeyObject.equals` of two kinds of key leaves an error behind in OpenSSL, which the next key read then fails with.
    const found = createPublicKey(pem).export({ type: "spki", format: "der" });
    if (seen.some((other) => other.equals(found)))
      report.problem(path, "is the private key of another entry of the ring, allowed one entry per key");
    seen.push(found);
    keys.push({ id, pem });
  }
  return keys;
}

type Algorithm = "ES256" | "EdDSA" | "RS256";
const KINDS: Readonly<Record<Algorithm, string>> = {
  ES256: "EC P-256",
  EdDSA: "Ed25519",
  RS256: "RSA of 2048 bits or more",
};
const MIN_RSA_BITS = 2048;

/** The algorithm that a private key signs with; undefined for a kind of key that nobody here signs with. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519") return "EdDSA";
  if (type === "ec") return details?.namedCurve === "prime256v1" ? "ES256" : undefined;
  return type === "rsa" && (details?.modulusLength ?? 0) >= MIN_RSA_BITS ? "RS256" : undefined;
}

/** The PEM itself, when it is a private key that signs with one of `algorithms`. */
function privateKey(pem: Buffer, algorithms: readonly Algorithm[]): Buffer {
  const allowed = `allowed a PEM private key without passphrase: ${algorithms.map((name) => KINDS[name]).join(", ")}`;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new SecretError(`the secret is no private key, ${allowed}`);
  }
  const algorithm = algorithmOf(key);
  if (algorithm === undefined || !algorithms.includes(algorithm))
    throw new SecretError(`the secret is a private key of another kind, ${allowed}`);
  return pem;
}
