/** C29: a compressed answer skips or breaks the filter. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t from "tap";
import { ASK, passes, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
    authorization: {
      policies: [
        { id: "notes", effect: "allow", tools: ["read_note"] },
        { id: "lists", effect: "allow", methods: ["*/list", "initialize"] },
      ],
    },
  }),
});
const LIST = '{"tools":[{"name":"read_note"},{"name":"delete_note"}]}';
const message = (id: number, result = LIST): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
const WANTS = { "accept-encoding": "gzip, br, zstd, *;q=0.5" };

const CODED: readonly (readonly [string, (text: string) => Buffer, Record<string, string>])[] = [
  ["gzip", (text) => gzipSync(text), { "content-encoding": "gzip" }],
  ["GZIP", (text) => gzipSync(text), { "content-encoding": "GZIP" }],
  ["br", (text) => brotliCompressSync(text), { "content-encoding": "br" }],
  ["deflate", (text) => deflateSync(text), { "content-encoding": "deflate" }],
  ["gzip twice", (text) => gzipSync(gzipSync(text)), { "content-encoding": "gzip, gzip" }],
  ["identity and gzip", (text) => gzipSync(text), { "content-encoding": "identity, gzip" }],
  ["plain, but it says gzip", (text) => Buffer.from(text), { "content-encoding": "gzip" }],
  ["plain, but it says nonsense", (text) => Buffer.from(text), { "content-encoding": "x" }],
  ["gzip that says nothing", (text) => gzipSync(text), {}],
  ["gzip that says identity", (text) => gzipSync(text), { "content-encoding": "identity" }],
];

t.test("unread bytes are never passed on, as a body or as a stream", async (t) => {
  for (const [name, code, headers] of CODED) {
    for (const type of ["application/json", "text/event-stream"]) {
      scene.upstream.script = (arrived, response) => {
        const text = message(arrived.json.id);
        response.writeHead(200, { "content-type": type, ...headers });
        response.end(code(type === "application/json" ? text : `data: ${text}\n\n`));
      };
      const modern = await scene.gateway.call({ method: "tools/list" }, { headers: WANTS });
      const legacy = await scene.gateway.send({
        headers: {
          ...WANTS,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      });
      for (const reply of [modern, legacy]) {
        t.equal(reply.json?.error?.code, -32603, `${name} ${type} ${reply.body}`);
        t.equal(reply.headers["content-encoding"], undefined);
        t.notMatch(reply.body, /delete_note/);
      }
    }
  }
});

t.test("honest: the gateway asks for plain bytes only, filters, and tells their true length", async (t) => {
  for (const encoding of [undefined, "identity", "Identity"]) {
    scene.upstream.script = (arrived, response) => {
      const text = message(arrived.json.id);
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": text.length,
        etag: '"stale"',
        "content-md5": "stale",
        digest: "sha-256=stale",
        ...(encoding === undefined ? {} : { "content-encoding": encoding }),
      });
      response.end(text);
    };
    const before = scene.upstream.arrived.length;
    const reply = await scene.gateway.call({ method: "tools/list" }, { headers: WANTS });
    t.same(reply.json.result.tools, [{ name: "read_note" }]);
    t.equal(reply.headers["content-length"], String(reply.body.length));
    for (const name of ["content-encoding", "etag", "content-md5", "digest"])
      t.equal(reply.headers[name], undefined);
    t.equal(scene.upstream.arrived[before]?.headers["accept-encoding"], "identity");
  }
});

t.test("a retry whose answer is unreadable is spent all the same: the upstream has acted", async (t) => {
  const open = await setScene(t);
  const state = await open.ask();
  const act = open.upstream.script;
  open.upstream.script = (_arrived, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync(ASK));
  };
  t.equal((await open.retry(state)).json.error.code, -32603);
  open.upstream.script = act;
  t.equal((await open.retry(state)).json.error.data.reason, "already_redeemed");
  const another = await open.ask(TRANSFER);
  await passes(t, open, () => open.retry(another));
});
