/** Checks of what a server asks: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import t from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { QUESTION_CHECKS } from "../../src/review/checks/question.ts";
import type { Switch } from "../support/breakable-server.ts";
import { each, verdictsOfBreakable } from "../support/review-verdicts.ts";
import { CALLS, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const verdicts = (
  broken: readonly Switch[],
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<Record<string, Verdict>> => verdictsOfBreakable(QUESTION_CHECKS, { broken }, options);

const ALL = each(QUESTION_CHECKS, "pass");
const FORM: Record<string, Verdict> = { ...ALL, address: "not_applicable" };

t.test("every check passes on a server that holds every rule, or has nothing to look at", async (t) => {
  t.strictSame(await verdicts([], { call: CALLS.transfer }), FORM);
  t.strictSame(await verdicts([], { call: CALLS.book }), ALL);
  t.strictSame(await verdicts([], { call: CALLS.briefing }), FORM);
  const ledger = { ...FORM, secret: "not_applicable", link: "not_applicable" };
  t.strictSame(await verdicts([], { call: CALLS.ledger }), ledger);
});

/** Switch → the check that it fails. */
const FORMS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["secret-form", { secret: "fail" }],
  ["link-form", { link: "warn" }],
  ["nested-schema", { schema: "fail" }],
  ["cache-hints", { "cache-hints": "warn" }],
  ["undeclared-capability", { undeclared: "fail" }],
];
for (const [rule, changed] of FORMS)
  t.test(`${rule} is found out by ${Object.keys(changed).join(", ")}`, async (t) => {
    t.strictSame(await verdicts([rule], { call: CALLS.transfer }), { ...FORM, ...changed });
  });

const ADDRESSES: readonly (readonly [rule: Switch, verdict: Verdict])[] = [
  ["script-url", "fail"],
  ["credential-url", "fail"],
  ["plain-url", "warn"],
];
for (const [rule, verdict] of ADDRESSES)
  t.test(`${rule} is found out by address, in the second round`, async (t) => {
    t.strictSame(await verdicts([rule], { call: CALLS.book }), { ...ALL, address: verdict });
  });

t.test("a question of no kind that there is fails without an honest answer", async (t) => {
  const found = await verdicts(["unknown-question"], { call: CALLS.transfer, map: false });
  t.equal(found["kind"], "fail");
  t.equal(found["undeclared"], "not_applicable");
});

t.test("a round that asks nothing and brings no state fails", async (t) => {
  const found = await verdicts(["asks-nothing"], { call: CALLS.transfer, map: false });
  t.equal(found["present"], "fail");
  t.equal(found["kind"], "pass");
});

t.test("every round and every kind is asked for without its capability", async (t) => {
  for (const call of [CALLS.book, CALLS.ledger]) {
    const found = await verdicts(["undeclared-capability"], { call });
    t.equal(found["undeclared"], "fail", call.name);
  }
});

t.test("a server that asks nothing of the kind leaves every check inconclusive", async (t) => {
  const call = { ...CALLS.transfer, target: "balance", arguments: {} };
  const found = await verdicts([], { call, map: false });
  t.strictSame(found, each(QUESTION_CHECKS, "inconclusive"));
});

t.test(
  "a call that may not be carried out is not made without capabilities, if it does more than read",
  async (t) => {
    const transfer = await verdicts([], { call: { ...CALLS.transfer, complete: false } });
    t.equal(transfer["undeclared"], "not_applicable");
    const briefing = { ...CALLS.briefing, complete: false };
    t.equal((await verdicts([], { call: briefing }))["undeclared"], "pass");
    t.equal((await verdicts(["undeclared-capability"], { call: briefing }))["undeclared"], "fail");
  },
);
