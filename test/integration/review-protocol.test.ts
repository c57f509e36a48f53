/** Checks of what holds of every request: each passes where its rule holds, and fails by the switch that breaks it and by no other. */
import t from "tap";
import type { Verdict } from "../../src/review/check.ts";
import { BINDING_CHECKS } from "../../src/review/checks/binding.ts";
import { PROTOCOL_CHECKS } from "../../src/review/checks/protocol.ts";
import { QUESTION_CHECKS } from "../../src/review/checks/question.ts";
import { STATE_CHECKS } from "../../src/review/checks/state.ts";
import type { Switch } from "../support/breakable-server.ts";
import { startGateway } from "../support/gateway.ts";
import { each, verdictsOf, verdictsOfBreakable } from "../support/review-verdicts.ts";
import { CALLS, plannedCall, type ReviewedOptions } from "../support/reviewed.ts";
import { FLOWS, startSdkServer } from "../support/sdk-server.ts";

const open: { close(): Promise<void> }[] = [];
t.afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const verdicts = (
  broken: readonly Switch[],
  options: Partial<ReviewedOptions> & Pick<ReviewedOptions, "call"> = { call: CALLS.transfer },
): Promise<Record<string, Verdict>> => verdictsOfBreakable(PROTOCOL_CHECKS, { broken }, options);

const HOLDS = each(PROTOCOL_CHECKS, "pass");

t.test("every check passes on a server that holds every rule, with a probe and without", async (t) => {
  for (const call of Object.values(CALLS)) t.strictSame(await verdicts([], { call }), HOLDS, call.name);
  t.strictSame(await verdicts([], { call: CALLS.transfer, probe: "balance" }), HOLDS);
});

/** Switch → the checks that it fails. */
const BREAKS: readonly (readonly [rule: Switch, changed: Record<string, Verdict>])[] = [
  ["asks-elsewhere", { "asks-elsewhere": "fail", "taken-elsewhere": "fail" }],
  ["state-elsewhere", { "taken-elsewhere": "fail" }],
  ["method-header", { "method-header": "fail" }],
  ["name-header", { "name-header": "fail" }],
  ["version-header", { "version-header": "fail" }],
  ["missing-headers", { "missing-headers": "fail" }],
  ["unknown-version", { "unknown-version": "fail" }],
  ["undefined-code", { "error-codes": "fail" }],
];

for (const [rule, changed] of BREAKS)
  t.test(
    `${rule} is found out by ${Object.keys(changed).join(", ")}, with a probe and without`,
    async (t) => {
      t.strictSame(await verdicts([rule]), { ...HOLDS, ...changed });
      const found = await verdicts([rule], { call: CALLS.transfer, probe: "balance" });
      t.strictSame(found, { ...HOLDS, ...changed });
    },
  );

t.test(
  "lists that leave a state aside cannot be told from those that take it, where it is good any number of times",
  async (t) => {
    t.strictSame(await verdicts(["replay"]), { ...HOLDS, "taken-elsewhere": "inconclusive" });
    t.strictSame(await verdicts(["replay"], { call: CALLS.transfer, probe: "balance" }), HOLDS);
  },
);

t.test("what rests on a question passes on no server that asks none", async (t) => {
  const call = { ...CALLS.transfer, target: "balance", arguments: {} };
  const found = await verdicts([], { call, map: false });
  for (const name of ["asks-elsewhere", "taken-elsewhere", "error-codes"])
    t.equal(found[name], "inconclusive", name);
});

const ALL = [...STATE_CHECKS, ...BINDING_CHECKS, ...QUESTION_CHECKS, ...PROTOCOL_CHECKS];
const SDK_FLOWS = Object.keys(FLOWS).filter((flow) => flow !== "empty-state");

/** A tool of the server on the SDK, unprotected or behind the gateway. */
async function sdkVerdicts(flow: string, isBehind: boolean): Promise<Record<string, Verdict>> {
  const sdk = await startSdkServer();
  const gateway = await startGateway(sdk.url);
  open.push(sdk, gateway);
  const other = flow === "url" ? "form" : "url";
  const call = plannedCall({
    target: flow,
    arguments: { amount: 10 },
    otherArguments: { amount: 11 },
    otherTarget: { target: other, arguments: { amount: 10 } },
    expiryMs: 600_000,
  });
  const wait = async (ms: number): Promise<boolean> => {
    gateway.clock.now += ms;
    return true;
  };
  return verdictsOf(ALL, { url: isBehind ? `${gateway.url}/mcp` : sdk.url, call, wait });
}

for (const flow of SDK_FLOWS)
  t.test(`behind the gateway nothing is to be said of the SDK's ${flow}`, async (t) => {
    for (const [name, verdict] of Object.entries(await sdkVerdicts(flow, true)))
      t.match(verdict, /^(?:pass|not_applicable)$/, name);
  });

t.test("without the gateway the known ones are found out", async (t) => {
  const found = await sdkVerdicts("form", false);
  const known = Object.entries(found).filter(([, verdict]) => !/^(?:pass|not_applicable)$/.test(verdict));
  t.strictSame(Object.fromEntries(known), {
    invented: "warn",
    tampered: "warn",
    spelling: "warn",
    readable: "warn",
    expiry: "fail",
    target: "warn",
    arguments: "fail",
    method: "warn",
    id: "warn",
    "taken-elsewhere": "inconclusive",
  });
});
