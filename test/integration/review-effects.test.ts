/** The effect probe: what it shows before an acceptance is a failure, and what it cannot show is no pass. */
import t from "tap";
import type { Finding } from "../../src/review/check.ts";
import { Inconclusive } from "../../src/review/check.ts";
import { EFFECT_CHECKS } from "../../src/review/checks/effects.ts";
import type { Exchange } from "../../src/review/exchange.ts";
import { CLOCK } from "../../src/review/pace.ts";
import type { PlannedCall } from "../../src/review/plan.ts";
import { createSession } from "../../src/review/session.ts";
import { openWire } from "../../src/review/wire.ts";
import { type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { CALLS, plannedCall } from "../support/reviewed.ts";

const [check] = EFFECT_CHECKS;

/** @param shown what the probe says, from the number of effects */
async function tried(
  test: Pick<typeof t, "teardown">,
  broken: readonly Switch[],
  {
    call = CALLS.transfer,
    shown = String,
  }: { call?: PlannedCall; shown?: ((effects: number) => string) | "none" } = {},
): Promise<Finding> {
  const server = await startBreakableServer({ broken });
  test.teardown(() => server.close());
  const wire = openWire({
    ...{
      url: server.url,
      tokens: server.tokens,
      remote: false,
      timeoutMs: 30_000,
      perSecond: 1_000,
      requests: 500,
    },
    ...{ clock: CLOCK, signal: new AbortController().signal },
  });
  test.teardown(() => wire.close());
  const mapped: Exchange[] = [];
  const ids: number[] = [];
  const session = createSession({
    ...{ wire, call, hasSecond: true, listed: undefined, mapped, version: "0", label: "test" },
    nextId: () => ids.push(0),
    probe: shown === "none" ? undefined : async () => shown(server.effects.length),
    wait: async () => false,
  });
  let asked = await session.begin();
  mapped.push(asked.exchange);
  for (;;) {
    if (!call.complete) break;
    const reply = await session.retry(asked);
    mapped.push(reply);
    const next = session.next(asked, reply);
    if (next === undefined) break;
    asked = next;
  }
  try {
    return (await check?.run(session)) as Finding;
  } catch (error) {
    if (error instanceof Inconclusive)
      return { verdict: "inconclusive", words: error.message, exchanges: [] };
    throw error;
  }
}

t.test("a server that waits for an acceptance passes, round by round", async (t) => {
  for (const call of [CALLS.transfer, CALLS.book, CALLS.briefing])
    t.match(await tried(t, [], { call }), { verdict: "pass" }, call.name);
});

t.test("each way to carry out too early fails, and is named", async (t) => {
  const cases: readonly (readonly [Switch, RegExp])[] = [
    ["effect-before-accept", /before it was answered/],
    ["executes-declined", /declined/],
    ["executes-cancelled", /cancelled/],
    ["any-action", /an empty answer/],
    ["not-an-answer", /no object/],
    ["without-content", /without content/],
  ];
  for (const [rule, words] of cases) {
    const { verdict, words: said } = await tried(t, [rule]);
    t.equal(verdict, "fail", rule);
    t.match(said, words, rule);
  }
  t.match(await tried(t, ["executes-declined"], { call: CALLS.book }), {
    verdict: "fail",
    words: /round \d/,
  });
});

t.test("a probe that shows nothing is no pass", async (t) => {
  t.match(await tried(t, [], { shown: () => "always the same" }), { verdict: "inconclusive" });
  const asked: unknown[] = [];
  t.match(await tried(t, [], { shown: () => String(asked.push(0)) }), {
    verdict: "inconclusive",
    words: /by itself/,
  });
  t.match(await tried(t, [], { shown: "none" }), { verdict: "not_applicable" });
});

t.test("without the leave to accept it warns, and still fails what is done too early", async (t) => {
  const call = plannedCall({ complete: false });
  t.match(await tried(t, [], { call }), { verdict: "warn" });
  t.match(await tried(t, ["executes-declined"], { call }), { verdict: "fail" });
});
