/**
 * Approval in front of servers that ask nobody anything, with the real SDK clients. In every case what the server carried out is
 * counted: nothing before the user agreed, everything once.
 */
import { isInputRequiredResult } from "@modelcontextprotocol/client";
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type PlainServer, startPlainServer } from "../support/plain-server.ts";
import { anyRedis } from "../support/redis.ts";
import { type Action, connectSdkClient, outcome, type SdkClient } from "../support/sdk-client.ts";

process.env["SG_TEST_APPROVAL_KEY"] = "an operator's secret of more than 32 bytes";

const approve = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  authorization: { default: "allow", policies: [{ id: "ask", effect: "approve", ...more }] },
});

async function open(
  t: Test,
  sections: Record<string, unknown>,
  options: Parameters<typeof startPlainServer>[0] = {},
): Promise<{ readonly server: PlainServer; readonly gateway: TestGateway }> {
  const server = await startPlainServer(options);
  t.teardown(() => server.close());
  const gateway = await startGateway(server.url, sections);
  t.teardown(() => gateway.close(0));
  return { server, gateway };
}

async function connect(t: Test, gateway: TestGateway, options: Parameters<typeof connectSdkClient>[1] = {}) {
  const made = await connectSdkClient(`${gateway.url}/mcp`, options);
  t.teardown(() => made.client.close());
  return made;
}

const CALLS = {
  "tools/call": {
    run: ({ client }: SdkClient) => client.callTool({ name: "delete_file", arguments: { path: "/a" } }),
    ran: { name: "delete_file", given: { path: "/a" } },
  },
  "prompts/get": {
    run: ({ client }: SdkClient) => client.getPrompt({ name: "brief", arguments: { topic: "Zoë" } }),
    ran: { name: "brief", given: { topic: "Zoë" } },
  },
  "resources/read": {
    run: ({ client }: SdkClient) => client.readResource({ uri: "note://plan" }),
    ran: { name: "plan", given: "note://plan" },
  },
} as const;

for (const responseMode of ["auto", "sse", "json"] as const) {
  t.test(`the user is asked by the SDK client itself; the server answers by ${responseMode}`, async (t) => {
    const { server, gateway } = await open(t, approve(), { responseMode });
    for (const [method, { run, ran }] of Object.entries(CALLS)) {
      for (const action of ["accept", "decline", "cancel"] as const satisfies readonly Action[]) {
        const made = await connect(t, gateway, { action });
        const before = server.ran.length;
        const came = await outcome(run(made));
        t.equal(made.asked.length, 1, `${method}: asked once`);
        t.match(made.asked, [{ mode: "form", message: /Approve this call\?/ }]);
        if (action === "accept") {
          t.same(server.ran.slice(before), [ran], `${method}: carried out once, as it was called`);
          t.notMatch(came, { error: {} });
        } else {
          t.equal(server.ran.length, before, `${method} ${action}: nothing was carried out`);
          if (method === "tools/call")
            t.match(came, { result: { isError: true, content: [{ type: "text" }] } });
          else t.match(came, { error: { code: -32603, data: { reason: "approval_declined" } } });
        }
      }
    }
  });
}

t.test("rounds by hand: the server hears nothing before, and gets the first call", async (t) => {
  const { server, gateway } = await open(t, approve({ tools: ["delete_file"] }));
  const made = await connect(t, gateway, { autoFulfill: false });
  const call = { name: "delete_file", arguments: { path: "/a" } };
  const before = server.requests();
  const leg = await made.client.callTool(call, { allowInputRequired: true });
  t.equal(server.requests(), before, "not one request went up");
  t.ok(isInputRequiredResult(leg));
  const { requestState, inputRequests } = leg as { requestState?: string; inputRequests?: object };
  t.same(Object.keys(inputRequests ?? {}), ["approval"]);
  const round = { requestState, inputResponses: { approval: { action: "accept", content: {} } } };
  const done = await made.client.callTool({ ...call, ...(round as object) });
  t.match(done, { content: [{ text: "delete_file done" }] });
  t.same(server.ran, [{ name: "delete_file", given: { path: "/a" } }]);
  t.equal(server.requests(), before + 1);
});

t.test(
  "the server's own question follows in the same chain, under the same key, and nobody is asked twice",
  async (t) => {
    const { server, gateway } = await open(t, approve({ tools: ["deploy"] }));
    const made = await connect(t, gateway);
    const messages: string[] = [];
    made.client.setRequestHandler("elicitation/create", ({ params }) => {
      messages.push(params.message);
      return { action: "accept", content: { branch: "main" } };
    });
    const came = await outcome(made.client.callTool({ name: "deploy", arguments: { to: "prod" } }));
    t.match(came, { result: { content: [{ text: "deploy done" }] } });
    t.match(messages, [/Approve this call\?/, /^Which branch\?$/]);
    t.same(server.ran, [
      {
        name: "deploy",
        given: {
          to: "prod",
          inputResponses: { approval: { action: "accept", content: { branch: "main" } } },
        },
      },
    ]);
    const records = gateway.audit.filter(({ method }) => method === "tools/call");
    t.match(records, [
      { outcome: "input_required", round: 1, approval: { policies: ["ask"] } },
      { outcome: "input_required", round: 2, approval: { action: "accept" } },
      { outcome: "complete", round: 2, approval: { policies: ["ask"] } },
    ]);
    t.equal(new Set(records.map(({ chain }) => chain)).size, 1, "one chain");
    t.equal(records[2]?.approval?.action, undefined, "the last answer was the server's");
  },
);

t.test("the question counts as a round, and the time of the chain begins with it", async (t) => {
  const { server, gateway } = await open(t, {
    ...approve({ tools: ["deploy"] }),
    roundTrip: { maxRounds: 11, maxAge: "1m" },
  });
  const params = { name: "deploy", arguments: { to: "prod" } };
  const first = await gateway.call({ method: "tools/call", params });
  const yes = { approval: { action: "accept", content: {} } };
  gateway.clock.now += 30_000;
  const second = await gateway.call({
    method: "tools/call",
    params: { ...params, requestState: first.json.result.requestState, inputResponses: yes },
  });
  t.match(second.json, { result: { resultType: "input_required" } });
  gateway.clock.now += 40_000;
  const branch = { approval: { action: "accept", content: { branch: "main" } } };
  const third = await gateway.call({
    method: "tools/call",
    params: { ...params, requestState: second.json.result.requestState, inputResponses: branch },
  });
  t.match(third.json, { error: { data: { reason: "invalid_request_state" } } });
  t.same(server.ran, []);
});

for (const store of ["memory", "redis"] as const) {
  t.test(`${store}: twenty copies of a yes run once, on two replicas where they share a store`, async (t) => {
    const shared = store === "redis" ? await anyRedis(t) : undefined;
    const sections = {
      ...approve({ tools: ["delete_*"] }),
      ...(shared === undefined
        ? {}
        : {
            redis: shared,
            redemption: { store: "redis" },
            keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_TEST_APPROVAL_KEY" } }] },
          }),
    };
    const { server, gateway } = await open(t, sections);
    const second = shared === undefined ? gateway : await startGateway(server.url, sections);
    if (second !== gateway) t.teardown(() => second.close(0));
    const params = { name: "delete_file", arguments: { path: "/a" } };
    let asked = await gateway.call({ method: "tools/call", params });
    // A gateway promises no state before it has read the store's epoch.
    while (asked.status === 503) asked = await gateway.call({ method: "tools/call", params });
    while ((await second.call({ method: "tools/call", params })).status === 503);
    const requestState = asked.json.result.requestState;
    const inputResponses = { approval: { action: "accept", content: {} } };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? gateway : second).call({
          id: `copy-${i}`,
          method: "tools/call",
          params: { ...params, requestState, inputResponses },
        }),
      ),
    );
    t.equal(server.ran.length, 1);
    t.equal(replies.filter(({ json }) => json.result !== undefined).length, 1);
    t.equal(replies.filter(({ json }) => json.error?.data.reason === "already_redeemed").length, 19);
  });
}

t.test("a client that cannot be asked by form is told what to declare", async (t) => {
  const { server, gateway } = await open(t, approve());
  const params = { name: "delete_file", arguments: { path: "/a" } };
  for (const capabilities of [{}, { elicitation: { url: {} } }, { sampling: {} }]) {
    const reply = await gateway.call({ method: "tools/call", params }, { capabilities });
    t.match(reply, {
      status: 400,
      json: { error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
    });
  }
  const policy = await gateway.configure({ capability: { allow: ["roots"] } });
  t.ok(policy);
  const asked = await gateway.call({ method: "tools/call", params }, { capabilities: { elicitation: {} } });
  t.match(asked.json, { result: { resultType: "input_required" } }, "what servers may ask is another matter");
  t.equal(server.requests(), 0);
});

t.test("what the audit record and the metrics say", async (t) => {
  const { server, gateway } = await open(t, {
    ...approve({ tools: ["pay"], approval: { fields: [{ name: "reason", audit: true }, { name: "note" }] } }),
    admin: { listen: "127.0.0.1:0" },
  });
  const params = { name: "pay", arguments: { to: "DE89 3704", amount: 5 } };
  const ask = async () => {
    const reply = await gateway.call({ method: "tools/call", params });
    return (inputResponses: object) =>
      gateway.call({
        method: "tools/call",
        params: { ...params, requestState: reply.json.result.requestState, inputResponses },
      });
  };
  const content = { reason: "rent", note: "SECRET NOTE" };
  await (await ask())({ approval: { action: "accept", content } });
  await (await ask())({ approval: { action: "decline" } });
  await (await ask())({ approval: { action: "cancel" } });
  t.equal(server.ran.length, 1);
  const digest = /^[A-Za-z0-9_-]{43}$/;
  const shown = { policies: ["ask"], message: digest, schema: digest };
  t.match(gateway.audit, [
    { outcome: "input_required", approval: shown, asked: ["form"], round: 1, target: { name: "pay" } },
    {
      outcome: "complete",
      approval: { ...shown, action: "accept", fields: { reason: "rent" } },
      state: "redeemed",
    },
    { outcome: "input_required" },
    {
      outcome: "refused",
      code: "approval_declined",
      cause: "decline",
      approval: { action: "decline" },
      state: "redeemed",
    },
    { outcome: "input_required" },
    { outcome: "refused", code: "approval_declined", cause: "cancel", approval: { action: "cancel" } },
  ]);
  t.equal(gateway.audit[0]?.approval?.message, gateway.audit[1]?.approval?.message, "the same words");
  t.notMatch(JSON.stringify(gateway.audit), /SECRET NOTE|DE89 /);
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  for (const [result, count] of [
    ["asked", 3],
    ["accept", 1],
    ["decline", 1],
    ["cancel", 1],
  ] as const) {
    t.match(metrics, `sealgate_approvals_total{policy="ask",outcome="${result}"} ${count}`);
  }
});
