/**
 * Everything a configuration refers to, read and checked at start: keys, passwords, credentials, certificates, key sets.
 * Problems are collected, not thrown, so that one missing file does not hide another.
 */
import { X509Certificate } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecureContext } from "node:tls";
import type { KeySource } from "../keyring.ts";
import { type CallerSecrets, loadCallerSecrets } from "./caller-material.ts";
import { loadUpstreamSecrets, type UpstreamSecrets } from "./credential-material.ts";
import type { Step } from "./json-schema.ts";
import { loadKeys } from "./key-material.ts";
import type { Report } from "./report.ts";
import type { Config, Secret } from "./schema.ts";
import { loadFile, loadSecret, type Material, SecretError, secretLine } from "./secret.ts";

/** What was read. Holds secrets: never log it, hand on only the part that is needed. */
export interface Secrets extends CallerSecrets, UpstreamSecrets {
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
  /** `telemetry.traces.headers`, by name. */
  readonly traceHeaders?: ReadonlyMap<string, string>;
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

  const callers = await loadCallerSecrets(config, { secretOf, fileOf, report }, now);

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
    ...callers,
    ...upstreams,
    keys,
    ...(traceHeaders.size === 0 ? {} : { traceHeaders }),
    ...(redisPassword === undefined ? {} : { redisPassword }),
    ...(adminToken === undefined ? {} : { adminToken }),
    ...(redisCa === undefined ? {} : { redisCa }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(sentinelCa === undefined ? {} : { sentinelCa }),
    ...(tls === undefined ? {} : { tls }),
  };
}
