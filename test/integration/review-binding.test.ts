/** Checks of what a state is bound to: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import t from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { BINDING_CHECKS } from "../../src/review/checks/binding.ts";
import { type Switch, startBreakableServer } from "../support/breakable-server.ts";
import { each, verdictsOf, verdictsOfBreakable } from "../support/review-verdicts.ts";
import { CALLS, type ReviewedOptions } from "../support/reviewed.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const verdicts = (
  broken: readonly Switch[],
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call"> = { call: CALLS.transfer },
): Promise<Record<string, Verdict>> => verdictsOfBreakable(BINDING_CHECKS, { broken }, options);

const HOLDS = each(BINDING_CHECKS, "pass");

t.test("every check passes on a server that holds every rule, or has nothing to try", async (t) => {
  t.strictSame(await verdicts([]), HOLDS);
  t.strictSame(await verdicts([], { call: CALLS.transfer, probe: "balance" }), HOLDS);
  t.strictSame(await verdicts([], { call: CALLS.book }), HOLDS);
  const briefing = { ...HOLDS, target: "not_applicable" };
  t.strictSame(await verdicts([], { call: CALLS.briefing }), briefing);
  t.strictSame(await verdicts([], { call: CALLS.ledger }), { ...briefing, arguments: "not_applicable" });
});

/** Switch → the check that it fails. */
const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["other-principal", { principal: "fail" }],
  ["no-principal", { "no-credential": "fail" }],
  ["other-tool", { target: "fail" }],
  ["other-arguments", { arguments: "fail" }],
  ["other-method", { method: "fail" }],
  ["same-id", { id: "warn" }],
];

for (const [rule, changed] of BREAKS)
  t.test(
    `${rule} is found out by ${Object.keys(changed).join(", ")}, with a probe and without`,
    async (t) => {
      t.strictSame(await verdicts([rule]), { ...HOLDS, ...changed });
      t.strictSame(await verdicts([rule], { call: CALLS.transfer, probe: "balance" }), {
        ...HOLDS,
        ...changed,
      });
    },
  );

t.test("without a second principal, other targets or a credential there is nothing to try", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const call = { ...CALLS.transfer, otherTarget: undefined, otherArguments: undefined };
  const tokens = { first: server.tokens.first };
  const found = await verdictsOf(BINDING_CHECKS, { url: server.url, tokens, call });
  t.strictSame(found, {
    ...HOLDS,
    principal: "not_applicable",
    target: "not_applicable",
    arguments: "not_applicable",
  });
});

t.test("a second principal that is not let in shows nothing by being refused", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const tokens = { first: server.tokens.first, second: "token-of-nobody" };
  const found = await verdictsOf(BINDING_CHECKS, { url: server.url, tokens, call: CALLS.transfer });
  t.strictSame(found, { ...HOLDS, principal: "inconclusive" });
});

t.test("another target that asks for nothing shows nothing", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const call = { ...CALLS.transfer, otherTarget: { target: "balance", arguments: {} } };
  const found = await verdictsOf(BINDING_CHECKS, { ...server, call });
  t.strictSame(found, { ...HOLDS, target: "inconclusive" });
});

t.test("without an honest retry that works nothing counts as bound", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const call = { ...CALLS.transfer };
  const found = await verdictsOf(BINDING_CHECKS, { ...server, call, map: false });
  t.equal(Object.values(found).includes("pass"), false);
});

t.test("where the plan does not allow to accept, bindings are tried with refusals", async (t) => {
  const server = await startBreakableServer();
  open.push(server);
  const call = { ...CALLS.transfer, complete: false };
  t.strictSame(await verdictsOf(BINDING_CHECKS, { ...server, call }), HOLDS);
  t.equal(server.effects.length, 0);
});

t.test("a refusal that is answered without a look at the state is no state that was taken", async (t) => {
  const server = await startBreakableServer({ broken: ["other-principal"] });
  open.push(server);
  const call = { ...CALLS.transfer, complete: false };
  t.strictSame(await verdictsOf(BINDING_CHECKS, { ...server, call }), { ...HOLDS, principal: "warn" });
});
