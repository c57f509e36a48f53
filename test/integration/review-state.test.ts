/** Checks of states: each passes where its rule holds, and fails by the switch that breaks it. */
import t from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { STATE_CHECKS } from "../../src/review/checks/state.ts";
import { type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { each, verdictsOf } from "../support/review-verdicts.ts";
import { CALLS, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const EXPIRY_MS = 60_000;

async function verdicts(
  broken: readonly Switch[],
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call"> = { call: CALLS.transfer },
  told?: (id: string, words: string) => void,
): Promise<Record<string, Verdict>> {
  const server = await startBreakableServer({ broken, expiryMs: EXPIRY_MS });
  open.push(server);
  const wait = async (ms: number): Promise<boolean> => {
    server.clock.now += ms;
    return true;
  };
  const call = { ...options.call, expiryMs: EXPIRY_MS };
  return verdictsOf(STATE_CHECKS, { ...server, wait, ...options, call }, told);
}

const HOLDS = each(STATE_CHECKS, "pass");

t.test("every check passes on a server that holds every rule, whatever it asks", async (t) => {
  for (const call of Object.values(CALLS)) t.strictSame(await verdicts([], { call }), HOLDS, call.name);
  t.strictSame(await verdicts([], { call: CALLS.book, probe: "balance" }), HOLDS);
});

/** Switch → the checks that it fails, and what else it shows. */
const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["missing-state", { missing: "fail" }],
  // A mark of the version that is changed is no state at all to that server.
  ["invented-state", { invented: "fail", tampered: "fail" }],
  ["tampered-state", { tampered: "fail", swapped: "fail", spelling: "warn" }],
  ["state-in-list", { "other-type": "fail" }],
  ["state-in-parts", { swapped: "fail" }],
  ["other-spellings", { spelling: "warn" }],
  // What is readable stands in a part of its own, which nothing protects.
  ["readable-state", { readable: "warn", tampered: "fail", swapped: "fail", spelling: "warn" }],
  ["no-expiry", { expiry: "fail" }],
];

for (const [rule, changed] of BREAKS)
  t.test(`${rule} is found out by ${Object.keys(changed).join(", ")}`, async (t) => {
    t.strictSame(await verdicts([rule]), { ...HOLDS, ...changed });
    const briefing = await verdicts([rule], { call: CALLS.briefing });
    t.strictSame(briefing, { ...HOLDS, ...changed });
  });

t.test("a state is tried in the rounds where it counts", async (t) => {
  for (const [rule, name] of [
    ["missing-state", "missing"],
    ["invented-state", "invented"],
    ["tampered-state", "tampered"],
    ["state-in-parts", "swapped"],
    ["no-expiry", "expiry"],
  ] as const) {
    const found = await verdicts([rule], { call: CALLS.book, probe: "balance" });
    t.equal(found[name], "fail", rule);
  }
});

t.test("a spelling that is good after the state was spent is a way around single use", async (t) => {
  const words: string[] = [];
  const found = await verdicts(["other-spellings", "spent-by-text"], { call: CALLS.transfer }, (id, text) => {
    if (id === "spelling") words.push(text);
  });
  t.strictSame(found, { ...HOLDS, spelling: "fail" });
  t.match(words.join(), /taken after the state itself was spent/);
});

t.test("where the plan does not allow to accept, states are tried with refusals", async (t) => {
  const call = { ...CALLS.transfer, complete: false };
  const server = await startBreakableServer();
  open.push(server);
  // Mapped as the reviewer does it then: one refusal.
  const found = await verdictsOf(STATE_CHECKS, { ...server, call });
  t.strictSame(found, { ...HOLDS, expiry: "not_applicable" });
  t.equal(server.effects.length, 0);
});

t.test("an expiry that the plan does not name, or does not allow to wait for, is not tried", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const expiry = STATE_CHECKS.filter(({ id }) => id === "state/expiry");
  t.strictSame(await verdictsOf(expiry, { ...server, call: CALLS.transfer }), {
    expiry: "not_applicable",
  });
  const call = { ...CALLS.transfer, expiryMs: EXPIRY_MS };
  t.strictSame(await verdictsOf(expiry, { ...server, call }), { expiry: "not_applicable" });
});

t.test("without an honest retry that works nothing counts as refused", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const found = await verdictsOf(STATE_CHECKS, { ...server, call: CALLS.transfer, map: false });
  t.strictSame(found, each(STATE_CHECKS, "inconclusive"));
});
