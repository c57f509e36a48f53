/** Checks of redemption: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import t from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { REDEMPTION_CHECKS } from "../../src/review/checks/redemption.ts";
import { timesChanged } from "../../src/review/checks/redemption-effects.ts";
import {
  type BreakableOptions,
  MAX_ASKED,
  MAX_REFUSED,
  type Switch,
  startBreakableServer,
} from "../support/breakable-server.ts";
import { verdictsOfBreakable } from "../support/review-verdicts.ts";
import { CALLS, openReviewed, plannedCall, type ReviewedOptions } from "../support/reviewed.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const verdicts = (
  server: BreakableOptions,
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<Record<string, Verdict>> => verdictsOfBreakable(REDEMPTION_CHECKS, server, options);

const LIMITED = { maxRounds: MAX_ASKED, retryLimit: MAX_REFUSED };
const ALL_PASS: Record<string, Verdict> = {
  replay: "pass",
  "replay-other-answers": "pass",
  "at-once": "pass",
  rounds: "pass",
  retries: "pass",
};
const PROBED = { call: { ...CALLS.transfer, ...LIMITED }, probe: "balance" };

t.test("every check passes on a server that holds every rule, with a probe and without", async (t) => {
  t.same(await verdicts({}, PROBED), ALL_PASS);
  t.same(await verdicts({}, { call: PROBED.call }), ALL_PASS);
});

t.test("of several rounds it is the last that counts", async (t) => {
  // Its last question has no other answer than yes.
  const expected = { ...ALL_PASS, "replay-other-answers": "not_applicable" as const };
  t.same(await verdicts({}, { ...PROBED, call: { ...CALLS.book, ...LIMITED } }), expected);
});

const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["replay", { replay: "fail", "replay-other-answers": "fail", "at-once": "fail" }],
  ["replay-other-answers", { "replay-other-answers": "fail" }],
  ["concurrent-use", { "at-once": "fail" }],
  ["endless-rounds", { rounds: "fail" }],
  ["endless-retries", { retries: "fail" }],
];

for (const [rule, changed] of BREAKS)
  t.test(
    `${rule} is found out by ${Object.keys(changed).join(", ")}, with a probe and without`,
    async (t) => {
      const expected = { ...ALL_PASS, ...changed };
      t.same(await verdicts({ broken: [rule] }, PROBED), expected);
      t.same(await verdicts({ broken: [rule] }, { call: PROBED.call }), expected);
    },
  );

t.test("a result that is kept for a repeat cannot be told from a second run, but by a probe", async (t) => {
  t.same(await verdicts({ keepsResults: true }, PROBED), ALL_PASS);
  const found = await verdicts({ keepsResults: true }, { call: PROBED.call });
  t.same(found, { ...ALL_PASS, replay: "warn", "at-once": "warn" });
});

t.test("what only reads may be read again", async (t) => {
  const found = await verdicts({ broken: ["replay"] }, { call: { ...CALLS.briefing, ...LIMITED } });
  const read = {
    replay: "not_applicable",
    "replay-other-answers": "not_applicable",
    "at-once": "not_applicable",
  };
  t.same(found, { ...ALL_PASS, ...read });
  const none = { ...CALLS.briefing, ...LIMITED, sideEffects: "None." };
  t.same(await verdicts({ broken: ["replay"] }, { call: none }), { ...ALL_PASS, ...read });
  const effects = { ...CALLS.briefing, ...LIMITED, sideEffects: "Counts against a budget" };
  t.equal((await verdicts({ broken: ["replay"] }, { call: effects }))["replay"], "warn");
});

t.test(
  "without declared limits, asking without an end is a warning, and refused retries are not counted",
  async (t) => {
    const unlimited = { call: CALLS.transfer, probe: "balance" };
    t.same(await verdicts({}, unlimited), { ...ALL_PASS, retries: "not_applicable" });
    const found = await verdicts({ broken: ["endless-rounds"] }, unlimited);
    t.same(found, { ...ALL_PASS, rounds: "warn", retries: "not_applicable" });
  },
);

t.test("where the plan does not allow to accept, nothing is carried out", async (t) => {
  const started = await startBreakableServer();
  open.push(started);
  const call = { ...CALLS.transfer, ...LIMITED, complete: false };
  const reviewed = await openReviewed({ ...started, call, probe: "balance", map: false });
  open.push(reviewed);
  const found = [];
  for (const check of REDEMPTION_CHECKS) found.push((await reviewed.run(check)).verdict);
  t.same(found, ["not_applicable", "not_applicable", "not_applicable", "pass", "not_applicable"]);
  t.equal(started.effects.length, 0);
});

t.test("a round that asks nothing is not gone on with where the plan does not allow to accept", async (t) => {
  const server = await startSdkServer();
  open.push(server);
  const nothingElse = { otherArguments: undefined, otherTarget: undefined };
  const call = plannedCall({
    target: "state-only",
    arguments: { amount: 1 },
    complete: false,
    ...nothingElse,
  });
  const reviewed = await openReviewed({ url: server.url, call, map: false });
  open.push(reviewed);
  for (const check of REDEMPTION_CHECKS)
    t.equal((await reviewed.run(check)).verdict, "not_applicable", check.id);
  for (const { sent } of reviewed.exchanges) {
    const params = sent.message["params"] as Record<string, unknown>;
    t.equal(params["requestState"], undefined);
  }
});

t.test("a server that refuses honest answers leaves what builds on them inconclusive", async (t) => {
  const started = await startBreakableServer({ expiryMs: -1 });
  open.push(started);
  const reviewed = await openReviewed({ ...started, call: PROBED.call, map: false });
  open.push(reviewed);
  for (const check of REDEMPTION_CHECKS.slice(0, 3))
    t.equal((await reviewed.run(check)).verdict, "inconclusive", check.id);
});

t.test("changes of a probe are counted where every number moves alike", async (t) => {
  t.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 70, 3 booked"), 1);
  t.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 60, 4 booked"), 2);
  t.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 80, 2 booked"), 0);
  t.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 70, 4 booked"), undefined);
  t.equal(timesChanged("left 90", "left 80", "left 75"), undefined);
  t.equal(timesChanged("left 90", "left 90", "left 80"), undefined);
  t.equal(timesChanged("1 left", "0 left", "none left"), undefined);
});
