/** Checks of redemption: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
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
import { CALLS, openReviewed, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function verdicts(
  server: BreakableOptions,
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<Record<string, Verdict>> {
  const started = await startBreakableServer(server);
  open.push(started);
  const reviewed = await openReviewed({ ...started, ...options });
  open.push(reviewed);
  const found: Record<string, Verdict> = {};
  for (const check of REDEMPTION_CHECKS) {
    const { verdict, words } = await reviewed.run(check);
    found[check.id.replace("redemption/", "")] = verdict;
    assert.match(words, /^[A-Z0-9].*[.!?]$/s);
  }
  return found;
}

const LIMITED = { maxRounds: MAX_ASKED, retryLimit: MAX_REFUSED };
const ALL_PASS: Record<string, Verdict> = {
  replay: "pass",
  "replay-other-answers": "pass",
  "at-once": "pass",
  rounds: "pass",
  retries: "pass",
};
const PROBED = { call: { ...CALLS.transfer, ...LIMITED }, probe: "balance" };

test("every check passes on a server that holds every rule, with a probe and without", async () => {
  assert.deepEqual(await verdicts({}, PROBED), ALL_PASS);
  assert.deepEqual(await verdicts({}, { call: PROBED.call }), ALL_PASS);
});

test("of several rounds it is the last that counts", async () => {
  // Its last question has no other answer than yes.
  const expected = { ...ALL_PASS, "replay-other-answers": "not_applicable" as const };
  assert.deepEqual(await verdicts({}, { ...PROBED, call: { ...CALLS.book, ...LIMITED } }), expected);
});

const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["replay", { replay: "fail", "replay-other-answers": "fail", "at-once": "fail" }],
  ["replay-other-answers", { "replay-other-answers": "fail" }],
  ["concurrent-use", { "at-once": "fail" }],
  ["endless-rounds", { rounds: "fail" }],
  ["endless-retries", { retries: "fail" }],
];

for (const [rule, changed] of BREAKS)
  test(`${rule} is found out by ${Object.keys(changed).join(", ")}, with a probe and without`, async () => {
    const expected = { ...ALL_PASS, ...changed };
    assert.deepEqual(await verdicts({ broken: [rule] }, PROBED), expected);
    assert.deepEqual(await verdicts({ broken: [rule] }, { call: PROBED.call }), expected);
  });

test("a result that is kept for a repeat cannot be told from a second run, but by a probe", async () => {
  assert.deepEqual(await verdicts({ keepsResults: true }, PROBED), ALL_PASS);
  const found = await verdicts({ keepsResults: true }, { call: PROBED.call });
  assert.deepEqual(found, { ...ALL_PASS, replay: "warn", "at-once": "warn" });
});

test("what only reads may be read again", async () => {
  const found = await verdicts({ broken: ["replay"] }, { call: { ...CALLS.briefing, ...LIMITED } });
  const read = {
    replay: "not_applicable",
    "replay-other-answers": "not_applicable",
    "at-once": "not_applicable",
  };
  assert.deepEqual(found, { ...ALL_PASS, ...read });
  const effects = { ...CALLS.briefing, ...LIMITED, sideEffects: "Counts against a budget" };
  assert.equal((await verdicts({ broken: ["replay"] }, { call: effects }))["replay"], "warn");
});

test("without declared limits, asking without an end is a warning, and refused retries are not counted", async () => {
  const unlimited = { call: CALLS.transfer, probe: "balance" };
  assert.deepEqual(await verdicts({}, unlimited), { ...ALL_PASS, retries: "not_applicable" });
  const found = await verdicts({ broken: ["endless-rounds"] }, unlimited);
  assert.deepEqual(found, { ...ALL_PASS, rounds: "warn", retries: "not_applicable" });
});

test("where the plan does not allow to accept, nothing is carried out", async () => {
  const started = await startBreakableServer();
  open.push(started);
  const call = { ...CALLS.transfer, ...LIMITED, complete: false };
  const reviewed = await openReviewed({ ...started, call, probe: "balance", map: false });
  open.push(reviewed);
  const found = [];
  for (const check of REDEMPTION_CHECKS) found.push((await reviewed.run(check)).verdict);
  assert.deepEqual(found, ["not_applicable", "not_applicable", "not_applicable", "pass", "not_applicable"]);
  assert.equal(started.effects.length, 0);
});

test("a server that refuses honest answers leaves what builds on them inconclusive", async () => {
  const started = await startBreakableServer({ expiryMs: -1 });
  open.push(started);
  const reviewed = await openReviewed({ ...started, call: PROBED.call, map: false });
  open.push(reviewed);
  for (const check of REDEMPTION_CHECKS.slice(0, 3))
    assert.equal((await reviewed.run(check)).verdict, "inconclusive", check.id);
});

test("changes of a probe are counted where every number moves alike", () => {
  assert.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 70, 3 booked"), 1);
  assert.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 60, 4 booked"), 2);
  assert.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 80, 2 booked"), 0);
  assert.equal(timesChanged("left 90, 1 booked", "left 80, 2 booked", "left 70, 4 booked"), undefined);
  assert.equal(timesChanged("left 90", "left 80", "left 75"), undefined);
  assert.equal(timesChanged("left 90", "left 90", "left 80"), undefined);
  assert.equal(timesChanged("1 left", "0 left", "none left"), undefined);
});
