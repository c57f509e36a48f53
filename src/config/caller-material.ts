/**
 * What callers are judged with, read and checked at start: key sets in files, secrets for introspection, authorities of client
 * certificates. Problems go into the report.
 */
import { createSecureContext } from "node:tls";
import { DerError } from "../certificates/der.ts";
import { Authorities } from "../certificates/path.ts";
import { type KeyFlaw, readKeySet } from "../principal/key-set.ts";
import { clientSecretOf, type Readers } from "./credential-material.ts";
import type { Step } from "./json-schema.ts";
import type { Config } from "./schema.ts";
import { SecretError } from "./secret.ts";

/** Part of `Secrets`. */
export interface CallerSecrets {
  /** Issuer of `authentication.introspection` → the secret or PEM of its `client`. */
  readonly introspectionSecrets?: ReadonlyMap<string, Buffer>;
  /** Absolute path, as in `issuers[].jwks.file` of the resolved configuration → the key set, with public keys only. */
  readonly jwksFiles: ReadonlyMap<string, unknown>;
  /** PEM of `server.tls.clientCa`. */
  readonly clientCa?: Buffer;
  /** PEM of `authentication.clientCertificates.header.ca`. */
  readonly proxiedCa?: Buffer;
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
 * Reads all of it.
 * @param now milliseconds since the epoch
 */
export async function loadCallerSecrets(
  config: Config,
  { secretOf, fileOf, report }: Omit<Readers, "authorities">,
  now: number,
): Promise<CallerSecrets> {
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
  const clientCa = await clientAuthorities(["server", "tls", "clientCa"], config.server.tls?.clientCa);
  const proxiedCa = await clientAuthorities(
    ["authentication", "clientCertificates", "header", "ca"],
    config.authentication.clientCertificates?.header?.ca,
  );
  return {
    jwksFiles,
    ...(introspectionSecrets.size === 0 ? {} : { introspectionSecrets }),
    ...(clientCa === undefined ? {} : { clientCa }),
    ...(proxiedCa === undefined ? {} : { proxiedCa }),
  };
}
