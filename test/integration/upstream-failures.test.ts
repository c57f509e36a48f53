/**
 * Every way an upstream can fail under a retry, and what becomes of its state: the table of docs/redemption.md, row by row.
 * Each row counts what the server really carried out; no row may come to more than one run.
 */
import { spawn } from "node:child_process";
import dns from "node:dns";
import { readFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import t, { type Test } from "tap";
import { selfSigned } from "../support/certificates.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type Fate, startRelay } from "../support/relay.ts";
import { until } from "../support/until.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, INNER, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

/** A row as it is written: what goes wrong, what the client is told, the cause in audit, what becomes of the state. */
type Row = readonly [failure: string, told: string, cause: string, state: "given back" | "spent" | "kept"];

const AUDITED = { "given back": "released", spent: "redeemed", kept: "opened" } as const;

/** A gateway before a relay before a server, in which a retry can be made to fail. */
interface Scene {
  readonly gateway: TestGateway;
  /** Retries that the server carried out. */
  runs(): number;
  /** From now on the network and the server are well. */
  heal(): void | Promise<void>;
}

/** What makes the retry fail: is given a scene in which round 1 has been answered. */
type Failing = (t: Test) => Promise<{ scene: Scene; state: string; retry?: () => Promise<unknown> }>;

async function overTcp(
  t: Test,
  fail: { readonly fate?: (chunk: string) => Fate; readonly script?: Script },
  settings: Record<string, unknown> = {},
): Promise<{ scene: Scene; state: string }> {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const relay = await startRelay(t, Number(new URL(upstream.url).port));
  const url = `http://127.0.0.1:${relay.port}/mcp`;
  const gateway = await startGateway(url, { routes: [{ path: "/mcp", upstream: { url, ...settings } }] });
  t.teardown(() => gateway.close(0));
  const state = stateOf(await gateway.call(TRANSFER));
  if (fail.fate !== undefined) relay.fate = fail.fate;
  if (fail.script !== undefined) upstream.script = fail.script;
  const scene: Scene = {
    gateway,
    runs: () => upstream.arrived.filter(isRetry).length,
    heal() {
      relay.fate = () => "pass";
      upstream.script = asksOnce;
    },
  };
  return { scene, state };
}

/** Answers a retry with raw bytes and then ends the connection in the middle of them. */
const half =
  (head: Record<string, string>, text: string): Script =>
  (_arrived, response) => {
    response.writeHead(200, head);
    response.write(text, () => response.socket?.destroy());
  };

const status =
  (code: number, headers: Record<string, string> = {}): Script =>
  (_arrived, response) => {
    response.writeHead(code, headers).end("no");
  };

/** A server that is not there, and is there again on the same port. */
const refused: Failing = async (t) => {
  const first = await startUpstream(asksOnce);
  const port = Number(new URL(first.url).port);
  const gateway = await startGateway(first.url);
  t.teardown(() => gateway.close(0));
  const state = stateOf(await gateway.call(TRANSFER));
  await first.close();
  const second = await startUpstream(asksOnce);
  t.teardown(() => second.close());
  const heal = async (): Promise<void> => {
    const relay = createServer((socket) => forward(socket, Number(new URL(second.url).port)));
    await listenOn(t, relay, port);
  };
  return { scene: { gateway, runs: () => second.arrived.filter(isRetry).length, heal }, state };
};

function forward(socket: Socket, port: number): void {
  const other = connect(port, "127.0.0.1");
  socket.pipe(other).pipe(socket);
  for (const end of [socket, other]) end.on("error", () => end.destroy());
}

async function listenOn(t: Test, server: Server, port: number): Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

/** A name that leads to the server, then to nothing, or to a host that takes no connection, then to the server again. */
const overName =
  (trouble: "unknown" | "stuck"): Failing =>
  async (t) => {
    const upstream = await startUpstream(asksOnce);
    t.teardown(() => upstream.close());
    const { port } = new URL(upstream.url);
    if (trouble === "stuck") await stuckListener(t, Number(port));
    let well = true;
    const { lookup } = dns;
    const patched = (host: string, options: unknown, done: (...args: unknown[]) => void): void => {
      if (host !== "upstream.test") return void Reflect.apply(lookup, dns, [host, options, done]);
      if (well || trouble === "stuck") done(null, [{ address: well ? "127.0.0.1" : STUCK, family: 4 }]);
      else done(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }));
    };
    dns.lookup = patched as typeof lookup;
    t.teardown(() => {
      dns.lookup = lookup;
    });
    const url = `http://upstream.test:${port}/mcp`;
    const gateway = await startGateway(url, {
      routes: [{ path: "/mcp", upstream: { url, timeouts: { connect: "50ms" } } }],
    });
    t.teardown(() => gateway.close(0));
    const state = stateOf(await gateway.call(TRANSFER));
    // The connection of round 1 is not one for retries, so the next one asks the name again.
    well = false;
    const heal = (): void => {
      well = true;
    };
    return { scene: { gateway, runs: () => upstream.arrived.filter(isRetry).length, heal }, state };
  };

/** Another address of loopback, on which the same port is free. */
const STUCK = "127.0.0.2";

/** A process that listens and was stopped; its queue is filled, so that the kernel completes no further connection. */
async function stuckListener(t: Test, port: number): Promise<void> {
  const program = `require("net").createServer().listen({ host: "${STUCK}", port: ${port}, backlog: 1 }, () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGSTOP");
  for (let n = 0; n < 8; n++) {
    const filler = connect(port, STUCK);
    filler.on("error", () => undefined);
    t.teardown(() => filler.destroy());
  }
}

/** An https server that shows one certificate in round 1 and another, or none, under the retry. */
const overTls =
  (trouble: "untrusted" | "cut"): Failing =>
  async (t) => {
    const [good, bad] = await Promise.all([selfSigned(t, ["IP:127.0.0.1"]), selfSigned(t, ["IP:127.0.0.1"])]);
    let runs = 0;
    let cutting = false;
    const server = createTlsServer({ cert: good.cert, key: good.key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const { id } = JSON.parse(text);
        const again = text.includes(INNER);
        if (again) runs += 1;
        response.writeHead(200, { "content-type": "application/json", connection: "close" });
        const result = again ? DONE : `{"resultType":"input_required","requestState":"${INNER}"}`;
        response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
      });
    });
    server.prependListener("connection", (socket: Socket) => {
      if (cutting) socket.resetAndDestroy();
    });
    server.on("tlsClientError", () => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const gateway = await startGateway(url, {
      routes: [{ path: "/mcp", upstream: { url, tls: { ca: { file: good.certFile } } } }],
    });
    t.teardown(() => gateway.close(0));
    const state = stateOf(await gateway.call(TRANSFER));
    if (trouble === "untrusted") server.setSecureContext({ cert: bad.cert, key: bad.key });
    else cutting = true;
    const heal = (): void => {
      cutting = false;
      server.setSecureContext({ cert: good.cert, key: good.key });
    };
    return { scene: { gateway, runs: () => runs, heal }, state };
  };

const clientLeaves: Failing = async (t) => {
  const held = holding();
  const made = await overTcp(t, { script: held.script });
  const { gateway } = made.scene;
  const leaving = new AbortController();
  const retry = async (): Promise<void> => {
    const left = gateway
      .call(retryOf(made.state), { signal: leaving.signal })
      .catch(() => undefined)
      .then(() => undefined);
    await held.next();
    leaving.abort();
    await left;
    await until(() => gateway.audit.length === 2);
  };
  return { ...made, retry };
};

const SCENES: ReadonlyMap<string, Failing> = new Map<string, Failing>([
  ["the connection is refused", refused],
  ["the name is not known", overName("unknown")],
  ["no connection comes about in time", overName("stuck")],
  ["its certificate is not trusted", overTls("untrusted")],
  ["the link breaks in the TLS handshake", overTls("cut")],
  [
    "the link breaks while the request is written",
    (t) => overTcp(t, { fate: (chunk) => (chunk.includes(INNER) ? "lose" : "pass") }),
  ],
  ["the link breaks before the first byte of the answer", (t) => overTcp(t, { fate: () => "lose-reply" })],
  [
    "the link breaks within the answer",
    (t) => overTcp(t, { script: half({ "content-type": "application/json", "content-length": "999" }, "{") }),
  ],
  [
    "a stream ends without the answer",
    (t) => overTcp(t, { script: half({ "content-type": "text/event-stream" }, ": begun\n\n") }),
  ],
  [
    "no answer comes in time",
    (t) => overTcp(t, { script: () => undefined }, { timeouts: { headers: "20ms" } }),
  ],
  [
    "the answer stops coming",
    (t) =>
      overTcp(
        t,
        {
          script: (_arrived, response) => {
            response.writeHead(200, { "content-type": "application/json", "content-length": "999" });
            response.write("{");
          },
        },
        { timeouts: { idle: "20ms" } },
      ),
  ],
  ["it answers with a fault of its own (500)", (t) => overTcp(t, { script: status(500) })],
  ["it is overloaded (503)", (t) => overTcp(t, { script: status(503, { "retry-after": "1" }) })],
  ["it does not accept the gateway's credential (401)", (t) => overTcp(t, { script: status(401) })],
  [
    "it points elsewhere (307)",
    (t) => overTcp(t, { script: status(307, { location: "http://127.0.0.1:9/mcp" }) }),
  ],
  [
    "it answers with something that is no HTTP",
    (t) => overTcp(t, { script: (_arrived, response) => void response.socket?.write("hello\r\n\r\n") }),
  ],
  [
    "it answers with something that is no JSON",
    (t) =>
      overTcp(t, {
        script: (_arrived, response) =>
          void response.writeHead(200, { "content-type": "application/json" }).end("<html>"),
      }),
  ],
  ["the client leaves once the request is sent", clientLeaves],
]);

/** The rows of the table, as they stand in the document. */
async function rows(): Promise<Row[]> {
  const page = await readFile(new URL("../../docs/redemption.md", import.meta.url), "utf8");
  const section = /## When the server fails\n(.*?)(?=\n## )/s.exec(page)?.[1] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (What|-)/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .map(([, failure, told, cause, state]) => [failure, told, cause, state] as unknown as Row);
}

t.test("every row of the table has its scene", async (t) => {
  const named = (await rows()).map(([failure]) => failure).sort();
  t.same(named, [...SCENES.keys()].sort());
});

t.test("the table holds", async (t) => {
  for (const [failure, told, cause, state] of await rows()) {
    await t.test(failure, async (t) => {
      const failing = SCENES.get(failure);
      if (failing === undefined) throw new Error("no scene");
      const { scene, state: token, retry } = await failing(t);
      const { gateway } = scene;
      const reply = await (retry === undefined ? gateway.call(retryOf(token)) : retry());
      if (told === "nothing") t.equal(reply, undefined);
      else t.match(reply, { json: { error: { data: { reason: told } } } });
      await until(() => gateway.audit.length === 2);
      t.match(gateway.audit[1], { state: AUDITED[state], cause });
      const carriedOut = scene.runs();
      t.ok(carriedOut <= 1);
      if (state === "given back") t.equal(carriedOut, 0, "the server surely got nothing");
      await scene.heal();
      const again = await gateway.call(retryOf(token));
      if (state === "spent") t.equal(again.json.error?.data.reason, "already_redeemed");
      else t.equal(again.json.result?.resultType, "complete");
      t.equal(scene.runs(), state === "spent" ? carriedOut : 1);
    });
  }
});

t.test("a kept connection that the server has shut is not used for a retry", async (t) => {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const relay = await startRelay(t, Number(new URL(upstream.url).port));
  const gateway = await startGateway(`http://127.0.0.1:${relay.port}/mcp`);
  t.teardown(() => gateway.close(0));
  for (let times = 1; times <= 3; times++) {
    // The call before it gives the gateway the turns in which it hears of the cut.
    relay.cut();
    const state = stateOf(await gateway.call(TRANSFER));
    t.equal((await gateway.call(retryOf(state))).json.result?.resultType, "complete");
    t.equal(upstream.arrived.filter(isRetry).length, times);
  }
});
