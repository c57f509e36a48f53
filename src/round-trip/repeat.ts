/**
 * A repeat by the owner of a state that is spent: where `redemption.results` is on, the answer of the one run is returned once more.
 * It is kept sealed under a key of its own, and only the same retry opens it: the bindings of the state have passed by then, and the
 * answers and the declared capabilities must be the very same. docs/redemption.md, a lost answer.
 */
import { createHash } from "node:crypto";
import type { Call } from "../call.ts";
import { type Asked, type Claims, KEY_ID_BYTES, NONCE_BYTES } from "../envelope/format.ts";
import { canonical } from "../json/canonical.ts";
import { scan } from "../json/scan.ts";
import { replace, splice } from "../json/splice.ts";
import type { Keyring, Sealing } from "../keyring.ts";
import { CAPABILITIES_KEY } from "../mcp/era.ts";
import type { ResultStore } from "../redemption/results.ts";

const DOMAIN = "sealgate/repeat/1";

/** What keeping results needs. */
export interface Repeats {
  readonly store: ResultStore;
  /** How long a result is kept, in milliseconds. */
  readonly ms: number;
  /** Largest answer that is kept, in bytes. */
  readonly maxBytes: number;
}

/** The final answer of a run, as it left for the client. */
export interface KeptAnswer {
  /** HTTP status of an answer with one JSON body. */
  readonly status: number;
  readonly outcome: "complete" | "tool_error" | "input_required" | "task" | "error";
  /** Kinds of the questions in it. */
  readonly asked: readonly Asked["kind"][];
  /** The whole JSON-RPC message. */
  readonly bytes: Buffer;
}

/** What became of an answer that was to be kept. */
export type Keeping = "kept" | "too_large" | "not_kept";

/** Keeps the answer of a run for a repeat. Never for anonymous callers, who cannot be told apart. Never throws. */
export async function keepResult(
  { store, ms, maxBytes }: Repeats,
  sealing: Sealing,
  call: Call,
  claims: Claims,
  final: KeptAnswer,
): Promise<Keeping> {
  if (call.journey.principal.anonymous) return "not_kept";
  if (final.bytes.length > maxBytes) return "too_large";
  // An expired state cannot be repeated.
  const life = Math.min(ms, claims.exp * 1_000 - sealing.now());
  if (life <= 0) return "not_kept";
  const { status, outcome, asked, bytes } = final;
  const text = JSON.stringify([claims.jti, digestOf(call), status, outcome, asked, bytes.toString()]);
  const nonce = sealing.random(NONCE_BYTES);
  const key = sealing.keys.ring.sealer(sealing.now() / 1_000);
  const sealed = key.sealResult(nonce, Buffer.from(text), sealing.audience);
  const kept = await store.keep(
    claims,
    Buffer.concat([key.keyId, nonce, sealed]).toString("base64url"),
    life,
  );
  return kept ? "kept" : "not_kept";
}

/**
 * The answer that was kept for this very retry, with the id of this request; undefined where there is none, or it is
 * not for it. The store is not trusted: what does not open counts as none. Never throws.
 */
export async function recallResult(
  { store }: Repeats,
  { keys, audience }: Sealing,
  call: Call,
  claims: Claims,
): Promise<KeptAnswer | undefined> {
  if (call.journey.principal.anonymous) return undefined;
  const text = await store.recall(claims);
  const plain =
    text === undefined ? undefined : openResult(keys.ring, audience, Buffer.from(text, "base64url"));
  if (plain === undefined) return undefined;
  const [jti, digest, status, outcome, asked, message] = JSON.parse(plain.toString()) as [
    string,
    string,
    number,
    KeptAnswer["outcome"],
    KeptAnswer["asked"],
    string,
  ];
  if (jti !== claims.jti || digest !== digestOf(call)) return undefined;
  return { status, outcome, asked, bytes: withId(Buffer.from(message), call.message.id) };
}

function openResult(ring: Keyring, audience: string, sealed: Buffer): Buffer | undefined {
  const bodyAt = KEY_ID_BYTES + NONCE_BYTES;
  if (sealed.length <= bodyAt) return undefined;
  const nonce = sealed.subarray(KEY_ID_BYTES, bodyAt);
  return ring.find(sealed.subarray(0, KEY_ID_BYTES))?.openResult(nonce, sealed.subarray(bodyAt), audience);
}

/** What the bindings of the state leave open of a retry: its answers, and what its client says it can be asked. */
function digestOf({ doc, params, message }: Call): string {
  const answers = doc.get(params, "inputResponses");
  const declared = doc.get(message.meta, CAPABILITIES_KEY);
  const texts = [answers, declared].map((node) => (node === undefined ? "" : canonical(doc, node)));
  return createHash("sha256")
    .update(JSON.stringify([DOMAIN, ...texts]))
    .digest("base64url");
}

/** The message as the answer to another request. It left this gateway once, so it has an id and scans. */
function withId(bytes: Buffer, id: string): Buffer {
  const doc = scan(bytes, { bytes: bytes.length, depth: 1_024 });
  const node = doc.get(doc.root, "id");
  return node === undefined ? bytes : splice(bytes, [replace(doc, node, id)]);
}
