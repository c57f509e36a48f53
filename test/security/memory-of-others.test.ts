/**
 * Memory that others could fill: bodies nobody will read, answers nobody takes, pipelines without end.
 * Bounded by places (server.limits.inFlight), not by what clients care to send.
 */
import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { mirrored, startGateway, type TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { type Arrived, result, type Script, startUpstream } from "../support/upstream.ts";

const CALL = { method: "tools/call", params: { name: "x" } };
const META =
  '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const body = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"_meta":${META},"name":"x"}}`;

async function open(t: Test, script: Script, inFlight: number, bytes = "4MiB"): Promise<TestGateway> {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    server: { ...LISTEN, limits: { inFlight, body: bytes } },
    admin: { listen: "127.0.0.1:0" },
  });
  t.teardown(() => gateway.close(0));
  return gateway;
}

const LISTEN = {
  listen: "127.0.0.1:0",
  publicUrl: "http://gateway.test",
  allowedHosts: ["127.0.0.1", "gateway.test"],
};

function dial(t: Test, gateway: TestGateway): Promise<Socket> {
  const { port } = new URL(gateway.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  t.teardown(() => socket.destroy());
  return new Promise((resolve) => socket.once("connect", () => resolve(socket)));
}

const head = (path: string, length: number, more = ""): string => {
  const lines = Object.entries(mirrored(CALL)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join("")}${more}Content-Length: ${length}\r\n\r\n`;
};

/** What the gateway said first on a connection. */
const firstWords = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once("data", (bytes: Buffer) => resolve(bytes.toString())));

t.test(
  "a path that is not served, and a spelling of one that is, are refused before their body",
  async (t) => {
    const gateway = await open(t, (arrived, response) => result(arrived, response, "{}"), 4);
    for (const path of ["/nothing", "/mcp/", "/%6d%63p", "/mcp%2f", "//mcp"]) {
      const socket = await dial(t, gateway);
      const said = firstWords(socket);
      socket.write(head(path, 4_000_000));
      t.match(await said, /^HTTP\/1\.1 404 [\s\S]*not_found/, path);
    }
    for (const path of ["/mcp", "/mcp?x=1", "http://gateway.test/mcp"]) {
      const socket = await dial(t, gateway);
      const said = firstWords(socket);
      socket.write(head(path, body(1).length) + body(1));
      t.match(await said, /^HTTP\/1\.1 200 /, path);
    }
  },
);

t.test("a wrong host is refused before its body, also where nothing is served", async (t) => {
  const gateway = await open(t, (arrived, response) => result(arrived, response, "{}"), 4);
  for (const path of ["/mcp", "/nothing"]) {
    const socket = await dial(t, gateway);
    const said = firstWords(socket);
    socket.write(head(path, 4_000_000).replace("Host: 127.0.0.1", "Host: evil.example"));
    t.match(await said, /^HTTP\/1\.1 421 /, path);
  }
});

t.test("bodies that never come take places, and no more than there are", async (t) => {
  const gateway = await open(t, (arrived, response) => result(arrived, response, "{}"), 2);
  const slow = [await dial(t, gateway), await dial(t, gateway)];
  for (const socket of slow) socket.write(`${head("/mcp", 4_000_000, "Expect: 100-continue\r\n")}`);
  // The invitation says that the place is taken.
  for (const socket of slow) t.match(await firstWords(socket), /^HTTP\/1\.1 100 /);
  t.match(await gateway.call(CALL), {
    status: 429,
    json: { error: { data: { reason: "too_many_requests" } } },
  });
  const left = new Promise((resolve) => slow[0]?.once("close", resolve));
  slow[0]?.destroy();
  await left;
  await until(async () => (await gateway.call(CALL)).status === 200);
  t.equal((await gateway.call(CALL)).status, 200, "a place that is left is free");
});

t.test("an answer that nobody reads keeps its place until its reader has gone", async (t) => {
  const big = `{"content":[{"type":"text","text":"${"x".repeat(60_000_000)}"}]}`;
  const gateway = await open(t, (arrived, response) => result(arrived, response, big), 1, "64MiB");
  const socket = await dial(t, gateway);
  socket.pause();
  socket.write(head("/mcp", body(1).length) + body(1));
  await until(async () => gateway.audit.some(({ outcome }) => outcome === "complete"));
  t.match(await gateway.call(CALL), { status: 429 });
  socket.destroy();
  await until(async () => (await gateway.call(CALL)).status === 200);
});

t.test("a pipeline is served up to a depth; one without end is cut off", async (t) => {
  const held: (() => void)[] = [];
  const script = (arrived: Arrived, response: Parameters<Script>[1]): void => {
    held.push(() => result(arrived, response, "{}"));
  };
  const gateway = await open(t, script, 1024);
  const socket = await dial(t, gateway);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write((head("/mcp", body(1).length) + body(1)).repeat(400));
  await closed;
  t.ok(held.length <= 16, `${held.length} went up`);
  await until(async () => /sealgate_in_flight\{kind="request"\} 0/.test(await metrics(gateway)));
  t.pass("and every place is free again");
});

async function metrics(gateway: TestGateway): Promise<string> {
  return (await fetch(`${gateway.adminUrl}/metrics`)).text();
}
