/** C24: lines of one header that disagree. */
import t from "tap";
import { answers, DONE, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, { script: answers(DONE), users: true });
const BASE = [
  ["Host", "gateway.test"],
  ["Content-Type", "application/json"],
  ["Accept", "application/json, text/event-stream"],
  ["MCP-Protocol-Version", "2026-07-28"],
  ["Mcp-Method", "tools/call"],
  ["Mcp-Name", "delete_note"],
  ["Authorization", `Bearer ${scene.owner}`],
] as const;
const body = request('"name":"delete_note","arguments":{"note":1}');
const lines = (...more: (readonly [string, string])[]): string[] => [...BASE, ...more].flat();
/** The same with one line replaced. */
const swapped = (name: string, value: string): string[] =>
  BASE.flatMap(([known, own]) => [known, known === name ? value : own]);
const send =
  (headers: readonly string[], text = body) =>
  () =>
    scene.gateway.send({ headers, body: text });

const REPEATED: readonly (readonly [string, string, number?])[] = [
  ["Mcp-Method", "tools/list", -32020],
  ["mcp-method", "tools/call", -32020],
  ["Mcp-Name", "read_note", -32020],
  ["MCP-NAME", "delete_note", -32020],
  ["MCP-Protocol-Version", "2025-06-18", -32020],
  ["Authorization", `Bearer ${scene.stranger}`, -32600],
  ["Authorization", `Bearer ${scene.owner}`, -32600],
  ["Content-Type", "text/plain", -32600],
  ["Content-Type", "application/json", -32600],
  ["Host", "evil.example"],
  ["Host", "gateway.test"],
];

t.test("a second line, before or after, equal or not", async (t) => {
  for (const [name, value, code] of REPEATED) {
    for (const headers of [lines([name, value]), [name, value, ...lines()]]) {
      const reply = await refuses(t, scene, send(headers), { status: 400 });
      if (code !== undefined) t.equal(reply.json?.error?.code, code, name);
    }
  }
  for (const [name, one, two] of [
    ["Mcp-Param-Note", "1", "2"],
    ["Mcp-Param-Note", "1", "1"],
    ["Origin", "https://a.example", "https://a.example"],
    ["Mcp-Session-Id", "a", "b"],
    ["Content-Encoding", "identity", "identity"],
  ] as const) {
    await refuses(t, scene, send(lines([name, one], [name.toLowerCase(), two])), { status: 400 });
  }
});

t.test("one line that only looks like two, or two that look like one", async (t) => {
  await refuses(t, scene, send(swapped("Mcp-Method", "tools/call, tools/call")), {
    status: 400,
    code: -32020,
  });
  await refuses(t, scene, send(swapped("MCP-Protocol-Version", "2026-07-28, 2026-07-28")), {
    status: 400,
    code: -32020,
  });
  await refuses(t, scene, send(swapped("Content-Type", "application/json, text/plain")), { status: 415 });
  await refuses(t, scene, send(swapped("Authorization", `Bearer ${scene.owner}, Bearer x`)), { status: 401 });
  // Joined by a comma the two lines would be the tool's name.
  const comma = request('"name":"a, b"');
  const two = ["Mcp-Name", "a", ...BASE.flatMap(([n, v]) => [n, n === "Mcp-Name" ? "b" : v])];
  await refuses(t, scene, send(two, comma), { status: 400, code: -32020 });
  const one = await scene.gateway.send({ headers: swapped("Mcp-Name", "a, b"), body: comma });
  t.equal(one.status, 200, one.body);
});

t.test("honest: the version twice and alike, as a released client sends it", async (t) => {
  const reply = await scene.gateway.send({ headers: lines(["mcp-protocol-version", "2026-07-28"]), body });
  t.equal(reply.status, 200, reply.body);
  const arrived = scene.upstream.arrived.at(-1);
  for (const name of [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "content-type",
    "content-length",
    "host",
  ]) {
    const count = arrived?.rawHeaders.filter((word, i) => i % 2 === 0 && word.toLowerCase() === name).length;
    t.equal(count, 1, `${name} stands once`);
  }
});

t.test("honest: a header of the tool's own parameters goes through", async (t) => {
  const reply = await scene.gateway.send({ headers: lines(["Mcp-Param-Note", "1, 2"]), body });
  t.equal(reply.status, 200);
  t.equal(scene.upstream.arrived.at(-1)?.headers["mcp-param-note"], "1, 2");
});
