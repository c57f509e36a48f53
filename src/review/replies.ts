/** What came back in words of ours, for findings and for the operator; what the server wrote stands in quotation marks. Pure. */
import { type Exchange, isAsking, isToolError } from "./exchange.ts";

/** Characters; the redaction, which must see a text whole, cuts to less. */
const MAX_QUOTED = 4_096;

/** A text of the server in quotation marks. Not redacted, and not fit for a terminal, yet. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED ? `(text of ${text.length})` : text);

/** For example `error -32602 (HTTP 400): "no such tool"`, or `the connection failed (ECONNREFUSED)`. */
export function replyWords(exchange: Exchange): string {
  const { received } = exchange;
  if (received.kind === "error") {
    const said = received.message === "" ? "" : `: ${quoted(received.message)}`;
    return `error ${received.code} (HTTP ${received.status})${said}`;
  }
  if (received.kind === "none") {
    const isSaid = received.status === undefined || received.words.includes(`HTTP ${received.status}`);
    return isSaid ? received.words : `${received.words} (HTTP ${received.status})`;
  }
  if (isAsking(exchange)) return "a question";
  if (isToolError(exchange)) return "a result that says isError: the tool itself reports an error";
  if (received.resultType === "complete") return "a complete result without a question";
  return `a result of type ${quoted(received.resultType)}`;
}

/** Whether it says that the server, or what is behind it, is away: no answer, or an HTTP status of 500 on. */
export const isAway = ({ received }: Exchange): boolean =>
  received.kind !== "result" && (received.status === undefined || received.status >= 500);
