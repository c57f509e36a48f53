/** SIGTERM: what is in flight is served, streams end with a readable event, nobody can hold the process, exit 0. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { exchange, type Message, mirrored, PUBLIC_URL } from "../support/gateway.ts";
import { type GatewayProcess, startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { result, type Script, startUpstream } from "../support/upstream.ts";
import { DONE, holding, TRANSFER, textOf } from "./rounds.ts";

const LISTEN: Message = { method: "subscriptions/listen" };
const LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
const ACKNOWLEDGED = '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}';

async function open(
  t: Test,
  script: Script,
  {
    grace = "60s",
    legacy = "refuse",
    sections = {},
  }: { grace?: string; legacy?: string; sections?: object } = {},
): Promise<GatewayProcess> {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const routes = [{ path: "/mcp", upstream: { url: upstream.url }, legacy }];
  return startProcess(t, { routes, ...sections }, { shutdownGrace: grace });
}

const call = (gateway: GatewayProcess, message = TRANSFER, id = "1") =>
  exchange(gateway.url, { headers: mirrored(message), body: textOf(id, message) });
const draining = (gateway: GatewayProcess) => gateway.line(({ msg }) => msg === "draining");

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  t.test(`${signal}: the request in flight is served, a new one is refused, exit 0`, async (t) => {
    const held = holding();
    const audit = join(t.testdir({}), "audit.ndjson");
    const gateway = await open(t, held.script, {
      sections: { audit: { sinks: [{ type: "file", path: audit }] } },
    });
    const reply = call(gateway);
    const { arrived, response } = await held.next();
    gateway.kill(signal);
    await draining(gateway);
    t.match(await call(gateway), { status: 503, json: { error: { data: { reason: "shutting_down" } } } });
    result(arrived, response, DONE);
    t.match(await reply, { status: 200, json: { result: JSON.parse(DONE) } });
    t.equal(await gateway.ended, 0);
    t.ok(gateway.lines.some(({ msg }) => msg === "closed"));
    const records = readFileSync(audit, "utf8").trim().split("\n");
    t.same(
      records.map((line) => JSON.parse(line).outcome),
      ["refused", "complete"],
      "nothing of the audit is lost",
    );
  });
}

t.test("a listen stream ends at once, with a last event that says why", async (t) => {
  const gateway = await open(t, (_arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${ACKNOWLEDGED}\n\n`);
  });
  const reply = new Promise<string>((resolve, reject) => {
    const client = request(new URL("/mcp", gateway.url), { method: "POST", headers: mirrored(LISTEN) });
    client.on("error", reject).on("response", (response) => {
      let text = "";
      response.on("data", (piece: Buffer) => {
        if (text === "") gateway.kill("SIGTERM");
        text += piece.toString();
      });
      response.on("end", () => resolve(text)).on("error", reject);
    });
    client.end(textOf('"l\\u0031"', LISTEN));
  });
  const events = (await reply)
    .split("\n\n")
    .filter((event) => event.startsWith("data: ") || event.includes("\ndata: "));
  t.equal(events.length, 2);
  const last = events[1]?.replace(/^(?:event: message\n)?data: /, "") ?? "";
  t.match(last, /^\{"jsonrpc":"2\.0","id":"l\\u0031",/);
  t.match(JSON.parse(last), { id: "l1", error: { code: -32603, data: { reason: "shutting_down" } } });
  t.equal(await gateway.ended, 0);
});

t.test("the GET stream of a legacy session ends at once too", async (t) => {
  const gateway = await open(
    t,
    (_arrived, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`);
    },
    { legacy: "pass" },
  );
  const ended = new Promise<void>((resolve, reject) => {
    const client = request(new URL("/mcp", gateway.url), { headers: { accept: "text/event-stream" } });
    client.on("error", reject).on("response", (response) => {
      response.once("data", () => gateway.kill("SIGTERM"));
      response.on("end", resolve).on("error", reject).resume();
    });
    client.end();
  });
  await ended;
  t.equal(await gateway.ended, 0);
});

t.test("what was sent and takes longer than the grace is not told to be sent again", async (t) => {
  for (const head of [undefined, "json", "stream"] as const) {
    const held = holding();
    const gateway = await open(t, held.script, { grace: "100ms" });
    const reply = call(gateway, TRANSFER, '"slow"');
    const { arrived, response } = await held.next();
    if (head === "json") response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc"');
    if (head === "stream")
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${LOG}\n\n`);
    gateway.kill("SIGTERM");
    const { status, headers, json } = await reply;
    t.equal(status, head === "stream" ? 200 : 502, String(head));
    t.equal(headers["retry-after"], undefined);
    t.match(json, {
      id: "slow",
      error: { message: /outcome is not known/, data: { reason: "upstream_lost" } },
    });
    await arrived.closed;
    t.equal(await gateway.ended, 0);
    t.match(
      gateway.lines.find(({ type }) => type === "audit"),
      { outcome: "refused", code: "upstream_lost", cause: "shutdown" },
    );
  }
});

t.test("a second signal: what is left is ended, told and on record, exit 1", async (t) => {
  const audit = join(t.testdir({}), "audit.ndjson");
  const held = holding();
  const gateway = await open(t, held.script, {
    sections: { audit: { sinks: [{ type: "file", path: audit }] } },
  });
  const replies = ["1", "2"].map((id) => call(gateway, TRANSFER, id));
  await held.next();
  await held.next();
  gateway.kill("SIGTERM");
  await draining(gateway);
  gateway.kill("SIGINT");
  for (const reply of replies)
    t.match(await reply, { status: 502, json: { error: { data: { reason: "upstream_lost" } } } });
  t.equal(await gateway.ended, 1);
  t.match(
    gateway.lines.filter(({ msg }) => msg === "ended by a second signal"),
    [{ signal: "SIGINT", requests: 2 }],
  );
  const records = readFileSync(audit, "utf8").trim().split("\n");
  t.same(
    records.map((line) => JSON.parse(line).code),
    ["upstream_lost", "upstream_lost"],
  );
});

t.test("a second signal is bounded by no client that does not read", async (t) => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections += 1;
    t.teardown(() => socket.destroy());
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.teardown(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const routes = [{ path: "/mcp", upstream: { url: `http://127.0.0.1:${port}/mcp` }, legacy: "refuse" }];
  const gateway = await startProcess(t, { routes }, { shutdownGrace: "10m" });
  const client = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  t.teardown(() => client.destroy());
  client.on("error", () => undefined).pause();
  const body = textOf("1", TRANSFER);
  const head = Object.entries(mirrored(TRANSFER)).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n${head.join("")}content-length: ${body.length}\r\n\r\n${body}`,
  );
  await until(() => connections > 0);
  gateway.kill("SIGINT");
  await draining(gateway);
  gateway.kill("SIGINT");
  t.equal(await gateway.ended, 1);
});

t.test("a signal while it starts ends it with 0, before it listens", async (t) => {
  const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
  const config = join(t.testdir({}), "sealgate.yaml");
  const sections = {
    ...{ version: 1, server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL } },
    ...{ authentication: { mode: "anonymous" }, authorization: { default: "allow" } },
    routes: [{ path: "/mcp", upstream: { url: "http://127.0.0.1:9/mcp" } }],
  };
  writeFileSync(config, stringify(sections));
  const start = (...node: string[]) => {
    const args = [...node, main, "serve", "--config", config];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    t.teardown(() => child.kill("SIGKILL"));
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
    return { child, ended, out: text(child.stdout) };
  };
  for (const signal of ["SIGTERM", "SIGINT"]) {
    // In the moment in which somebody first wants to hear it, which is all that the first process of a container can have.
    const asSoonAsHeard = `let sent=false;process.on("newListener",(name)=>{if(name!=="${signal}"||sent)return;sent=true;setImmediate(()=>process.kill(process.pid,"${signal}"))})`;
    const { ended, out } = start("--import", `data:text/javascript,${asSoonAsHeard}`);
    t.equal(await ended, 0, signal);
    t.match(await out, `"signal":"${signal}"`);
    t.notMatch(await out, "sealgate is listening");
  }
  for (let time = 0; time < 3; time++) {
    const { child, ended } = start();
    await new Promise((resolve) => child.once("spawn", resolve));
    child.kill("SIGTERM");
    // Before Node runs a line of the program, the kernel decides.
    t.ok([0, "SIGTERM"].includes((await ended) as number));
  }
});

t.test("what was not sent when the grace ends may be sent again", async (t) => {
  // An upstream that takes connections and never speaks TLS.
  const silent = createServer((socket) => t.teardown(() => socket.destroy()));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.teardown(() => silent.close());
  const connected = new Promise((resolve) => silent.once("connection", resolve));
  const { port } = silent.address() as AddressInfo;
  const routes = [{ path: "/mcp", upstream: { url: `https://127.0.0.1:${port}/mcp` }, legacy: "refuse" }];
  const gateway = await startProcess(t, { routes }, { shutdownGrace: "100ms" });
  const reply = call(gateway);
  await connected;
  gateway.kill("SIGTERM");
  t.match(await reply, { status: 503, json: { error: { data: { reason: "shutting_down" } } } });
  t.equal(await gateway.ended, 0);
});

t.test("a client that does not read holds nobody beyond the grace", async (t) => {
  let flooded = (): void => undefined;
  const full = new Promise<void>((resolve) => {
    flooded = resolve;
  });
  const gateway = await open(
    t,
    (_arrived, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const event = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${"x".repeat(60_000)}"}}\n\n`;
      // Until the gateway takes no more, since its client does not.
      let written = 0;
      const more = (): void => {
        while (written++ < 2_000 && response.write(event));
        if (written >= 2_000) flooded();
      };
      response.on("drain", more).on("error", () => undefined);
      const stuck = setInterval(() => {
        if (response.writableNeedDrain) flooded();
      }, 200);
      response.on("close", () => clearInterval(stuck));
      more();
    },
    { grace: "100ms" },
  );
  const client = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  t.teardown(() => client.destroy());
  client.on("error", () => undefined).pause();
  const body = textOf("1", LISTEN);
  const head = Object.entries(mirrored(LISTEN)).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n${head.join("")}content-length: ${body.length}\r\n\r\n${body}`,
  );
  await full;
  gateway.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
});

t.test("an idle connection and half a request hold nobody", async (t) => {
  const gateway = await open(t, (arrived, response) => result(arrived, response, DONE), { grace: "100ms" });
  const port = Number(new URL(gateway.url).port);
  const half = connect(port, "127.0.0.1");
  const idle = connect(port, "127.0.0.1");
  t.teardown(() => [half, idle].map((socket) => socket.destroy()));
  for (const socket of [half, idle]) socket.on("error", () => undefined).resume();
  await new Promise<void>((resolve) =>
    half.write("POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncont", () => resolve()),
  );
  t.equal((await call(gateway)).status, 200);
  gateway.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
});
