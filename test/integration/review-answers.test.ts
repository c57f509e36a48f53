/** Checks of answers: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import t from "tap";
import type { Check, Verdict } from "../../src/review/check.ts";
import { ANSWER_CHECKS } from "../../src/review/checks/answers.ts";
import { type BreakableOptions, type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { verdictsOfBreakable } from "../support/review-verdicts.ts";
import { CALLS, openReviewed, type ReviewedOptions } from "../support/reviewed.ts";
import { result, startUpstream } from "../support/upstream.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const verdicts = (
  server: BreakableOptions,
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call">,
): Promise<Record<string, Verdict>> => verdictsOfBreakable(ANSWER_CHECKS, server, options);

const but = (changed: Record<string, Verdict>, from: Record<string, Verdict>): Record<string, Verdict> => ({
  ...from,
  ...changed,
});

const ALL_PASS = Object.fromEntries(
  ANSWER_CHECKS.map(({ id }) => [id.replace("answers/", ""), "pass" as Verdict]),
);
/** One question in one round. */
const TRANSFER = but({ "one-missing": "not_applicable", ahead: "not_applicable" }, ALL_PASS);

t.test("every check passes on a server that holds every rule", async (t) => {
  t.same(await verdicts({}, { call: CALLS.transfer, probe: "balance" }), TRANSFER);
  t.same(await verdicts({}, { call: CALLS.book, probe: "balance" }), ALL_PASS);
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
  t.test(`${rule} is found out by ${Object.keys(changed).join(", ")}`, async (t) => {
    const options = { call: CALLS.transfer, probe: "balance" };
    t.same(await verdicts({ broken: [rule] }, options), but(changed, TRANSFER));
  });

t.test(
  "a question left open is found out where there are several, and later ones where they are asked",
  async (t) => {
    const options = { call: CALLS.book, probe: "balance" };
    t.same(await verdicts({ broken: ["one-missing"] }, options), but({ "one-missing": "fail" }, ALL_PASS));
    t.same(await verdicts({ broken: ["answers-ahead"] }, options), but({ ahead: "fail" }, ALL_PASS));
  },
);

t.test(
  "without a probe, a result after a no that reads as after a yes fails, and another one cannot be told",
  async (t) => {
    const held = but({ declined: "warn", cancelled: "warn" }, TRANSFER);
    t.same(await verdicts({}, { call: CALLS.transfer }), held);
    const broken = await verdicts({ broken: ["executes-declined"] }, { call: CALLS.transfer });
    t.same(broken, but({ declined: "fail" }, held));
  },
);

t.test(
  "what only reads has shown it, if its result reads as after a yes; another result cannot be told",
  async (t) => {
    const prompt = but({ declined: "warn", cancelled: "warn" }, TRANSFER);
    t.same(await verdicts({}, { call: CALLS.briefing }), prompt);
    // No probe can see what somebody has read.
    t.same(await verdicts({}, { call: CALLS.briefing, probe: "balance" }), prompt);
    const declined = await verdicts({ broken: ["executes-declined"] }, { call: CALLS.briefing });
    t.same(declined, but({ declined: "fail" }, prompt));
  },
);

t.test("a probe that an honest run does not change shows nothing", async (t) => {
  const held = but({ declined: "warn", cancelled: "warn" }, TRANSFER);
  const started = await startBreakableServer();
  open.push(started);
  const reviewed = await openReviewed({ ...started, call: CALLS.transfer });
  open.push(reviewed);
  const found: Record<string, Verdict> = {};
  for (const check of ANSWER_CHECKS) {
    const asleep: Check = { ...check, run: (session) => check.run({ ...session, probe: async () => "0" }) };
    found[check.id.replace("answers/", "")] = (await reviewed.run(asleep)).verdict;
  }
  t.same(found, held);
});

t.test("questions to programs have no refusal, and are of use only", async (t) => {
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
  t.same(await verdicts({}, { call: CALLS.ledger }), ledger);
  const broken = await verdicts({ broken: ["one-missing"] }, { call: CALLS.ledger });
  t.same(broken, but({ "one-missing": "warn" }, ledger));
  const other = await verdicts({ broken: ["other-kind"] }, { call: CALLS.ledger });
  t.same(other, but({ "other-kind": "fail" }, ledger));
});

t.test("where the plan does not allow to accept, nothing is sent that could be taken for it", async (t) => {
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
  t.same(tried, ["answers/declined", "answers/cancelled", "answers/missing", "answers/asked-again"]);
  t.equal(started.effects.length, 0);
});

t.test("a server that cannot be asked leaves every check inconclusive", async (t) => {
  const started = await startBreakableServer();
  open.push(started);
  const options = { url: started.url, tokens: {}, call: CALLS.transfer, map: false };
  const reviewed = await openReviewed(options);
  open.push(reviewed);
  for (const check of ANSWER_CHECKS) {
    const { verdict } = await reviewed.run(check);
    if (check.id !== "answers/ahead") t.equal(verdict, "inconclusive", check.id);
  }
});

t.test(
  "a probe that changes by itself shows nothing, and nothing is laid to the server for it",
  async (t) => {
    const started = await startBreakableServer();
    open.push(started);
    const reviewed = await openReviewed({ ...started, call: CALLS.transfer });
    open.push(reviewed);
    let count = 0;
    const restless = async (): Promise<string> => String(count++);
    for (const check of ANSWER_CHECKS.filter(({ id }) => /declined|action|missing$/.test(id))) {
      const run: Check["run"] = (session) => check.run({ ...session, probe: restless });
      const { verdict } = await reviewed.run({ ...check, run });
      t.match(verdict, /inconclusive|not_applicable/, check.id);
    }
  },
);

t.test("a result that says next to nothing does not read as after a yes", async (t) => {
  const done = (words: string): string => JSON.stringify({ content: [{ type: "text", text: words }] });
  const questions = '{"confirm":{"method":"elicitation/create","params":{"mode":"form","message":"Sure?",';
  const schema = '"requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}';
  const asks = `{"resultType":"input_required","requestState":"s","inputRequests":${questions}${schema}}`;
  for (const [words, verdict] of [
    ["ok", "warn"],
    ["The money is on its way", "fail"],
  ] as const) {
    const upstream = await startUpstream((arrived, response) => {
      const isRetry = arrived.json?.params?.requestState !== undefined;
      result(arrived, response, isRetry ? done(words) : asks);
    });
    open.push(upstream);
    const reviewed = await openReviewed({ url: upstream.url, call: CALLS.transfer });
    open.push(reviewed);
    const [declined] = ANSWER_CHECKS;
    t.equal((await reviewed.run(declined as Check)).verdict, verdict, words);
  }
});
