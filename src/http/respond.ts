/**
 * The one error mapper: turns a refusal into status, headers and bytes. Nothing else writes an error.
 * Internals (addresses, stack, cause) have no way into a body: only the table of `errors.ts` and `Refusal.data` do.
 */
import { REFUSALS, Refusal, type RefusalCode } from "../errors.ts";

/** What a refusal becomes on the wire. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where the refused request stood. */
export interface ErrorPlace {
  /** JSON text of the request's id; `null` while none was read. */
  readonly id: string | null;
  readonly requestId: string;
  /** `errors.httpStatus` */
  readonly httpStatus: "spec" | "ok";
}

/** Refusals whose bytes must not tell one cause, or one request, from another. */
const FROZEN: ReadonlySet<RefusalCode> = new Set(["invalid_request_state"]);

/** Refusals that a client must see as an HTTP error even where `errors.httpStatus` is `ok`. */
const ALWAYS_HTTP: ReadonlySet<RefusalCode> = new Set([
  "unauthorized",
  "insufficient_scope",
  "malformed_http",
  "misdirected_host",
  "forbidden_origin",
  "method_not_allowed",
  "not_found",
]);

/** The JSON-RPC error message of a refusal, with the request's own id. */
export function errorBody(refusal: Refusal, place: Omit<ErrorPlace, "httpStatus">): string {
  const { rpc, message } = refusal.entry;
  const data = FROZEN.has(refusal.code)
    ? { reason: refusal.code }
    : { ...refusal.data, reason: refusal.code, requestId: place.requestId };
  return `{"jsonrpc":"2.0","id":${place.id ?? "null"},"error":${JSON.stringify({ code: rpc, message, data })}}`;
}

/** The HTTP answer to a refused request. */
export function errorAnswer(refusal: Refusal, place: ErrorPlace): ErrorAnswer {
  const { status, retryAfter } = refusal.entry;
  const inBand = place.httpStatus === "ok" && place.id !== null && !ALWAYS_HTTP.has(refusal.code);
  return {
    status: inBand ? 200 : status,
    headers: {
      "content-type": "application/json",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...refusal.headers,
    },
    body: errorBody(refusal, place),
  };
}

/**
 * Any thrown value as a refusal. What is not a refusal of ours is an internal error, its text for the log only.
 */
export function asRefusal(thrown: unknown): Refusal {
  return thrown instanceof Refusal ? thrown : new Refusal("internal", "unexpected", { cause: thrown });
}

/** What a model reads. */
const TOOL_ERRORS: Readonly<Partial<Record<RefusalCode, string>>> = {
  invalid_request_state:
    "The confirmation for this call is invalid or expired, so the call was not carried out. Call the tool again without requestState to be asked anew.",
  approval_declined:
    "This call needs approval and was not given it: the user, or another who had to approve it, did not agree. It was not carried out. Do not call it again unless the user asks for it.",
  approval_recorded:
    "The user's answer was for the same call of somebody else, where it was recorded if that still waited. This call was not carried out.",
};

/**
 * A refusal as a tool result that a model can read and act on: a bad state with `roundTrip.rejection: tool-error`, and a no of those who were asked.
 * Its bytes are as fixed as those of the error.
 */
export function toolErrorBody(id: string, code: RefusalCode = "invalid_request_state"): string {
  const result = {
    resultType: "complete",
    content: [{ type: "text", text: TOOL_ERRORS[code] ?? REFUSALS[code].message }],
    isError: true,
  };
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
}
