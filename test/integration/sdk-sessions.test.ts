/** An old, session-keeping SDK server behind a route with `legacy: pass`. */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { createSdkClient, outcome, type SdkClient, type SdkClientOptions } from "../support/sdk-client.ts";
import { startSdkSessionServer } from "../support/sdk-session-server.ts";

async function setUp(t: Test, options: SdkClientOptions) {
  const server = await startSdkSessionServer();
  const gateway = await startGateway(server.url, {
    routes: [{ path: "/mcp", upstream: { url: server.url }, legacy: "pass" }],
  });
  const direct = createSdkClient(server.url, options);
  const through = createSdkClient(`${gateway.url}/mcp`, options);
  t.teardown(async () => {
    await direct.client.close();
    await through.client.close();
    await gateway.close(0);
    await server.close();
  });
  return { server, gateway, direct, through };
}

async function ask(made: SdkClient) {
  await made.client.connect(made.transport);
  const result = await made.client.callTool({ name: "ask", arguments: { amount: 3 } });
  return { result, asked: made.asked, version: made.client.getNegotiatedProtocolVersion() };
}

for (const mode of ["legacy", "auto"] as const) {
  t.test(`mode ${mode}: session, question as a request of the server, answer`, async (t) => {
    const { server, direct, through } = await setUp(t, { mode });
    const expected = await ask(direct);
    t.match(expected, { version: "2025-11-25", asked: [{ message: "Transfer 3?" }] });
    t.same(await ask(through), expected);
    t.equal(server.sessions.size, 2);
    t.ok(server.sessions.has(through.transport.sessionId ?? ""), "the session is the server's own");
  });
}

t.test("a pin to the modern revision fails against it", async (t) => {
  const { through } = await setUp(t, { mode: { pin: "2026-07-28" } });
  await t.rejects(through.client.connect(through.transport), { name: /Error/ });
});

t.test("the GET stream brings notifications, the DELETE ends the session", async (t) => {
  const { server, through } = await setUp(t, { mode: "legacy" });
  await through.client.connect(through.transport);
  const changed = new Promise<void>((resolve) => {
    through.client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
  });
  const id = through.transport.sessionId ?? "";
  const isOpen = (): boolean =>
    through.answers.some(({ type }, index) => index > 0 && type === "text/event-stream");
  while (!isOpen()) await through.answered();
  server.sessions.get(id)?.sendToolListChanged();
  await changed;
  await through.transport.terminateSession();
  t.equal(server.sessions.size, 0);
});

t.test("a lost session is told apart from every other error", async (t) => {
  const { server, direct, through } = await setUp(t, { mode: "legacy" });
  const [expected, came] = await Promise.all(
    [direct, through].map(async (made) => {
      await made.client.connect(made.transport);
      // The server forgets; the client still has its id.
      const id = made.transport.sessionId ?? "";
      server.forget(id);
      return outcome(made.client.listTools());
    }),
  );
  t.match(expected, { error: { code: "CLIENT_HTTP_NOT_IMPLEMENTED" } });
  t.same(came, expected);
  t.same(through.answers.at(-1), direct.answers.at(-1));
});

t.test("a stream that the server breaks off is resumed by the last event's id", async (t) => {
  const { direct, through } = await setUp(t, { mode: "legacy" });
  const [expected, came] = await Promise.all(
    [direct, through].map(async (made) => {
      await made.client.connect(made.transport);
      return outcome(made.client.callTool({ name: "poll", arguments: {} }));
    }),
  );
  t.match(expected, { result: { content: [{ text: "after the stream was closed" }] } });
  t.same(came, expected);
});

t.test("mode auto hears from a route that refuses legacy traffic what to set", async (t) => {
  const server = await startSdkSessionServer();
  const gateway = await startGateway(server.url);
  t.teardown(async () => {
    await gateway.close(0);
    await server.close();
  });
  const { client, transport } = createSdkClient(`${gateway.url}/mcp`, { mode: "auto" });
  await t.rejects(client.connect(transport), { message: /legacy: pass/ });
  t.equal(server.sessions.size, 0);
});
