/** Checks of answers: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Verdict } from "../../src/review/check.ts";
import { ANSWER_CHECKS } from "../../src/review/checks/answers.ts";
import { type BreakableOptions, type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { CALLS, openReviewed, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Check → verdict, of those that are not what the server that holds gets. */
async function verdicts(
  server: BreakableOptions,
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<Record<string, Verdict>> {
  const started = await startBreakableServer(server);
  open.push(started);
  const reviewed = await openReviewed({ ...started, ...options });
  open.push(reviewed);
  const found: Record<string, Verdict> = {};
  for (const check of ANSWER_CHECKS) {
    const { verdict, words, exchanges } = await reviewed.run(check);
    found[check.id.replace("answers/", "")] = verdict;
    assert.match(words, /^[A-Z].*[.!?]$/s);
    if (verdict === "pass" || verdict === "not_applicable") continue;
    assert.ok(exchanges.length > 0, `${check.id} shows nothing`);
  }
  return found;
}

const but = (changed: Record<string, Verdict>, from: Record<string, Verdict>): Record<string, Verdict> => ({
  ...from,
  ...changed,
});

const ALL_PASS = Object.fromEntries(
  ANSWER_CHECKS.map(({ id }) => [id.replace("answers/", ""), "pass" as Verdict]),
);
/** One question in one round. */
const TRANSFER = but({ "one-missing": "not_applicable", ahead: "not_applicable" }, ALL_PASS);

test("every check passes on a server that holds every rule", async () => {
  assert.deepEqual(await verdicts({}, { call: CALLS.transfer, probe: "balance" }), TRANSFER);
  assert.deepEqual(await verdicts({}, { call: CALLS.book, probe: "balance" }), ALL_PASS);
});

/** Switch → the checks that it fails, and what else it shows. */
const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["executes-declined", { declined: "fail" }],
  ["executes-cancelled", { cancelled: "fail" }],
  ["any-action", { "unknown-action": "fail" }],
  ["not-an-answer", { "not-an-answer": "fail" }],
  ["other-kind", { "other-kind": "fail" }],
  ["wrong-types", { "wrong-types": "fail" }],
  ["against-schema", { "against-schema": "fail" }],
  ["without-content", { "without-content": "fail" }],
  ["executes-unanswered", { missing: "fail", "asked-again": "fail", unasked: "fail" }],
  ["unasked-answers", { unasked: "fail" }],
  ["refuses-unasked", { "one-more": "warn" }],
  ["refuses-unanswered", { "asked-again": "warn" }],
];

for (const [rule, changed] of BREAKS)
  test(`${rule} is found out by ${Object.keys(changed).join(", ")}`, async () => {
    const options = { call: CALLS.transfer, probe: "balance" };
    assert.deepEqual(await verdicts({ broken: [rule] }, options), but(changed, TRANSFER));
  });

test("a question left open is found out where there are several, and later ones where they are asked", async () => {
  const options = { call: CALLS.book, probe: "balance" };
  assert.deepEqual(
    await verdicts({ broken: ["one-missing"] }, options),
    but({ "one-missing": "fail" }, ALL_PASS),
  );
  assert.deepEqual(await verdicts({ broken: ["answers-ahead"] }, options), but({ ahead: "fail" }, ALL_PASS));
});

test("without a probe, a result after a no that reads as after a yes fails, and another one cannot be told", async () => {
  const held = but({ declined: "warn", cancelled: "warn" }, TRANSFER);
  assert.deepEqual(await verdicts({}, { call: CALLS.transfer }), held);
  const broken = await verdicts({ broken: ["executes-declined"] }, { call: CALLS.transfer });
  assert.deepEqual(broken, but({ declined: "fail" }, held));
});

test("of what only reads the result tells without a probe", async () => {
  const prompt = but({ "one-missing": "not_applicable", ahead: "not_applicable" }, ALL_PASS);
  assert.deepEqual(await verdicts({}, { call: CALLS.briefing }), prompt);
  const declined = await verdicts({ broken: ["executes-declined"] }, { call: CALLS.briefing });
  assert.deepEqual(declined, but({ declined: "fail" }, prompt));
});

test("questions to programs have no refusal, and are of use only", async () => {
  const ledger = but(
    {
      declined: "not_applicable",
      cancelled: "not_applicable",
      "unknown-action": "not_applicable",
      "against-schema": "not_applicable",
      "without-content": "not_applicable",
      ahead: "not_applicable",
    },
    ALL_PASS,
  );
  assert.deepEqual(await verdicts({}, { call: CALLS.ledger }), ledger);
  const broken = await verdicts({ broken: ["one-missing"] }, { call: CALLS.ledger });
  assert.deepEqual(broken, but({ "one-missing": "warn" }, ledger));
  const other = await verdicts({ broken: ["other-kind"] }, { call: CALLS.ledger });
  assert.deepEqual(other, but({ "other-kind": "fail" }, ledger));
});

test("where the plan does not allow to accept, nothing is sent that could be taken for it", async () => {
  const started = await startBreakableServer();
  open.push(started);
  const reviewed = await openReviewed({
    ...started,
    call: { ...CALLS.book, complete: false },
    probe: "balance",
    map: false,
  });
  open.push(reviewed);
  const found = await Promise.all(
    ANSWER_CHECKS.map(async (check) => [check.id, (await reviewed.run(check)).verdict]),
  );
  const tried = found.filter(([, verdict]) => verdict !== "not_applicable").map(([id]) => id);
  assert.deepEqual(tried, [
    "answers/declined",
    "answers/cancelled",
    "answers/missing",
    "answers/asked-again",
  ]);
  assert.equal(started.effects.length, 0);
});

test("a server that cannot be asked leaves every check inconclusive", async () => {
  const started = await startBreakableServer();
  open.push(started);
  const options = { url: started.url, tokens: {}, call: CALLS.transfer, map: false };
  const reviewed = await openReviewed(options);
  open.push(reviewed);
  for (const check of ANSWER_CHECKS) {
    const { verdict } = await reviewed.run(check);
    if (check.id !== "answers/ahead") assert.equal(verdict, "inconclusive", check.id);
  }
});
