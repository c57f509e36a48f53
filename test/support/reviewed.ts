/** A session of the reviewer with the breakable server, or any other, for tests of checks. */
import { type Check, type Finding, Inconclusive, NotAllowed, type Session } from "../../src/review/check.ts";
import type { Exchange } from "../../src/review/exchange.ts";
import { CLOCK } from "../../src/review/pace.ts";
import type { PlannedCall } from "../../src/review/plan.ts";
import { createSession } from "../../src/review/session.ts";
import { openWire } from "../../src/review/wire.ts";

/** A planned call with everything allowed. */
export function plannedCall(call: Partial<PlannedCall> = {}): PlannedCall {
  return {
    name: "transfer",
    method: "tools/call",
    target: "transfer",
    arguments: { amount: 10, to: "Zoë" },
    answers: {},
    otherArguments: { amount: 11, to: "Zoë" },
    otherTarget: { target: "refund", arguments: { amount: 10, to: "Zoë" } },
    complete: true,
    maxRounds: undefined,
    retryLimit: undefined,
    expiryMs: undefined,
    consentSurface: undefined,
    dataSensitivity: undefined,
    sideEffects: undefined,
    ...call,
  };
}

/** Calls of the breakable server. */
export const CALLS = {
  transfer: plannedCall(),
  book: plannedCall({
    name: "book",
    target: "book",
    arguments: { seats: 2 },
    otherArguments: { seats: 3 },
  }),
  briefing: plannedCall({
    name: "briefing",
    method: "prompts/get",
    target: "briefing",
    arguments: { topic: "tides" },
    otherArguments: { topic: "winds" },
    otherTarget: undefined,
  }),
  ledger: plannedCall({
    name: "ledger",
    method: "resources/read",
    target: "note://ledger",
    arguments: {},
    otherArguments: undefined,
    otherTarget: undefined,
  }),
} as const;

export interface Reviewed {
  readonly session: Session;
  readonly exchanges: readonly Exchange[];
  /** What a check finds; what the session does not allow, or cannot do, as the reviewer takes it. */
  run(check: Check): Promise<Finding>;
  close(): Promise<void>;
}

export interface ReviewedOptions {
  readonly url: string;
  readonly tokens?: { readonly first?: string; readonly second?: string };
  readonly call: PlannedCall;
  /** The tool to look for effects with. */
  readonly probe?: string;
  readonly wait?: (ms: number) => Promise<boolean>;
  readonly timeoutMs?: number;
  /** Sends the honest round trip first, as the reviewer does for its map; a refusal where the plan does not allow to accept. */
  readonly map?: boolean;
}

/** Opens one. */
export async function openReviewed(options: ReviewedOptions): Promise<Reviewed> {
  const { url, tokens = {}, call, timeoutMs = 60_000 } = options;
  const signal = new AbortController().signal;
  const pace = { perSecond: 10_000, requests: 10_000, clock: CLOCK, signal };
  const wire = openWire({ url, tokens, remote: false, timeoutMs, ...pace });
  let id = 0;
  const mapped: Exchange[] = [];
  const base = {
    wire,
    hasSecond: tokens.second !== undefined,
    mapped,
    version: "0",
    nextId: () => ++id,
    wait: options.wait ?? (async () => false),
    label: "test",
  };
  const reading = createSession({
    ...base,
    call: plannedCall({ target: options.probe ?? "", arguments: {} }),
    listed: undefined,
  });
  const probe = async (): Promise<string> => {
    const { received } = await reading.first();
    if (received.kind !== "result") throw new Inconclusive("the probe has no answer");
    return JSON.stringify(received.result);
  };
  const listed = await listedOf(createSession({ ...base, call, listed: undefined }), call);
  const session = createSession({
    ...base,
    call,
    listed,
    ...(options.probe === undefined ? {} : { probe }),
  });
  if (options.map !== false) {
    const from = wire.exchanges.length;
    const asked = await session.begin();
    if (call.complete) await session.complete(asked);
    else await session.retry(asked, { inputResponses: session.answers(asked, "decline") });
    mapped.push(...wire.exchanges.slice(from));
  }
  return {
    session,
    exchanges: wire.exchanges,
    async run(check) {
      if (check.completes && !call.complete)
        return { verdict: "not_applicable", words: "The plan does not allow to accept.", exchanges: [] };
      try {
        return await check.run(session);
      } catch (error) {
        if (error instanceof NotAllowed)
          return { verdict: "not_applicable", words: error.message, exchanges: [] };
        if (error instanceof Inconclusive)
          return { verdict: "inconclusive", words: error.message, exchanges: error.exchanges };
        throw error;
      }
    },
    close: () => wire.close(),
  };
}

/** As the reviewer, which goes on without a list where it gets none. */
async function listedOf(session: Session, call: PlannedCall): Promise<Record<string, unknown> | undefined> {
  const kind = call.method.split("/")[0] ?? "";
  const reply = await session.ask(`${kind}/list`).catch((error: unknown) => {
    if (error instanceof Inconclusive) return undefined;
    throw error;
  });
  const received = reply?.received;
  const rows = received?.kind === "result" ? received.result[kind] : undefined;
  if (!Array.isArray(rows)) return undefined;
  return rows.find(
    (row: Record<string, unknown>) => row["name"] === call.target || row["uri"] === call.target,
  );
}
