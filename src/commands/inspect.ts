/**
 * `sealgate inspect`: what an envelope holds and whether it would be refused now, for an operator who has the keys. Judges as
 * a gateway does, as far as that is possible without the request that brings it; spends nothing and connects to nothing.
 */
import { checkBinding } from "../binding.ts";
import { EditRefused } from "../config/edit-refused.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import {
  type Claims,
  EnvelopeError,
  type EnvelopeFault,
  parseToken,
  tokenBytesFor,
} from "../envelope/format.ts";
import { open } from "../envelope/open.ts";
import { type Keyring, loadKeyring } from "../keyring.ts";
import { ANONYMOUS, principalDigest } from "../principal/principal.ts";
import { EXIT } from "./exit.ts";

/** What each cause means to an operator. Causes that need the request cannot be found here. */
const WHY: Partial<Readonly<Record<EnvelopeFault, string>>> = {
  size: "it is longer than a state can get with envelope.maxStateBytes and envelope.maxSchemaBytes",
  prefix: "it does not begin with sg1., so it is no envelope of this version",
  encoding: "it is no canonical base64url: cut, padded, wrapped or changed on the way",
  unknown_key: "the ring has no key with this key id: removed, or not here yet",
  aead: "it was changed, or sealed for another envelope.audience, or by another secret with this key id",
  claims: "it is authentic, but no payload of version 1",
  expired: "its time is over",
  not_yet: "it was sealed further ahead than envelope.clockSkew allows: clocks differ",
  route: "no route of this configuration has its path",
  upstream: "its route leads to another server now",
};

/** What a gateway judges besides, and this command cannot. */
const NOT_LOOKED_AT = ["the request that brings it", "single use", "revocation"] as const;

interface Findings {
  readonly refused: EnvelopeFault | null;
  /** Where nothing was found: what may still speak against it. */
  readonly notLookedAt?: readonly string[];
  readonly why?: string;
  readonly key?: object;
  readonly sealedAt?: string;
  readonly expiresAt?: string;
  readonly state?: object | null;
  /** Whether it was sealed for callers without a credential, who are all one. */
  readonly anonymous?: boolean;
  readonly claims?: object;
}

/**
 * Prints one JSON object to standard output.
 * @param options `token` as typed, `-` for standard input; `state`: whether the upstream's string is shown
 * @param now milliseconds since the epoch
 * @returns the exit code: 0 if nothing speaks against it, 65 if it would be refused
 * @throws ConfigError, ConfigFileError, EditRefused
 */
export async function inspect(
  options: { readonly token: string; readonly config: string; readonly state: boolean },
  now: number = Date.now(),
): Promise<number> {
  const { config, secrets } = await loadConfig(options.config, process.env);
  if (config.keys === undefined) {
    throw new EditRefused(
      `${options.config}: there is no keys section; what a random key sealed cannot be opened`,
    );
  }
  const ring = loadKeyring(secrets.keys, config.keys.primary, config.keys.next);
  const maxTokenBytes = tokenBytesFor(config.envelope.maxStateBytes, config.envelope.maxSchemaBytes);
  const token = options.token === "-" ? await readStandardInput(maxTokenBytes) : options.token;
  const findings = find(config, ring, token, { maxTokenBytes, now: now / 1000, state: options.state });
  process.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`);
  return findings.refused === null ? EXIT.ok[0] : EXIT.data[0];
}

function find(
  config: Config,
  ring: Keyring,
  token: string,
  { maxTokenBytes, now, state }: { maxTokenBytes: number; now: number; state: boolean },
): Findings {
  let claims: Claims;
  let key: object | undefined;
  try {
    key = keyOf(ring, parseToken(token, maxTokenBytes).keyId, now);
    claims = open(ring, config.envelope.audience, token, maxTokenBytes);
  } catch (error) {
    return { ...verdict(error), ...(key === undefined ? {} : { key }) };
  }
  return {
    ...judge(config, claims, now),
    key,
    sealedAt: time(claims.iat),
    expiresAt: time(claims.exp),
    state: stateOf(claims, state),
    anonymous: claims.principal === principalDigest(ANONYMOUS),
    claims: { ...claims, state: undefined },
  };
}

/** The checks of a retry, with the request taken to be the right one. */
function judge(config: Config, claims: Claims, now: number): Findings {
  const route = config.routes.find(({ path }) => path === claims.route);
  const presented = { ...claims, route: route?.path ?? "", upstream: route?.upstream.url ?? "" };
  try {
    checkBinding(claims, presented, now, config.envelope.clockSkew / 1000);
    return { refused: null, notLookedAt: NOT_LOOKED_AT };
  } catch (error) {
    return verdict(error);
  }
}

function verdict(error: unknown): Findings {
  if (!(error instanceof EnvelopeError)) throw error;
  const why = WHY[error.fault];
  return { refused: error.fault, ...(why === undefined ? {} : { why }) };
}

function keyOf(ring: Keyring, keyId: Buffer, at: number): object {
  const hex = keyId.toString("hex");
  return ring.labels(at).find((label) => label.keyId === hex) ?? { keyId: hex };
}

function stateOf({ state }: Claims, shown: boolean): object | null {
  if (state === undefined) return null;
  return { bytes: Buffer.byteLength(state), ...(shown ? { text: state } : {}) };
}

function time(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}

/** Everything up to the first line end; what is longer than any token is not read to its end. */
async function readStandardInput(maxBytes: number): Promise<string> {
  let text = "";
  for await (const piece of process.stdin.setEncoding("latin1") as AsyncIterable<string>) {
    text += piece;
    if (text.length > maxBytes + 2) break;
  }
  return text.replace(/\r?\n$/, "");
}
