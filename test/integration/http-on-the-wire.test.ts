/** Pipelines, HTTP/1.0, `Expect: 100-continue`, and the bytes that go up: what is served, in which order, in which framing. */
import { createServer } from "node:net";
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { BODY, call, chunked, head, openWire, type Wire } from "./raw-requests.ts";
import { ASK, answers, asksOnce, DONE, holding, retryOf, sendAs, stateOf, TRANSFER } from "./rounds.ts";
import { RESULT, STREAM } from "./streams.ts";

async function setUp(t: Test, script = asksOnce, sections: Record<string, unknown> = {}) {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  return { upstream, gateway, open: (): Wire => openWire(gateway.url) };
}

const named = (id: number): string => BODY.replace('"id":1,', `"id":${id},`);
const CLOSE = "Connection: close";

t.test("a pipeline is answered in its order, whatever order the server answers in", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script);
  const count = 12;
  const ids = Array.from({ length: count }, (_, i) => i + 1);
  const wire = open();
  wire.write(ids.map((id) => call(named(id), ...(id === count ? [CLOSE] : []))).join(""));
  const asked = await Promise.all(ids.map(() => held.next()));
  for (const { arrived, response } of asked.toReversed()) {
    const text = RESULT.replace('"id":1', `"id":${arrived.json.id}`);
    if (arrived.json.id % 2 === 0) response.writeHead(200, STREAM).end(`data: ${text}\n\n`);
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  }
  const back = await wire.closed;
  t.same(
    [...back.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)),
    ids,
  );
});

t.test("a refusal in the middle of a pipeline is an answer like any other", async (t) => {
  const { open, upstream } = await setUp(t, answers(DONE));
  const wire = open();
  wire.write(call(named(1)) + call("[]") + call(named(2), "Mcp-Name: twice") + call(named(3), CLOSE));
  const back = await wire.closed;
  t.same(
    [...back.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ["200", "400", "400", "200"],
  );
  t.same(
    upstream.arrived.map(({ json }) => json.id),
    [1, 3],
  );
});

t.test("HTTP/1.0 gets an answer that ends with the connection, as a body and as a stream", async (t) => {
  for (const stream of [false, true]) {
    const { open } = await setUp(t, (_arrived, response) => {
      if (stream) response.writeHead(200, STREAM).end(`: c\n\ndata: ${RESULT}\n\n`);
      else response.writeHead(200, { "content-type": "application/json" }).end(RESULT);
    });
    for (const lines of [[], ["Connection: keep-alive"]]) {
      const wire = open();
      wire.write(head([`Content-Length: ${BODY.length}`, ...lines], "1.0") + BODY);
      const ends = stream || lines.length === 0;
      await (ends ? wire.closed : wire.until('"done"}]}}'));
      const back = wire.text();
      const [top = "", body = ""] = back.split("\r\n\r\n");
      t.match(top, /^HTTP\/1\.1 200 OK\r\n/);
      t.notMatch(top, /transfer-encoding/i, "no chunks that it could not read");
      t.match(top, ends ? /connection: close/i : /connection: keep-alive/i);
      t.equal(body, stream ? `: keep-alive\n\nevent: message\ndata: ${RESULT}\n\n` : RESULT);
      wire.destroy();
    }
  }
});

t.test("a body is asked for once its head was judged", async (t) => {
  const { open, upstream } = await setUp(t);
  for (const framing of [`Content-Length: ${BODY.length}`, "Transfer-Encoding: chunked"]) {
    const wire = open();
    wire.write(head([framing, "Expect: 100-continue"]));
    await wire.until("\r\n\r\n");
    t.equal(wire.text(), "HTTP/1.1 100 Continue\r\n\r\n");
    wire.write(
      framing.startsWith("C") ? BODY : chunked(200).slice(head(["Transfer-Encoding: chunked"]).length),
    );
    await wire.until("input_required");
    t.notMatch(wire.text(), /connection: close/i);
    t.equal(upstream.arrived.at(-1)?.headers["expect"], undefined);
    wire.write(call(BODY, CLOSE));
    t.equal((await wire.closed).match(/HTTP\/1\.1 200/g)?.length, 2, "the connection is good for more");
  }
});

t.test("a body that will be refused is not asked for, and its connection closed", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { open, upstream } = await setUp(t, asksOnce, {
    server: {
      listen: "127.0.0.1:0",
      publicUrl: PUBLIC_URL,
      allowedHosts: ["127.0.0.1"],
      limits: { body: "1KiB" },
    },
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
  });
  const token = `Authorization: Bearer ${await issuer.token({ aud: `${PUBLIC_URL}/mcp` })}`;
  for (const [lines, status] of [
    [["Content-Length: 500"], 401],
    [["Content-Length: 500", "Authorization: Bearer x"], 401],
    [["Content-Length: 1025", token], 413],
    [["Content-Length: 500", token, "Origin: https://evil.example"], 403],
    [["Content-Length: 500", token, "Content-Encoding: gzip"], 415],
    [["Transfer-Encoding: gzip, chunked", token], 400],
  ] as const) {
    const wire = open();
    // What follows is no request: it could be the body that was not asked for.
    wire.write(head([...lines, "Expect: 100-continue"]));
    await wire.until("\r\n\r\n");
    wire.write(call());
    const back = await wire.closed;
    t.match(back, new RegExp(`^HTTP/1\\.1 ${status} `));
    t.match(back, /connection: close/i);
    t.equal(back.match(/HTTP\/1\.1/g)?.length, 1);
  }
  t.equal(upstream.arrived.length, 0);
});

/** An upstream that keeps the bytes of each connection, and answers by a script of raw bytes. */
async function rawUpstream(
  t: Test,
  answer: (bytes: string, connection: number) => string | "cut" | undefined,
) {
  const connections: string[] = [];
  const server = createServer((socket) => {
    const number = connections.push("") - 1;
    socket.setEncoding("latin1").on("data", (piece: string) => {
      connections[number] += piece;
      const bytes = answer(connections[number] ?? "", number);
      if (bytes === "cut") socket.resetAndDestroy();
      else if (bytes !== undefined) socket.write(bytes);
    });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => void server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp?x=1`;
  const gateway = await startGateway(url, { capability: { allow: ["elicitation.form"] } });
  t.teardown(() => gateway.close(0));
  return { connections, gateway };
}

/** A JSON answer to the last request in `bytes`. */
const reply = (bytes: string, result = DONE): string => {
  const text = `{"jsonrpc":"2.0","id":${/"id":(\d+)/.exec(bytes.slice(bytes.lastIndexOf("POST ")))?.[1]},"result":${result}}`;
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

t.test("what goes up has one framing, our own, with the length of what was made of the body", async (t) => {
  const { connections, gateway } = await rawUpstream(t, (bytes) =>
    reply(bytes, bytes.includes("inputResponses") ? DONE : ASK),
  );
  const state = stateOf(await sendAs(gateway, "1", TRANSFER));
  const wide = { elicitation: { form: {}, url: {} }, sampling: {} };
  await sendAs(gateway, "2", retryOf(state), { capabilities: wide });
  const wire = openWire(gateway.url);
  wire.write(chunked(7).replace("Host:", `${CLOSE}\r\nTE: trailers\r\nExpect: 100-continue\r\nHost:`));
  await wire.closed;
  const sent = connections.join("").split("POST ").slice(1);
  t.equal(sent.length, 3);
  for (const text of sent) {
    const [top = "", body = ""] = text.split("\r\n\r\n");
    const [line, ...headers] = top.split("\r\n");
    t.equal(line, "/mcp?x=1 HTTP/1.1");
    const names = headers.map((header) => header.slice(0, header.indexOf(":")).toLowerCase());
    t.same(names.toSorted(), [
      "accept",
      "accept-encoding",
      "connection",
      "content-length",
      "content-type",
      "host",
      "mcp-method",
      "mcp-name",
      "mcp-protocol-version",
    ]);
    t.equal(headers.find((header) => /^content-length:/i.test(header))?.slice(16), String(body.length));
    t.doesNotThrow(() => JSON.parse(body));
  }
});

t.test(
  "a message is written once: a connection that dies under it is not followed by another try",
  async (t) => {
    let deadly = false;
    const { connections, gateway } = await rawUpstream(t, (bytes) => (deadly ? "cut" : reply(bytes, ASK)));
    const state = stateOf(await sendAs(gateway, "1", TRANSFER));
    deadly = true;
    // On the connection that was just used, and on a fresh one; a first request and a retry.
    for (const message of [TRANSFER, TRANSFER, retryOf(state)]) {
      const before = connections.join("").split("POST ").length;
      const { status, json } = await sendAs(gateway, "2", message);
      t.equal(status, 502);
      t.equal(json.error.data.reason, "upstream_lost");
      t.equal(connections.join("").split("POST ").length, before + 1);
    }
  },
);
