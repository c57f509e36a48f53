/**
 * The keys of a task's questions, as a client holds them: the server's own key, sealed with what was asked, so that the answer can be
 * checked later without anything being remembered. The same question gets the same key at every poll and on every replica:
 * clients tell by keys what they have asked already. Decision 26.
 */
import { createHash } from "node:crypto";
import { type Asked, EnvelopeError, NONCE_BYTES, parseToken, printParts } from "../envelope/format.ts";
import type { Sealing } from "../keyring.ts";
import { type OpenedTask, openParts, type TaskClaims } from "./task-id.ts";

/** First characters of every sealed question key of version 1. */
const QUESTION_PREFIX = "sgq1.";

const TASK_LABEL = "sealgate/task/1";
const NONCE_LABEL = "sealgate/task-question/1/nonce";
const KINDS: ReadonlySet<unknown> = new Set(["form", "url", "sampling", "roots"] satisfies Asked["kind"][]);

type Opening = Pick<Sealing, "keys" | "audience">;

/** A question key that was opened: what was asked under the server's own key, and by which task. */
export interface OpenedQuestion {
  readonly asked: Asked;
  readonly task: string;
}

/** One text for one task of one owner in one place: base64url of SHA-256. */
export function taskDigest({ task, tool, principal, route, upstream }: TaskClaims): string {
  const frame = JSON.stringify([TASK_LABEL, task, tool, principal, route, upstream]);
  return createHash("sha256").update(frame, "utf8").digest("base64url");
}

/**
 * Seals the key of a question. Deterministic: the nonce is a MAC of all that is sealed, so that it comes twice only with the
 * same text; and the key is that of the task's id, whichever seals now.
 * @param asked a form with one text for all spellings of its schema
 * @returns undefined where the key of the task has left the ring
 */
export function sealQuestionKey(
  { keys, audience }: Opening,
  { claims, keyId }: OpenedTask,
  asked: Asked,
): string | undefined {
  const key = keys.ring.find(keyId);
  if (key === undefined) return undefined;
  const schema = asked.kind === "form" ? asked.schema : null;
  const text = JSON.stringify([taskDigest(claims), asked.key, asked.kind, schema]);
  const nonce = key.mac(Buffer.from(JSON.stringify([NONCE_LABEL, audience, text]))).subarray(0, NONCE_BYTES);
  const body = key.sealTask(nonce, Buffer.from(text), audience, QUESTION_PREFIX);
  return printParts(QUESTION_PREFIX, { keyId, nonce, body });
}

/**
 * Opens a key that a client sent: authentic, not yet of any task.
 * @throws EnvelopeError `size`, `prefix`, `encoding`, `unknown_key`, `aead`, `claims`
 */
export function openQuestionKey(sealing: Opening, text: string, maxCharacters: number): OpenedQuestion {
  const opened = openParts(sealing, parseToken(text, maxCharacters, QUESTION_PREFIX), QUESTION_PREFIX);
  const [task, key, kind, schema]: unknown[] = Array.isArray(opened) ? opened : [];
  const isForm = kind === "form";
  if (typeof task !== "string" || typeof key !== "string" || !KINDS.has(kind))
    throw new EnvelopeError("claims");
  if (isForm !== (typeof schema === "string")) throw new EnvelopeError("claims");
  return { task, asked: (isForm ? { key, kind, schema } : { key, kind }) as Asked };
}
