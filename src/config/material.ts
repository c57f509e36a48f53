/**
 * Everything a configuration refers to, read and checked at start: keys, passwords, credentials, certificates, key sets.
 * Problems are collected, not thrown, so that one missing file does not hide another.
 */
import { X509Certificate } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecureContext } from "node:tls";
import { DerError } from "../certificates/der.ts";
import { Authorities } from "../certificates/path.ts";
import type { KeySource } from "../keyring.ts";
import { type KeyFlaw, readKeySet } from "../principal/key-set.ts";
import { clientSecretOf, loadUpstreamSecrets, type UpstreamSecrets } from "./credential-material.ts";
import type { Step } from "./json-schema.ts";
import { loadKeys } from "./key-material.ts";
import type { Report } from "./report.ts";
import type { Config, Secret } from "./schema.ts";
import { loadFile, loadSecret, type Material, SecretError, secretLine } from "./secret.ts";

/** What was read. Holds secrets: never log it, hand on only the part that is needed. */
export interface Secrets extends UpstreamSecrets {
  /** Decoded secrets of the ring, in the order of `keys.ring` or of names in `keys.folder`; empty when no key is configured. */
  readonly keys: readonly KeySource[];
  readonly redisPassword?: string;
  /** `admin.token`, 16 characters or more. */
  readonly adminToken?: string;
  /** PEM of `redis.tls.ca`. */
  readonly redisCa?: Buffer;
  readonly sentinelPassword?: string;
  /** PEM of `redis.sentinels.tls.ca`. */
  readonly sentinelCa?: Buffer;
  /** PEM of `server.tls`, a pair that fits. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** PEM of `server.tls.clientCa`. */
  readonly clientCa?: Buffer;
  /** PEM of `authentication.clientCertificates.header.ca`. */
  readonly proxiedCa?: Buffer;
  /** `telemetry.traces.headers`, by name. */
  readonly traceHeaders?: ReadonlyMap<string, string>;
  /** Issuer of `authentication.introspection` → the secret or PEM of its `client`. */
  readonly introspectionSecrets?: ReadonlyMap<string, Buffer>;
  /** Absolute path, as in `issuers[].jwks.file` of the resolved configuration → the key set, with public keys only. */
  readonly jwksFiles: ReadonlyMap<string, unknown>;
}

const MIN_TOKEN_CHARACTERS = 16;

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function token(line: string): string {
  if (line.length < MIN_TOKEN_CHARACTERS)
    throw new SecretError(`the secret is shorter than ${MIN_TOKEN_CHARACTERS} characters`);
  if (!/^[!-~]{1,1024}$/.test(line))
    throw new SecretError("the secret has blanks, or more than 1024 characters");
  return line;
}

function authorities(bytes: Buffer): Buffer {
  try {
    new X509Certificate(bytes);
  } catch {
    throw new SecretError("the file holds no PEM certificate");
  }
  return bytes;
}

/** Authorities that client certificates can be judged by. */
function readAuthorities(bytes: Buffer): Buffer {
  try {
    Authorities.read(bytes);
  } catch (error) {
    if (error instanceof DerError) throw new SecretError(error.message);
    throw error;
  }
  try {
    // What the listener is given later must not be refused then.
    createSecureContext({ ca: bytes });
  } catch {
    throw new SecretError("the file holds a certificate that OpenSSL does not take for an authority");
  }
  return bytes;
}

const FLAWS: Readonly<Record<KeyFlaw, string>> = {
  private: "a private or symmetric key",
  symmetric: "a private or symmetric key",
  malformed: "a key without kty, or a malformed one",
  weak: "an RSA key of less than 2048 bits",
};

function keySet(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new SecretError("the file is not JSON");
  }
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0)
    throw new SecretError('the file is not a key set, { "keys": [ … ] }');
  const [flaw] = readKeySet(value).flaws.keys();
  if (flaw !== undefined) throw new SecretError(`the file holds ${FLAWS[flaw]}, allowed public keys only`);
  return value;
}

/**
 * Reads everything `config` refers to.
 * @param config resolved, so file paths are absolute
 * @param report takes what is wrong, by the path of the setting
 * @param now milliseconds since the epoch
 */
export async function loadMaterial(
  config: Config,
  env: NodeJS.ProcessEnv,
  report: Report,
  now: number,
): Promise<Secrets> {
  const read = async <T>(
    path: readonly Step[],
    load: () => Promise<Material>,
    decode: (bytes: Buffer) => T,
    secret: boolean,
  ): Promise<T | undefined> => {
    try {
      const { bytes, exposed } = await load();
      const decoded = decode(bytes);
      if (secret && exposed) {
        report.warning(path, "the file is open to other users than its owner, mode 0600 is enough");
      }
      return decoded;
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      report.problem(path, error.message);
      return undefined;
    }
  };
  const secretOf = <T>(
    path: readonly Step[],
    secret: Secret,
    decode: (bytes: Buffer) => T,
  ): Promise<T | undefined> =>
    read([...path, "file" in secret ? "file" : "env"], () => loadSecret(secret, env), decode, true);
  const fileOf = <T>(path: readonly Step[], file: string, decode: (bytes: Buffer) => T, secret = false) =>
    read([...path, "file"], () => loadFile(file), decode, secret);

  const keys =
    config.keys === undefined
      ? []
      : await loadKeys(config.keys, { env, report, replicas: config.server.replicas, now });

  for (const [index, sink] of config.audit.sinks.entries()) {
    if (sink.type === "file" && !(await isFolder(dirname(sink.path)))) {
      report.problem(["audit", "sinks", index, "path"], "the folder of the file does not exist");
    }
  }

  const { admin, redis, server } = config;
  const adminToken =
    admin?.token === undefined
      ? undefined
      : await secretOf(["admin", "token"], admin.token, (bytes) => token(secretLine(bytes)));
  const redisPassword =
    redis?.password === undefined
      ? undefined
      : await secretOf(["redis", "password"], redis.password, secretLine);
  const redisCa =
    redis?.tls?.ca === undefined
      ? undefined
      : await fileOf(["redis", "tls", "ca"], redis.tls.ca.file, authorities);
  const sentinels = redis?.sentinels;
  const sentinelPassword =
    sentinels?.password === undefined
      ? undefined
      : await secretOf(["redis", "sentinels", "password"], sentinels.password, secretLine);
  const sentinelCa =
    sentinels?.tls?.ca === undefined
      ? undefined
      : await fileOf(["redis", "sentinels", "tls", "ca"], sentinels.tls.ca.file, authorities);

  const upstreams = await loadUpstreamSecrets(config, { secretOf, fileOf, authorities, report });

  const traceHeaders = new Map<string, string>();
  for (const [index, { name, value: secret }] of (config.telemetry?.traces?.headers ?? []).entries()) {
    const value = await secretOf(["telemetry", "traces", "headers", index, "value"], secret, secretLine);
    if (value !== undefined) traceHeaders.set(name, value);
  }

  const introspectionSecrets = new Map<string, Buffer>();
  for (const [index, { issuer, client }] of (config.authentication.introspection ?? []).entries()) {
    const place = ["authentication", "introspection", index, "client"];
    const secret = await clientSecretOf(client, place, { secretOf });
    if (secret !== undefined) introspectionSecrets.set(issuer, secret);
  }

  const jwksFiles = new Map<string, unknown>();
  for (const [index, { jwks }] of config.authentication.issuers.entries()) {
    if (jwks === undefined || !("file" in jwks)) continue;
    const set = await fileOf(["authentication", "issuers", index, "jwks"], jwks.file, keySet);
    if (set !== undefined) jwksFiles.set(jwks.file, set);
  }

  const { assertion } = config.authentication.forwarded ?? {};
  if (assertion !== undefined && "file" in assertion.jwks) {
    const place = ["authentication", "forwarded", "assertion", "jwks"];
    const set = await fileOf(place, assertion.jwks.file, keySet);
    if (set !== undefined) jwksFiles.set(assertion.jwks.file, set);
  }
  const clientAuthorities = async (
    path: readonly Step[],
    ca: { readonly file: string } | undefined,
  ): Promise<Buffer | undefined> => {
    if (ca === undefined) return undefined;
    const pem = await fileOf(path, ca.file, readAuthorities);
    if (pem !== undefined && Authorities.read(pem).expires < now) {
      report.warning(
        [...path, "file"],
        "holds only authorities that have expired: no client certificate is good",
      );
    }
    return pem;
  };
  const clientCa = await clientAuthorities(["server", "tls", "clientCa"], server.tls?.clientCa);
  const proxiedCa = await clientAuthorities(
    ["authentication", "clientCertificates", "header", "ca"],
    config.authentication.clientCertificates?.header?.ca,
  );

  let tls: { cert: Buffer; key: Buffer } | undefined;
  if (server.tls !== undefined) {
    const cert = await fileOf(["server", "tls", "cert"], server.tls.cert.file, authorities);
    const key = await fileOf(["server", "tls", "key"], server.tls.key.file, (bytes) => bytes, true);
    if (cert !== undefined && key !== undefined) {
      try {
        createSecureContext({ cert, key });
        tls = { cert, key };
      } catch {
        report.problem(
          ["server", "tls", "key"],
          "is no PEM private key without passphrase that fits server.tls.cert",
        );
      }
    }
  }

  return {
    ...upstreams,
    keys,
    jwksFiles,
    ...(introspectionSecrets.size === 0 ? {} : { introspectionSecrets }),
    ...(traceHeaders.size === 0 ? {} : { traceHeaders }),
    ...(redisPassword === undefined ? {} : { redisPassword }),
    ...(adminToken === undefined ? {} : { adminToken }),
    ...(redisCa === undefined ? {} : { redisCa }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(sentinelCa === undefined ? {} : { sentinelCa }),
    ...(tls === undefined ? {} : { tls }),
    ...(clientCa === undefined ? {} : { clientCa }),
    ...(proxiedCa === undefined ? {} : { proxiedCa }),
  };
}
