import t from "tap";
import { type Check, Inconclusive, NotAllowed } from "../../../src/review/check.ts";
import { openDryWire } from "../../../src/review/dry-run.ts";
import { CLOCK } from "../../../src/review/pace.ts";
import type { Plan } from "../../../src/review/plan.ts";
import { reviewRecord } from "../../../src/review/record.ts";
import { type Reviewed, review } from "../../../src/review/review.ts";
import { plannedCall } from "../../support/reviewed.ts";

const check = (name: string, run: Check["run"], completes = false): Check => ({
  ...{ id: `test/${name}`, title: name, advice: "advice", completes, run },
  clause: { level: "MUST", text: "rule", source: "basic/index" },
});
const passing = check("passing", async () => ({ verdict: "pass", words: "held", exchanges: [] }));

async function run(
  checks: readonly Check[],
  change: Partial<Plan> = {},
  controller = new AbortController(),
): Promise<Reviewed> {
  const plan: Plan = {
    ...{ source: "file", endpoint: "http://u:p@127.0.0.1/mcp?key=1#x", ca: undefined, hasSecond: false },
    ...{ tokens: { first: "secret-token", second: undefined }, calls: [plannedCall()], probe: undefined },
    limits: { requests: 10, perSecond: 10, timeoutMs: 1_000, waitMs: 0 },
    ...change,
  };
  const ids: number[] = [];
  const listing = {
    name: "s",
    version: undefined,
    versions: [],
    tools: [],
    prompts: [],
    resources: [],
    asked: [],
  };
  const silent = { checking: () => undefined, found: () => undefined, note: () => undefined };
  const reviewed = await review({
    ...{ plan, checks, listing, clock: CLOCK, signal: controller.signal, version: "1", showArguments: false },
    ...{ forbidden: ["something"], watcher: silent, nextId: () => ids.push(0) },
    wire: openDryWire(plan, CLOCK, () => controller.signal.throwIfAborted()),
  });
  reviewRecord.parse(reviewed.record);
  return reviewed;
}

const verdicts = ({ record }: Reviewed): (readonly [string, string])[] =>
  record.results.map(({ check: id, verdict }) => [id, verdict] as const);

t.test("what a check says, and what it cannot say", async (t) => {
  const reviewed = await run([
    passing,
    check("open", async () => {
      throw new Inconclusive("it did not come about");
    }),
    check("forbidden", async (session) => {
      await session.first({ target: "delete" });
      throw new Error("it was sent");
    }),
    check("not-allowed", async () => {
      throw new NotAllowed("no");
    }),
  ]);
  t.strictSame(verdicts(reviewed), [
    ["test/passing", "pass"],
    ["test/open", "inconclusive"],
    ["test/forbidden", "not_applicable"],
    ["test/not-allowed", "not_applicable"],
  ]);
  t.match(reviewed, { fault: undefined, stopped: false });
  t.match(reviewed.record, {
    ...{ endpoint: "http://127.0.0.1/mcp", counts: { pass: 1, inconclusive: 1, not_applicable: 2, fail: 0 } },
    calls: [
      {
        map: [
          { kind: "call", ends: "input_required", state: true },
          { kind: "retry", ends: "complete" },
        ],
      },
    ],
  });
});

t.test("a check that accepts is not tried where the plan does not allow it", async (t) => {
  let runs = 0;
  const accepting = check(
    "accepting",
    async () => {
      runs += 1;
      return { verdict: "pass", words: "", exchanges: [] };
    },
    true,
  );
  t.strictSame(verdicts(await run([accepting], { calls: [plannedCall({ complete: false })] })), [
    ["test/accepting", "not_applicable"],
  ]);
  t.equal(runs, 0);
});

t.test("a check that throws anything else is a fault, and what comes after it is not passed", async (t) => {
  const broken = check("broken", async () => {
    throw new TypeError("a mistake of ours");
  });
  const reviewed = await run([passing, broken, passing], {
    calls: [plannedCall(), plannedCall({ name: "again" })],
  });
  t.match(reviewed.fault, { name: "TypeError" });
  t.strictSame(
    verdicts(reviewed).map(([, verdict]) => verdict),
    ["pass", "inconclusive", "inconclusive", "inconclusive", "inconclusive", "inconclusive"],
  );
});

t.test("a stop is no fault", async (t) => {
  const controller = new AbortController();
  const stopping = check("stopping", async (session) => {
    controller.abort(new Error("stopped"));
    await session.first();
    return { verdict: "pass", words: "", exchanges: [] };
  });
  const reviewed = await run([passing, stopping, passing], {}, controller);
  t.match(reviewed, { fault: undefined, stopped: true });
  t.strictSame(
    verdicts(reviewed).map(([, verdict]) => verdict),
    ["pass", "inconclusive", "inconclusive"],
  );
});

t.test("no call, no result", async (t) => {
  const { record } = await run([passing], { calls: [], source: "discovery" });
  t.match(record, { results: [], calls: [], options: { plan: "discovery", forbidden: ["something"] } });
});
