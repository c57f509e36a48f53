/** One HTTP exchange of a review, as it was. Nothing in it is fit to be shown: `redaction.ts` makes that of it. */
import type { Json } from "../mcp/parsed.ts";

/** What was sent. */
export interface Sent {
  readonly caller: "first" | "second" | "nobody";
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON-RPC message. */
  readonly message: Json;
}

/** What came back; `none` is no answer that is a JSON-RPC response to what was sent. */
export type Received =
  | {
      readonly kind: "result";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Absent counts as `complete` (basic/index). */
      readonly resultType: string;
      readonly result: Json;
    }
  | {
      readonly kind: "error";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly code: number;
      readonly message: string;
      readonly data: unknown;
    }
  | {
      readonly kind: "none";
      readonly why: "cut" | "lost" | "timeout" | "too_large" | "unreadable" | "http";
      readonly status: number | undefined;
      readonly headers: Readonly<Record<string, string>>;
      /** For people, without a byte of the body. */
      readonly words: string;
    };

/** One exchange. */
export interface Exchange {
  /** Counts from 1 over the whole review. */
  readonly number: number;
  /** What it was for, such as `first call` or `retry with the state of another call`. */
  readonly label: string;
  readonly sent: Sent;
  readonly received: Received;
  /** Milliseconds since the epoch, and how long it took. */
  readonly at: number;
  readonly ms: number;
}

/** Whether a call came to its end: a complete result that is no error of the tool. */
export function isDone({ received }: Exchange): boolean {
  return (
    received.kind === "result" && received.resultType === "complete" && received.result["isError"] !== true
  );
}

/** Whether a tool itself said no, in its result. */
export function isToolError({ received }: Exchange): boolean {
  return (
    received.kind === "result" && received.resultType === "complete" && received.result["isError"] === true
  );
}

/** Whether it ends in a question. */
export function isAsking({ received }: Exchange): boolean {
  return received.kind === "result" && received.resultType === "input_required";
}

/** Whether the protocol said no: a JSON-RPC error, or an HTTP status of 400 to 499 in place of one. */
export function isRefused({ received }: Exchange): boolean {
  if (received.kind === "error") return true;
  return (
    received.kind === "none" && received.why === "http" && Math.floor((received.status ?? 0) / 100) === 4
  );
}
