/** C22: wherever deep nesting can stand, in what clients send and in what servers answer (how deep is in c22-depth). */
import type { ServerResponse } from "node:http";
import t from "tap";
import type { Arrived } from "../support/upstream.ts";
import { answers, META, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t);
const legacy = await setScene(t, {
  script: answers("{}"),
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const like = { method: "tools/call", params: { name: "x" } };
/** server.limits.depth, of which the message, its params and its arguments take one each. */
const LIMIT = 64;
type Brackets = readonly [string, string];
const ARRAYS: Brackets = ["[", "]"];
const OBJECTS: Brackets = ['{"a":', "}"];
const MIXED: Brackets = ['[{"a":', "}]"];
const nest = (levels: number, inner = "1", [open, close] = ARRAYS): string =>
  open.repeat(levels) + inner + close.repeat(levels);
const call = (args: string, more = "", id = "7"): string =>
  request(`"name":"x","arguments":${args}${more}`, "tools/call", id);
const honest = (): Promise<unknown> => passes(t, legacy, () => legacy.raw(call("{}"), like));

/** Params that are too deep, somewhere. */
const DEEP: Readonly<Record<string, string>> = {
  "arrays in arguments": `"name":"x","arguments":{"a":${nest(6_000)}}`,
  "objects in arguments": `"name":"x","arguments":{"a":${nest(6_000, "1", OBJECTS)}}`,
  "both in arguments": `"name":"x","arguments":{"a":${nest(3_000, "1", MIXED)}}`,
  "one level too much": `"name":"x","arguments":{"a":${nest(LIMIT - 2)}}`,
  "in place of the arguments": `"name":"x","arguments":${nest(6_000)}`,
  "in a state": `"name":"x","requestState":${nest(6_000)}`,
  "in answers": `"name":"x","requestState":"sg1.x","inputResponses":{"q":${nest(6_000)}}`,
  "in the name": `"name":${nest(6_000)}`,
  "in a member nobody knows": `"name":"x","other":${nest(6_000, "1", OBJECTS)}`,
};

t.test("requests: refused on arrival, and the next one is served", async (t) => {
  for (const [name, params] of Object.entries(DEEP)) {
    for (const place of [scene, legacy]) {
      const { json } = await refuses(t, place, () => place.raw(request(params), like), {
        status: 400,
        code: -32700,
      });
      t.equal(json.error.data.fault, "depth", name);
    }
  }
  const inMeta = call("{}").replace(META, META.replace("{", `{"x":${nest(6_000)},`));
  const batch = nest(6_000, call("{}"));
  for (const body of [
    inMeta,
    batch,
    nest(100_000),
    "[".repeat(4_000_000),
    '{"a":'.repeat(800_000),
    '[{"":'.repeat(800_000),
  ]) {
    await refuses(t, legacy, () => legacy.raw(body, like), { status: 400, code: -32700 });
  }
  await honest();
});

t.test("honest: breadth is no depth", async (t) => {
  for (const wide of [
    `[${"[],".repeat(100_000)}[]]`,
    `{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":{}`)}}`,
  ]) {
    await passes(t, legacy, () => legacy.raw(call(`{"a":${wide}}`), like));
  }
});

const ask = (schema: string): string =>
  `{"resultType":"input_required","requestState":"U1","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":${schema}}}}}`;

/** What a server may send that is too deep. */
const ANSWERS: readonly string[] = [
  `{"content":[],"structuredContent":${nest(6_000)}}`,
  `{"content":[],"structuredContent":${nest(LIMIT - 1)}}`,
  `{"content":[],"_meta":${nest(6_000, "1", OBJECTS)}}`,
  `{"resultType":"input_required","requestState":${nest(6_000)}}`,
  `{"resultType":${nest(6_000)}}`,
  ask(`{"type":"object","properties":{"p":${nest(6_000, "{}", ['{"items":', "}"])}}}`),
  nest(6_000),
];

t.test("answers: the upstream's fault, as a body and on a stream, in either era", async (t) => {
  for (const result of ANSWERS) {
    for (const stream of [false, true]) {
      const script = (arrived: Arrived, response: ServerResponse): void => {
        const text = `{"jsonrpc":"2.0","id":${arrived.json.id},"result":${result}}`;
        response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
        response.end(stream ? `data: ${text}\n\n` : text);
      };
      const before = { scene: scene.upstream.script, legacy: legacy.upstream.script };
      Object.assign(scene.upstream, { script });
      Object.assign(legacy.upstream, { script });
      const modern = await scene.raw(call("{}"), like);
      const old = await legacy.raw(
        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`,
        like,
        {
          "mcp-protocol-version": "2025-06-18",
        },
      );
      Object.assign(scene.upstream, { script: before.scene });
      Object.assign(legacy.upstream, { script: before.legacy });
      for (const reply of [modern, old]) {
        t.equal(reply.json?.error?.code, -32603, reply.body.slice(0, 200));
        t.equal(reply.json.id, 7);
      }
    }
  }
  await honest();
});
