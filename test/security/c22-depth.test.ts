/** C22: deep nesting makes the digest give up quietly, or the process die. */
import t from "tap";
import { passes, refuses, refusesState, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const like = { method: "tools/call", params: { name: "x" } };
const LEGACY = { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined };
const arrays = (levels: number, core: string): string => `${"[".repeat(levels)}${core}${"]".repeat(levels)}`;
const objects = (levels: number, core: string): string =>
  `${'{"a":'.repeat(levels)}${core}${"}".repeat(levels)}`;
const body = (value: string, more = "", id = "7"): string =>
  request(`"name":"x","arguments":{"a":${value}}${more}`, "tools/call", id);

t.test("over the limit: refused, in either era, at any size, closed or not", async (t) => {
  for (const value of [
    arrays(6_000, "1"),
    arrays(6_000, "2"),
    objects(6_000, "1"),
    arrays(62, "[]"),
    arrays(1_000_000, "1"),
    "[".repeat(2_000_000),
    '{"a":'.repeat(500_000),
  ]) {
    for (const headers of [{}, LEGACY]) {
      const sent = () => scene.raw(body(value), like, headers);
      await refuses(t, scene, sent, { status: 400, code: -32700, reason: "parse_error" });
    }
  }
});

t.test("at the limit: bound to its innermost value", async (t) => {
  // The message, its params and its arguments are three levels.
  for (const nest of [arrays, objects]) {
    const first = await scene.raw(body(nest(61, "1")), like);
    t.equal(first.status, 200, first.body);
    const rest = `,"requestState":"${first.json.result.requestState}","inputResponses":{}`;
    for (const other of ["2", "null", "[]"].slice(0, 2)) {
      const sent = () => scene.raw(body(nest(61, other), rest, "8"), like);
      await refusesState(t, scene, sent, { id: "8", cause: "params" });
    }
    await passes(t, scene, () => scene.raw(body(nest(61, "1"), rest, "8"), like));
  }
});

t.test("an upstream that nests as deep breaks the protocol, and the gateway serves on", async (t) => {
  const asks = scene.upstream.script;
  for (const type of ["application/json", "text/event-stream"]) {
    scene.upstream.script = (_arrived, response) => {
      const text = `{"jsonrpc":"2.0","id":7,"result":${objects(50_000, "1")}}`;
      response.writeHead(200, { "content-type": type });
      response.end(type === "application/json" ? text : `data: ${text}\n\n`);
    };
    t.equal((await scene.raw(body("1"), like)).json.error.code, -32603);
  }
  scene.upstream.script = asks;
  await passes(t, scene, () => scene.raw(body("1"), like));
});
