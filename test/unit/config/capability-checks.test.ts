/** Requirements of capabilities that nothing can meet, entries that change nothing, and a token in clear. */
import t, { type Test } from "tap";
import { load } from "./load-text.ts";

const BASE = `
version: 1
server: { listen: "127.0.0.1:8080" }
authentication: { mode: anonymous }
authorization: { default: allow }
`;
const ROUTE = 'upstream: { url: "http://127.0.0.1:3001/mcp" }';

async function warnings(t: Test, capability: string, route = "{}", more = ""): Promise<string[]> {
  const text = `${BASE}capability: ${capability}\nroutes: [{ path: /mcp, ${ROUTE}, capability: ${route} }]\n${more}`;
  const { problems, warnings: all } = await load(t, text, {}, { TOKEN: "sixteen-letters-x" });
  t.same(problems, []);
  return all
    .map((line) => line.replace(/^\d+:\d+ /, ""))
    .filter((line) => /^(capability|admin|routes\[0\]\.cap)/.test(line));
}

t.test("what may not be asked is required in vain", async (t) => {
  for (const [capability, route, expected] of [
    ["{ allow: [roots], requires: [sampling] }", "{}", /^capability\.requires: requires sampling, which/],
    [
      "{ tools: [{ match: [x], allow: [], requires: [roots] }] }",
      "{}",
      /^capability\.tools\[0\]: requires roots/,
    ],
    [
      "{ requires: [roots] }",
      "{ allow: [sampling], tools: [{ match: [x], allow: [] }] }",
      /tools\[0\]: requires roots/,
    ],
    ["{ tools: [{ match: [x] }] }", "{}", /^capability\.tools\[0\]: changes nothing/],
  ] as const) {
    const found = await warnings(t, capability, route);
    t.match(found, [expected]);
    t.equal(found.length, 1);
  }
});

t.test("what can be met is required in peace", async (t) => {
  for (const [capability, route] of [
    ["{ requires: [elicitation.form] }", "{}"],
    ["{ allow: [], tools: [{ match: [x], allow: [roots], requires: [roots] }] }", "{}"],
    ["{ allow: [] }", "{ allow: [sampling], requires: [sampling] }"],
    ["{ tools: [{ match: [x], allow: [roots] }] }", "{}"],
  ] as const)
    t.same(await warnings(t, capability, route), []);
});

t.test("a token for an admin listener that others can reach", async (t) => {
  const admin = (listen: string) => `admin: { listen: "${listen}", token: { env: TOKEN } }\n`;
  const open = await warnings(t, "{}", "{}", admin("0.0.0.0:9090"));
  t.ok(open.some((line) => /^admin\.token: crosses the network in clear/.test(line)));
  const local = await warnings(t, "{}", "{}", admin("127.0.0.1:9090"));
  t.notOk(local.some((line) => line.startsWith("admin.token: crosses")));
});

t.test("a console that others can reach", async (t) => {
  const admin = (listen: string) => `admin: { listen: "${listen}", token: { env: TOKEN }, console: true }\n`;
  const open = await warnings(t, "{}", "{}", admin("0.0.0.0:9090"));
  t.ok(open.some((line) => /^admin\.console: is served in clear to whoever reaches the address/.test(line)));
  const local = await warnings(t, "{}", "{}", admin("127.0.0.1:9090"));
  t.notOk(local.some((line) => line.startsWith("admin.console")));
});
