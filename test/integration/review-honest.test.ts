/**
 * No false alarms: the checks of answers, redemption and lost replies on flows of the real SDK, as they are and behind the gateway; and
 * what the gateway makes of a server that breaks these rules.
 */
import t, { type Test } from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { ANSWER_CHECKS } from "../../src/review/checks/answers.ts";
import { CONNECTION_CHECKS } from "../../src/review/checks/connection.ts";
import { REDEMPTION_CHECKS } from "../../src/review/checks/redemption.ts";
import { type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { startGateway } from "../support/gateway.ts";
import { CALLS, openReviewed, plannedCall, type ReviewedOptions } from "../support/reviewed.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const CHECKS = [...ANSWER_CHECKS, ...REDEMPTION_CHECKS, ...CONNECTION_CHECKS];

/** Verdict → checks with it. */
async function review(t: Test, options: ReviewedOptions): Promise<Partial<Record<Verdict, string[]>>> {
  const reviewed = await openReviewed(options);
  t.teardown(() => reviewed.close());
  const found: Partial<Record<Verdict, string[]>> = {};
  for (const check of CHECKS) {
    const { verdict, words } = await reviewed.run(check);
    const ids = found[verdict] ?? [];
    found[verdict] = [...ids, check.id];
    if (verdict === "inconclusive") t.comment(`${check.id}: ${words}`);
  }
  return found;
}

const FLOWS = [
  "form",
  "form-no-state",
  "url",
  "sampling",
  "roots",
  "everything",
  "state-only",
  "empty-state",
  "three-rounds",
];
const UNCERTAIN = ["answers/declined", "answers/cancelled"];

for (const flow of FLOWS)
  t.test(`${flow} of the SDK behind the gateway fails nothing`, async (t) => {
    const server = await startSdkServer();
    t.teardown(() => server.close());
    const gateway = await startGateway(server.url);
    t.teardown(() => gateway.close());
    const url = `${gateway.url}/mcp`;
    const nothingElse = { otherArguments: undefined, otherTarget: undefined };
    const tool = plannedCall({ name: flow, target: flow, arguments: { amount: 1 }, ...nothingElse });
    const found = await review(t, { url, call: tool });
    t.same([found.fail, found.inconclusive], [undefined, undefined]);
    // That a no is a no is for the server to hold, and nothing shows what this one does.
    for (const id of found.warn ?? []) t.ok(UNCERTAIN.includes(id), id);
    const resource = { method: "resources/read" as const, target: `note://flows/${flow}`, arguments: {} };
    const read = await review(t, { url, call: plannedCall({ name: flow, ...nothingElse, ...resource }) });
    t.same([read.fail, read.inconclusive], [undefined, undefined]);
  });

t.test("a handler of the SDK that only reads fails nothing without the gateway either", async (t) => {
  const server = await startSdkServer();
  t.teardown(() => server.close());
  const call = plannedCall({
    method: "prompts/get",
    target: "form",
    arguments: { topic: "tides" },
    otherArguments: undefined,
    otherTarget: undefined,
  });
  const found = await review(t, { url: server.url, call });
  t.same([found.fail, found.inconclusive], [undefined, undefined]);
});

/** What the gateway holds for a server that does not. What is left are rules of the server's own, such as what a no means. */
const COVERED: readonly Switch[] = [
  "no-principal",
  "any-action",
  "not-an-answer",
  "other-kind",
  "wrong-types",
  "against-schema",
  "without-content",
  "unasked-answers",
  "answers-ahead",
  "replay",
  "endless-rounds",
  "forgets-lost",
];

t.test("in front of a server that breaks them the gateway holds the rules", async (t) => {
  const server = await startBreakableServer({ broken: COVERED });
  t.teardown(() => server.close());
  const gateway = await startGateway(server.url);
  t.teardown(() => gateway.close());
  for (const call of [CALLS.transfer, CALLS.book]) {
    const before = await review(t, { url: server.url, call, probe: "balance" });
    const after = await review(t, { url: `${gateway.url}/mcp`, call, probe: "balance" });
    t.ok((before.fail ?? []).length >= 8, `${before.fail}`);
    t.same([after.fail, after.warn, after.inconclusive], [undefined, undefined, undefined]);
    for (const id of before.fail ?? []) t.ok(after.pass?.includes(id), id);
  }
});
