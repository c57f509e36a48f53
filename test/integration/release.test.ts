/** What was redeemed is given back only if the upstream surely got nothing; after the first byte it is spent for good. */
import { createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startRelay } from "../support/relay.ts";
import { until } from "../support/until.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, holding, INNER, retryOf, stateOf, TRANSFER } from "./rounds.ts";

async function open(t: Test, settings: Record<string, unknown> = {}) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const port = Number(new URL(upstream.url).port);
  const relay = await startRelay(t, port);
  const url = `http://127.0.0.1:${relay.port}/mcp`;
  const gateway = await startGateway(url, { routes: [{ path: "/mcp", upstream: { url, ...settings } }] });
  t.teardown(() => gateway.close(0));
  return { upstream, gateway, relay };
}

const reason = async (gateway: TestGateway, state: string): Promise<unknown> =>
  (await gateway.call(retryOf(state))).json.error?.data.reason;

const answerStatus =
  (status: number): Script =>
  (_arrived, response) => {
    response.writeHead(status).end("no");
  };

/** A listener of one's own that does as told with every connection. */
async function listener(t: Test, port: number, onConnection: (socket: Socket) => void): Promise<() => void> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = (): void => void server.close();
  t.teardown(close);
  return close;
}

t.test("connection refused: released, and good once the upstream is back", async (t) => {
  const held = await startUpstream(asksOnce);
  const port = Number(new URL(held.url).port);
  const gateway = await startGateway(held.url);
  t.teardown(() => gateway.close(0));
  const state = stateOf(await gateway.call(TRANSFER));
  await held.close();
  for (let tries = 0; tries < 3; tries++) {
    const reply = await gateway.call(retryOf(state));
    t.match(reply, { status: 502, json: { error: { data: { reason: "upstream_unreachable" } } } });
    t.match(gateway.audit.at(-1), { state: "released", cause: "connection_refused" });
  }
  let asked = "";
  const close = await listener(t, port, (socket) => {
    socket.on("data", (chunk) => {
      asked += chunk.toString();
      if (!asked.includes(INNER)) return;
      const id = /"id":(\d+)/.exec(asked)?.[1];
      const body = `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[]}}`;
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  t.equal(await reason(gateway, state), undefined);
  t.equal(gateway.audit.at(-1)?.state, "redeemed");
  close();
  t.equal(await reason(gateway, state), "already_redeemed");
});

t.test("cut after the first byte: spent, and it says so", async (t) => {
  const { gateway, relay, upstream } = await open(t);
  const state = stateOf(await gateway.call(TRANSFER));
  relay.fate = (chunk) => (chunk.includes(INNER) ? "lose" : "pass");
  const reply = await gateway.call(retryOf(state));
  t.match(reply, { status: 502, json: { error: { data: { reason: "upstream_lost" } } } });
  t.match(gateway.audit.at(-1), { state: "redeemed", cause: "connection_lost" });
  relay.fate = () => "pass";
  t.equal(await reason(gateway, state), "already_redeemed");
  t.equal(upstream.arrived.length, 1);
});

t.test("the answer lost on its way: spent, and carried out once", async (t) => {
  const { gateway, relay, upstream } = await open(t);
  const state = stateOf(await gateway.call(TRANSFER));
  relay.fate = () => "lose-reply";
  t.equal(await reason(gateway, state), "upstream_lost");
  relay.fate = () => "pass";
  t.equal(await reason(gateway, state), "already_redeemed");
  t.equal(upstream.arrived.length, 2, "never sent again");
});

t.test("an upstream that answers with a fault, an error or too late: spent", async (t) => {
  const { gateway, upstream } = await open(t, { timeouts: { headers: "20ms" } });
  const held = holding();
  for (const [script, expected] of [
    [answerStatus(500), "upstream_fault"],
    [answerStatus(401), "upstream_unauthorized"],
    [held.script, "upstream_timeout"],
  ] as const) {
    upstream.script = asksOnce;
    const state = stateOf(await gateway.call(TRANSFER));
    upstream.script = script;
    t.equal(await reason(gateway, state), expected);
    upstream.script = asksOnce;
    t.equal(await reason(gateway, state), "already_redeemed");
  }
});

t.test("a client that leaves once its retry was sent: spent", async (t) => {
  const { gateway, upstream } = await open(t);
  const held = holding();
  const state = stateOf(await gateway.call(TRANSFER));
  upstream.script = held.script;
  const leaving = new AbortController();
  const left = gateway.call(retryOf(state), { signal: leaving.signal }).catch(() => undefined);
  const { arrived } = await held.next();
  leaving.abort();
  await left;
  await arrived.closed;
  await until(() => gateway.audit.length === 2);
  t.match(gateway.audit.at(-1), { outcome: "cancelled", state: "redeemed" });
  t.equal(await reason(gateway, state), "already_redeemed");
});
