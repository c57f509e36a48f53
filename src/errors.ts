/**
 * Every refusal the gateway can give: one table, one class.
 * The table fixes what a client may see; `cause` and `context` of a refusal go to log and audit only.
 * `http/respond.ts` is the only place that turns a refusal into bytes.
 */

interface RefusalEntry {
  /** HTTP status while `errors.httpStatus` is `spec`. */
  readonly status: number;
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** The fixed public text. */
  readonly message: string;
  /** Seconds for `Retry-After`, where trying again can help. */
  readonly retryAfter?: number;
}

/** Code → what the client sees. The code itself is sent as `error.data.reason`. */
export const REFUSALS = {
  // framing
  malformed_http: { status: 400, rpc: -32600, message: "The HTTP request is malformed" },
  not_found: { status: 404, rpc: -32600, message: "Nothing is served at this path" },
  method_not_allowed: { status: 405, rpc: -32600, message: "Only POST is served here" },
  not_acceptable: {
    status: 406,
    rpc: -32600,
    message: "Accept must list application/json and text/event-stream",
  },
  unsupported_media_type: { status: 415, rpc: -32600, message: "Content-Type must be application/json" },
  misdirected_host: {
    status: 421,
    rpc: -32600,
    message: "This Host is not served here (setting server.allowedHosts)",
  },
  forbidden_origin: {
    status: 403,
    rpc: -32600,
    message: "This Origin is not allowed (setting server.allowedOrigins)",
  },
  body_too_large: {
    status: 413,
    rpc: -32600,
    message: "The request body is larger than allowed (setting server.limits.body)",
  },
  too_many_requests: {
    status: 429,
    rpc: -32603,
    message: "Too many requests are in flight (setting server.limits.inFlight)",
    retryAfter: 1,
  },
  too_many_streams: {
    status: 429,
    rpc: -32603,
    message: "Too many streams are open (setting server.limits.streams)",
    retryAfter: 5,
  },
  rate_limited: {
    status: 429,
    rpc: -32603,
    message:
      "You have sent as many requests as this route takes in this time (setting limits.perPrincipal.requests)",
    retryAfter: 1,
  },
  concurrency_limited: {
    status: 429,
    rpc: -32603,
    message:
      "You have as many requests in flight as this route allows (setting limits.perPrincipal.concurrent)",
    retryAfter: 1,
  },
  streams_limited: {
    status: 429,
    rpc: -32603,
    message: "You have as many streams open as this route allows (setting limits.perPrincipal.streams)",
    retryAfter: 5,
  },
  // principal
  unauthorized: { status: 401, rpc: -32600, message: "A valid access token is required" },
  invalid_client_certificate: {
    status: 401,
    rpc: -32600,
    message: "The client certificate is not valid here",
  },
  untrusted_header: {
    status: 400,
    rpc: -32600,
    message: "The request carries a header that only a listed proxy may send, once",
  },
  insufficient_scope: { status: 403, rpc: -32600, message: "The access token lacks a required scope" },
  // json and protocol
  parse_error: { status: 400, rpc: -32700, message: "The body is not one valid JSON value" },
  invalid_request: { status: 400, rpc: -32600, message: "The body is not a valid JSON-RPC request" },
  invalid_params: { status: 400, rpc: -32602, message: "The request params are not valid" },
  missing_meta: {
    status: 400,
    rpc: -32602,
    message:
      "params._meta must hold io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities",
  },
  header_mismatch: {
    status: 400,
    rpc: -32020,
    message: "A mirrored header is missing, repeated, malformed, or differs from the body",
  },
  unsupported_version: { status: 400, rpc: -32022, message: "Unsupported protocol version" },
  legacy_refused: {
    status: 400,
    rpc: -32022,
    message:
      "This route serves MCP revision 2026-07-28 only, and neither the header MCP-Protocol-Version nor params._meta names it: let the client negotiate it (SDK: versionNegotiation mode auto), or set legacy: pass on this route of the gateway",
  },
  // authorization
  method_not_found: { status: 404, rpc: -32601, message: "Method not found" },
  forbidden: { status: 403, rpc: -32600, message: "Policy does not allow this request" },
  unknown_tool: { status: 200, rpc: -32602, message: "Unknown tool" },
  unknown_prompt: { status: 200, rpc: -32602, message: "Unknown prompt" },
  unknown_resource: { status: 200, rpc: -32602, message: "Resource not found" },
  arguments_forbidden: { status: 403, rpc: -32602, message: "Policy does not allow these arguments" },
  // approval
  approval_required: {
    status: 200,
    rpc: -32603,
    message:
      "Policy asks for the user's approval of this request, and only clients of MCP revision 2026-07-28 can be asked for it",
  },
  approval_declined: {
    status: 200,
    rpc: -32603,
    message: "This request needs approval and was not given it, and it was not carried out",
  },
  approval_pending: {
    status: 200,
    rpc: -32603,
    message:
      "Policy asks for the approval of others, which is not there yet; nothing was spent, send the same retry again later",
  },
  approvals_limited: {
    status: 429,
    rpc: -32603,
    message:
      "As many of your requests wait for the approval of others as may; nothing was spent, send it again once some have ended",
    retryAfter: 30,
  },
  approval_recorded: {
    status: 200,
    rpc: -32603,
    message:
      "The answer was for the same request of somebody else, where it was recorded if that still waited; this request was not carried out",
  },
  // tasks
  unknown_task: { status: 200, rpc: -32602, message: "Task not found" },
  // capability
  missing_capability: {
    status: 400,
    rpc: -32021,
    message: "The request needs a client capability that was not declared",
  },
  question_forbidden: {
    status: 403,
    rpc: -32603,
    message: "The server asked for input that the gateway's policy does not allow",
  },
  // retry
  invalid_request_state: { status: 400, rpc: -32602, message: "Invalid or expired requestState" },
  invalid_input_responses: {
    status: 400,
    rpc: -32602,
    message: "inputResponses do not fit the questions that were asked",
  },
  already_redeemed: {
    status: 400,
    rpc: -32602,
    message:
      "This requestState was already redeemed; whether anything ran then, and its outcome, is not known here, do not assume that it failed",
  },
  outcome_unknown: {
    status: 400,
    rpc: -32602,
    message:
      "This requestState can no longer be redeemed and it is not known whether it was; do not assume that it failed, check before you start over",
  },
  same_request_id: {
    status: 400,
    rpc: -32600,
    message: "A retry with requestState needs a request id of its own, not the id of the answered request",
  },
  round_limit: {
    status: 403,
    rpc: -32603,
    message: "The request went through more rounds, or took longer, than the gateway allows",
  },
  open_rounds_limited: {
    status: 429,
    rpc: -32603,
    message:
      "You have as many questions waiting for an answer as this route allows (setting limits.perPrincipal.openRounds)",
    retryAfter: 10,
  },
  // credential for the upstream
  identity_required: {
    status: 403,
    rpc: -32600,
    message:
      "The MCP server is called in its caller's name, and this request brings no identity that can be passed on",
  },
  credential_refused: {
    status: 403,
    rpc: -32603,
    message: "The authorization server grants no access to the MCP server in the caller's name",
  },
  credential_unavailable: {
    status: 503,
    rpc: -32603,
    message: "No credential for the MCP server can be had now; nothing was spent, try again",
    retryAfter: 2,
  },
  credential_fault: {
    status: 502,
    rpc: -32603,
    message: "The gateway could not get a usable credential for the MCP server; nothing was spent",
  },
  // upstream and store
  upstream_fault: { status: 502, rpc: -32603, message: "The MCP server broke the protocol" },
  upstream_unauthorized: {
    status: 502,
    rpc: -32603,
    message: "The MCP server refused the gateway's credential",
  },
  upstream_unreachable: {
    status: 502,
    rpc: -32603,
    message: "The MCP server cannot be reached",
    retryAfter: 2,
  },
  upstream_lost: {
    status: 502,
    rpc: -32603,
    message:
      "The connection to the MCP server broke after the request was sent; the outcome is not known, do not assume that it failed",
  },
  upstream_timeout: { status: 504, rpc: -32603, message: "The MCP server did not answer in time" },
  store_unavailable: {
    status: 503,
    rpc: -32603,
    message: "The redemption store cannot be used now; nothing was spent, try again",
    retryAfter: 2,
  },
  shutting_down: {
    status: 503,
    rpc: -32603,
    message: "The gateway is shutting down; send the request again",
    retryAfter: 1,
  },
  configuration_changed: {
    status: 503,
    rpc: -32603,
    message: "The gateway's configuration has changed; open the stream again",
    retryAfter: 1,
  },
  overloaded: {
    status: 503,
    rpc: -32603,
    message:
      "The gateway takes on no more at the moment, send the request again later (settings server.limits and limits)",
    retryAfter: 1,
  },
  issuer_unavailable: {
    status: 503,
    rpc: -32603,
    message: "The access token cannot be verified now, try again",
    retryAfter: 2,
  },
  /** Never delivered: the client has closed the request. */
  cancelled: { status: 499, rpc: -32603, message: "The client closed the request" },
  internal: { status: 500, rpc: -32603, message: "Internal error" },
} as const satisfies Record<string, RefusalEntry>;

/** The stable names of refusals; sent as `error.data.reason`, counted in metrics, written to audit. */
export type RefusalCode = keyof typeof REFUSALS;

/** What a refusal adds to the audit record. Holds no secret, state, answer or argument. */
export interface RefusalContext {
  /** Whose token it was, where its signature was good and the token still refused. */
  readonly principal?: { readonly issuer?: string; readonly subject?: string; readonly client?: string };
}

/** Details that accompany a refusal. */
export interface RefusalDetails {
  /** Further public members of `error.data` (for example `requiredCapabilities`). */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Response headers (for example `WWW-Authenticate`). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly context?: RefusalContext;
  readonly cause?: unknown;
}

/**
 * A request that is refused. Thrown by stages, caught by the mapper.
 * `detail` is the true cause from a bounded vocabulary (`aead`, `expired`, `principal`, …): audit and metrics only.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  readonly detail: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: RefusalContext;

  constructor(code: RefusalCode, detail: string, details: RefusalDetails = {}) {
    super(`${code}: ${detail}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.detail = detail;
    this.data = details.data ?? {};
    this.headers = details.headers ?? {};
    this.context = details.context ?? {};
  }

  /** What the client may see. */
  get entry(): RefusalEntry {
    return REFUSALS[this.code];
  }
}

/** One mistake in an operator's file: where it is, what was found, what is allowed. */
export interface ConfigProblem {
  readonly file: string;
  /** 1-based; 0 where the problem has no place in the text. */
  readonly line: number;
  readonly column: number;
  /** Dotted path of the setting, `routes[0].upstream.url`. */
  readonly path: string;
  readonly message: string;
}

/** Thrown at start only; carries every problem of the configuration at once. Exit code 78 (EX_CONFIG). */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];
  /** Lines about what would work and weakens something. */
  readonly warnings: readonly string[];
  /** What has the problems. */
  readonly subject: string;

  constructor(
    problems: readonly ConfigProblem[],
    warnings: readonly string[] = [],
    subject = "the configuration",
  ) {
    super(
      problems
        .map((p) => `${p.file}:${p.line}:${p.column} ${p.path === "" ? "" : `${p.path}: `}${p.message}`)
        .join("\n"),
    );
    this.problems = problems;
    this.warnings = warnings;
    this.subject = subject;
  }
}
