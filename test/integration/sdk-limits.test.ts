/** Limits and the SDK client: its own round trips fit into the smallest window, and a refusal is an error it can tell. */
import t from "tap";
import { startGateway } from "../support/gateway.ts";
import { connectSdkClient, createSdkClient, describe, outcome } from "../support/sdk-client.ts";
import { FLOWS, startSdkServer } from "../support/sdk-server.ts";

const per = "1h";

t.test(
  "every flow of a user is one request, whatever rounds it takes, a state without questions among them",
  async (t) => {
    const server = await startSdkServer({ responseMode: "auto" });
    t.teardown(() => server.close());
    for (const flow of Object.keys(FLOWS)) {
      // Discovery, and one call.
      const gateway = await startGateway(server.url, {
        limits: { perPrincipal: { requests: { points: 2, per }, concurrent: 1, openRounds: 1 } },
      });
      const { client, answers } = await connectSdkClient(`${gateway.url}/mcp`);
      const call = () => outcome(client.callTool({ name: flow, arguments: { amount: 10.5 } }));
      const came = await call();
      t.notMatch(JSON.stringify(came), /limits\.perPrincipal/, flow);
      t.notOk(
        answers.some(({ status }) => status === 429 || status === 503),
        `${flow}: ${JSON.stringify(answers)}`,
      );
      await client.close();
      await gateway.close(0);
    }
  },
);

t.test("over the limit a call fails, the client stays, and goes on in the next window", async (t) => {
  const server = await startSdkServer({ responseMode: "auto" });
  t.teardown(() => server.close());
  const gateway = await startGateway(server.url, {
    limits: { perPrincipal: { requests: { points: 3, per } } },
  });
  t.teardown(() => gateway.close(0));
  const { client } = await connectSdkClient(`${gateway.url}/mcp`);
  t.teardown(() => client.close());
  for (let i = 0; i < 2; i++) t.ok((await client.listTools()).tools.length > 0);
  const error = describe(await client.listTools().catch((thrown: unknown) => thrown));
  t.match(JSON.stringify(error), /limits\.perPrincipal\.requests|429/);
  t.ok(await gateway.configure({ limits: { perPrincipal: { requests: { points: 30, per } } } }));
  t.ok((await client.listTools()).tools.length > 0);
});

t.test(
  "a client that negotiates while over the limit does not take the gateway for an old server",
  async (t) => {
    const server = await startSdkServer({ responseMode: "auto" });
    t.teardown(() => server.close());
    const gateway = await startGateway(server.url, {
      limits: { perPrincipal: { requests: { points: 1, per } } },
      routes: [{ path: "/mcp", upstream: { url: server.url }, legacy: "pass" }],
    });
    t.teardown(() => gateway.close(0));
    await gateway.call({ method: "tools/list" });
    const { client, transport, answers } = createSdkClient(`${gateway.url}/mcp`, { mode: "auto" });
    const error = describe(await client.connect(transport).catch((thrown: unknown) => thrown));
    t.match(error, { name: /Error/ });
    t.same(
      answers.map(({ status }) => status),
      [503],
      "one request, and no handshake after it",
    );
  },
);
