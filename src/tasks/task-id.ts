/**
 * The id of a task as a client holds it: the server's own id, sealed together with whom it is for. Without a store: every replica
 * opens it as long as its key is in the ring. Whoever brings another's id has nothing. Decision 26.
 */
import { createHash } from "node:crypto";
import { sameDigest } from "../binding.ts";
import { EnvelopeError, NONCE_BYTES, type Parts, parseToken, printParts } from "../envelope/format.ts";
import type { Sealing } from "../keyring.ts";
import { MAX_URI_BYTES } from "../mcp/names.ts";

/** First characters of every sealed task id of version 1. */
const TASK_PREFIX = "sgt1.";
/** The longest sealed id in characters: it travels in a header, too. */
export const MAX_SEALED_ID = MAX_URI_BYTES;
/** How long an id opens, in seconds. As long as that a revocation has to be remembered. */
export const MAX_TASK_SECONDS = 7 * 24 * 3_600;

const TAG_LABEL = "sealgate/task-place/1/";
const TAG_BYTES = 16;

/** What is sealed. */
export interface TaskClaims {
  /** The server's own id. */
  readonly task: string;
  /** The tool whose call became the task. */
  readonly tool: string;
  /** Digest of the principal. */
  readonly principal: string;
  /** Tags (`placeTag`) of the route's path and of the server's address. */
  readonly route: string;
  readonly upstream: string;
  /** What revocations go by: the chain of the call, and its birth in unix seconds. */
  readonly chain: string;
  readonly chainIat: number;
  /** Unix seconds. */
  readonly iat: number;
}

/** A task whose id was opened and belongs to the request that brought it. */
export interface OpenedTask {
  /** The id as the client spells it. */
  readonly id: string;
  readonly claims: TaskClaims;
  /** Id of the key that sealed it; the keys of its questions are sealed with the same one. */
  readonly keyId: Buffer;
}

/** What one request does with tasks, on a route that serves them to a client that declared them. */
export interface TaskUse {
  /** The task that a `tasks/*` request is about. */
  readonly own: OpenedTask | undefined;
  /** The tasks that a subscription listens to, by the server's id. */
  readonly listened: ReadonlyMap<string, OpenedTask>;
}

/** A short name for a path or an address: ids have to fit into headers. */
export function placeTag(place: string): string {
  const digest = createHash("sha256").update(TAG_LABEL).update(place, "utf8").digest();
  return digest.subarray(0, TAG_BYTES).toString("base64url");
}

/** Seals an id; undefined where it would be longer than any client could bring. */
export function sealTaskId({ keys, audience, random }: Sealing, claims: TaskClaims): string | undefined {
  const { task, tool, principal, route, upstream, chain, chainIat, iat } = claims;
  const text = JSON.stringify([task, tool, principal, route, upstream, chain, chainIat, iat]);
  const key = keys.ring.sealer(iat);
  const nonce = random(NONCE_BYTES);
  const body = key.sealTask(nonce, Buffer.from(text), audience, TASK_PREFIX);
  const sealed = printParts(TASK_PREFIX, { keyId: key.keyId, nonce, body });
  return sealed.length > MAX_SEALED_ID ? undefined : sealed;
}

/**
 * Opens an id that a client sent: authentic, not yet bound.
 * @throws EnvelopeError `size`, `prefix`, `encoding`, `unknown_key`, `aead`, `claims`
 */
export function openTaskId(sealing: Sealing, id: string): OpenedTask {
  const parts = parseToken(id, MAX_SEALED_ID, TASK_PREFIX);
  const claims = readClaims(openParts(sealing, parts, TASK_PREFIX));
  if (claims === undefined) throw new EnvelopeError("claims");
  return { id, claims, keyId: parts.keyId };
}

/**
 * The text in something sealed for tasks.
 * @throws EnvelopeError `unknown_key`, `aead`
 */
export function openParts(
  { keys, audience }: Pick<Sealing, "keys" | "audience">,
  { keyId, nonce, body }: Parts,
  prefix: string,
): unknown {
  const key = keys.ring.find(keyId);
  if (key === undefined) throw new EnvelopeError("unknown_key");
  const text = key.openTask(nonce, body, audience, prefix);
  if (text === undefined) throw new EnvelopeError("aead");
  return JSON.parse(text.toString("utf8"));
}

/** Whose request presents an id, and where. */
export interface PresentedTask {
  readonly principal: string;
  readonly route: string;
  readonly upstream: string;
}

/**
 * Passes only if the id is alive and belongs to this request. A seal may lie at most `skewSeconds` ahead of now.
 * @throws EnvelopeError `expired`, `not_yet`, `route`, `upstream`, `principal`
 */
export function checkTask(
  claims: TaskClaims,
  presented: PresentedTask,
  nowSeconds: number,
  skewSeconds: number,
): void {
  // Both negated, so that a time that is no number refuses.
  if (!(nowSeconds < claims.iat + MAX_TASK_SECONDS)) throw new EnvelopeError("expired");
  if (!(claims.iat <= nowSeconds + skewSeconds)) throw new EnvelopeError("not_yet");
  if (claims.route !== placeTag(presented.route)) throw new EnvelopeError("route");
  if (claims.upstream !== placeTag(presented.upstream)) throw new EnvelopeError("upstream");
  if (!sameDigest(claims.principal, presented.principal)) throw new EnvelopeError("principal");
}

/** Reads what was authentic; written by `sealTaskId` of this version or another. */
function readClaims(value: unknown): TaskClaims | undefined {
  if (!Array.isArray(value) || value.length !== 8) return undefined;
  const [task, tool, principal, route, upstream, chain, chainIat, iat]: unknown[] = value;
  const texts = [task, tool, principal, route, upstream, chain];
  if (!texts.every((text) => typeof text === "string")) return undefined;
  if (!Number.isSafeInteger(chainIat) || !Number.isSafeInteger(iat)) return undefined;
  return { task, tool, principal, route, upstream, chain, chainIat, iat } as TaskClaims;
}
