/** C26: a `Connection` header chosen by the client decides what is removed. */
import t from "tap";
import { answers, DONE, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  script: answers(DONE),
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const like = { method: "tools/call", params: { name: "x" } };
const legacy = { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined };
const HOP = {
  "x-trace-team": "blue",
  te: "trailers",
  "keep-alive": "timeout=5",
  "proxy-authorization": "Basic Zm9vOmJhcg==",
  "proxy-connection": "keep-alive",
  upgrade: "h2c",
  "http2-settings": "AAMAAABkAAQAAP__",
  trailer: "x-more",
  "x-forwarded-for": "10.0.0.1",
  "x-forwarded-host": "evil.example",
  "x-original-url": "/admin",
  forwarded: "for=10.0.0.1",
  expect: "100-continue",
};

t.test("nothing of this hop goes up, named or not", async (t) => {
  for (const connection of [
    "keep-alive",
    "keep-alive, X-Trace-Team",
    "close, te, upgrade",
    "x-trace-team,,  ,te",
  ]) {
    for (const [body, era] of [
      [request('"name":"x"'), {}],
      ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', legacy],
    ] as const) {
      const { expect: _, ...hop } = HOP;
      const arrived = await passes(t, scene, () => scene.raw(body, like, { ...hop, ...era, connection }));
      for (const name of Object.keys(HOP)) t.equal(arrived.headers[name], undefined, name);
      t.equal(arrived.headers.connection, "keep-alive", "the gateway's own");
      t.equal(arrived.headers.host, new URL(scene.upstreamUrl).host);
    }
  }
});

t.test("a name that the protocol needs is refused", async (t) => {
  for (const name of [
    "Mcp-Name",
    "mcp-method",
    "MCP-Protocol-Version",
    "Mcp-Param-Note",
    "mcp-session-id",
    "Authorization",
    "Content-Type",
    "content-length",
    "Host",
    "ORIGIN",
    "accept",
  ]) {
    for (const connection of [name, `keep-alive, ${name}`, ` ,${name} , close`]) {
      const headers = { connection };
      await refuses(t, scene, () => scene.raw(request('"name":"x"'), like, headers), { status: 400 });
    }
  }
});
