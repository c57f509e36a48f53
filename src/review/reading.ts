/**
 * What came back → what it is for the reviewer. Strict where two readers could differ: such an answer is `unreadable`. No byte of a
 * body gets into the words.
 */
import { type JsonText, scan } from "../json/scan.ts";
import { isObject, own } from "../mcp/parsed.ts";
import type { Received } from "./exchange.ts";

/** Largest answer that is read, in bytes. */
export const MAX_ANSWER_BYTES = 4 * 1_048_576;
const MAX_DEPTH = 128;

/** The head of an answer. */
export interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @param bytes one JSON text, untrusted
 * @param id of the request
 * @returns undefined for a message that is no response to it
 * @throws JsonError
 */
export function readResponse(
  bytes: Uint8Array,
  id: unknown,
  { status, headers }: Head,
): Received | undefined {
  const doc: JsonText = scan(bytes, { bytes: MAX_ANSWER_BYTES, depth: MAX_DEPTH });
  const message: unknown = doc.value(doc.root);
  if (!isObject(message)) return undefined;
  const [result, error, said] = [own(message, "result"), own(message, "error"), own(message, "id")];
  if (isObject(result) && error === undefined && said === id) {
    const type = own(result, "resultType");
    const resultType = type === undefined ? "complete" : typeof type === "string" ? type : "(no text)";
    return { kind: "result", status, headers, resultType, result };
  }
  // A server that could not make out the id says null, or nothing (JSON-RPC 2.0, section 5).
  if (isObject(error) && result === undefined && (said === id || said === null || said === undefined)) {
    const [code, words] = [own(error, "code"), own(error, "message")];
    return {
      kind: "error",
      status,
      headers,
      code: typeof code === "number" ? code : 0,
      message: typeof words === "string" ? words : "",
      data: own(error, "data"),
    };
  }
  return undefined;
}
