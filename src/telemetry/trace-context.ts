/**
 * The context of a trace as it travels: `traceparent` and `tracestate` (W3C Trace Context level 1), in HTTP headers and in
 * `_meta` of MCP messages. Pure. Everything that is read is untrusted: what is malformed counts as absent.
 */

/** Where a span stands: in which trace, below which span, and whether its trace is recorded. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** The vendors' list as it came; undefined where there was none, or a malformed one. */
  readonly state: string | undefined;
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s;
const ZEROS = /^0+$/;
const MAX_PARENT_CHARACTERS = 512;
/** Section 3.3.1.5 asks for 512 at least. */
const MAX_STATE_CHARACTERS = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;
const STATE_VALUE = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/**
 * Reads a context. Of a version that is not known the first four parts count, if more parts follow behind a dash.
 * @param parent the value of `traceparent`
 * @param state the value of `tracestate`; it never makes a context bad
 */
export function parseTraceContext(
  parent: string | undefined,
  state: string | undefined,
): TraceContext | undefined {
  if (parent === undefined || parent.length > MAX_PARENT_CHARACTERS) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = PARENT.exec(parent) ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return {
    traceId,
    spanId,
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: state !== undefined && isTraceState(state) ? state : undefined,
  };
}

/** The value of `traceparent` that says this. */
export const printTraceParent = ({
  traceId,
  spanId,
  sampled,
}: Pick<TraceContext, "traceId" | "spanId" | "sampled">): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;

function isTraceState(state: string): boolean {
  if (state.length > MAX_STATE_CHARACTERS) return false;
  const members = state.split(",").map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ""));
  const keys = new Set<string>();
  let count = 0;
  for (const member of members) {
    if (member === "") continue;
    const [key = "", ...rest] = member.split("=");
    if (rest.length !== 1 || !STATE_KEY.test(key) || !STATE_VALUE.test(rest[0] ?? "")) return false;
    if (keys.has(key)) return false;
    keys.add(key);
    count += 1;
  }
  return count > 0 && count <= MAX_STATE_MEMBERS;
}
