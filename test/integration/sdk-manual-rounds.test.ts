/** Rounds walked by hand with the SDK: the same results as direct, but for a state that says nothing. */
import type { InputRequiredResult } from "@modelcontextprotocol/client";
import { isInputRequiredResult } from "@modelcontextprotocol/client";
import t from "tap";
import { startGateway } from "../support/gateway.ts";
import { connectSdkClient, describe, outcome, type SdkClient } from "../support/sdk-client.ts";
import { FLOWS, startSdkServer } from "../support/sdk-server.ts";

const server = await startSdkServer();
const gateway = await startGateway(server.url);
t.teardown(async () => {
  await gateway.close(0);
  await server.close();
});

const ANSWERS: Record<string, Record<string, unknown>> = {
  form: { confirm: { action: "accept", content: { confirm: true } } },
  url: { "sign-in": { action: "accept" } },
  "three-rounds 1": { first: { action: "decline" } },
  "three-rounds 3": {
    last: { action: "accept" },
    extra: { action: "accept", content: { confirm: false, amount: 0.1 } },
  },
};

const call = async (
  { client }: SdkClient,
  name: string,
  round: Record<string, unknown> = {},
): Promise<InputRequiredResult | Record<string, unknown>> =>
  client.callTool({ name, arguments: { amount: 5 }, ...round }, { allowInputRequired: true });

/** Walks a flow; gives the result of every leg. */
async function walk(made: SdkClient, flow: string): Promise<Record<string, unknown>[]> {
  const legs: Record<string, unknown>[] = [];
  let leg = await call(made, flow);
  legs.push(leg);
  while (isInputRequiredResult(leg)) {
    const answers = ANSWERS[flow] ?? ANSWERS[`${flow} ${legs.length}`];
    leg = await call(made, flow, {
      ...(leg.requestState === undefined ? {} : { requestState: leg.requestState }),
      ...(answers === undefined || leg.inputRequests === undefined ? {} : { inputResponses: answers }),
    });
    legs.push(leg);
  }
  return legs;
}

for (const flow of ["form", "url", "state-only", "three-rounds"]) {
  t.test(flow, async (t) => {
    const [direct, through] = await Promise.all(
      [server.url, `${gateway.url}/mcp`].map(async (url) => {
        const made = await connectSdkClient(url, { autoFulfill: false });
        const legs = await walk(made, flow);
        await made.client.close();
        return legs;
      }),
    );
    const plain = (direct ?? []).map(({ requestState, ...rest }) => rest);
    t.same(
      (through ?? []).map(({ requestState, ...rest }) => rest),
      plain,
      "every leg but for its state",
    );
    t.equal(through?.length, (FLOWS[flow]?.length ?? 0) + 1);
    const states = (through ?? []).flatMap(({ requestState }) => requestState ?? []);
    t.equal(states.length, FLOWS[flow]?.length, "every round has a state, also where the server sent none");
    for (const state of states) t.match(state, /^sg1\.[A-Za-z0-9_-]+$/);
    t.equal(new Set(states).size, states.length);
  });
}

t.test("a call without allowInputRequired fails alike", async (t) => {
  const [direct, through] = await Promise.all(
    [server.url, `${gateway.url}/mcp`].map(async (url) => {
      const made = await connectSdkClient(url, { autoFulfill: false });
      const came = await outcome(made.client.callTool({ name: "form", arguments: { amount: 1 } }));
      await made.client.close();
      return came;
    }),
  );
  t.match(direct, { error: { name: "SdkError" } });
  t.same(through, direct);
});

t.test("refusals reach the SDK's caller as protocol errors", async (t) => {
  const made = await connectSdkClient(`${gateway.url}/mcp`, { autoFulfill: false });
  t.teardown(() => made.client.close());
  const first = await call(made, "form");
  const requestState = String(first["requestState"]);
  const inputResponses = ANSWERS["form"];
  const bad = { name: "ProtocolError", code: -32602, message: "Invalid or expired requestState" };
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ["edited", { requestState: `${requestState}x`, inputResponses }, bad],
    ["invented", { requestState: "come back" }, bad],
    ["answers alone", { inputResponses }, bad],
    [
      "answers of another kind",
      { requestState, inputResponses: { confirm: { roots: [] } } },
      { code: -32602, data: { reason: "invalid_input_responses" } },
    ],
  ];
  for (const [name, round, error] of cases) {
    t.match(describe(await call(made, "form", round).catch((thrown: unknown) => thrown)), error, name);
  }
  t.match(await call(made, "form", { requestState, inputResponses }), { content: [{ type: "text" }] });
  t.match(
    describe(await call(made, "form", { requestState, inputResponses }).catch((thrown: unknown) => thrown)),
    { name: "ProtocolError", code: -32602, data: { reason: "already_redeemed" } },
    "spent",
  );
});
