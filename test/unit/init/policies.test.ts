/** The policies that are written from a server's lists allow what it offered, each name as itself, and nothing else. */
import fc from "fast-check";
import t from "tap";
import { parse } from "yaml";
import { createAuthorizer } from "../../../src/authorization.ts";
import { SECTIONS } from "../../../src/config/schema.ts";
import type { Catalogue, Effects, Entry } from "../../../src/init/catalogue.ts";
import { policyText } from "../../../src/init/policies.ts";
import { select } from "../../../src/init/selection.ts";
import { templatePattern } from "../../../src/init/template-pattern.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";

const entry = (name: string, effects: Effects = "unsaid"): Entry => ({ name, effects });

function catalogue(lists: Partial<Catalogue>): Catalogue {
  const none = { tools: [], prompts: [], resources: [], templates: [] };
  return { ...none, completions: false, cut: new Set(), ...lists };
}

const load = (lines: readonly string[]) => {
  const { authorization } = parse(lines.join("\n")) as { authorization: unknown };
  return SECTIONS.authorization.parse(authorization);
};

/** Whether the written policies let a call of a tool, or a read, pass. */
function judge(lines: readonly string[]) {
  const authorizer = createAuthorizer(load(lines));
  return {
    tool: (name: string) =>
      authorizer.decide(ANONYMOUS, { method: "tools/call", target: { kind: "tool", name } }).allowed,
    resource: (name: string) =>
      authorizer.decide(ANONYMOUS, { method: "resources/read", target: { kind: "resource", name } }).allowed,
  };
}

const NAMES = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."ab*?.[](){}|^$\\\"'#: \n-&!%@`,"), maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 12 }),
);

t.test("exactly the plain names are allowed, whatever a server calls its tools", async (t) => {
  fc.assert(
    fc.property(fc.array(NAMES, { maxLength: 12 }), fc.array(NAMES, { maxLength: 12 }), (offered, others) => {
      const entries = offered.map((name, index) => entry(name, index % 3 === 0 ? "marked" : "unsaid"));
      const { tool } = judge(policyText(catalogue({ tools: entries })).lines);
      const { plain } = select(entries, false);
      return [...offered, ...others].every((name) => tool(name) === plain.includes(name));
    }),
    { numRuns: 1_000 },
  );
  t.pass();
});

t.test("a name with a wildcard grants nothing; its honest neighbours stand", async (t) => {
  const tools = ["*", "?", "a*", "**", "read_file", "Zoë", "weather.get"].map((name) => entry(name));
  const { lines, odd } = policyText(catalogue({ tools }));
  const { tool } = judge(lines);
  t.same(["read_file", "Zoë", "weather.get"].map(tool), [true, true, true]);
  t.same(["*", "?", "a*", "ab", "delete", ""].map(tool), [false, false, false, false, false, false]);
  t.equal(odd, 4);
  t.match(lines.join("\n"), '##   "a*"');
});

t.test(
  "what is marked waits behind #, also where a twin says otherwise; and is right when it is let in",
  async (t) => {
    const tools = [entry("read", "none"), entry("drop", "marked"), entry("drop", "none"), entry("say")];
    const text = policyText(catalogue({ tools }));
    t.same(["read", "say", "drop"].map(judge(text.lines).tool), [true, true, false]);
    t.equal(text.marked, 1);
    const decided = text.lines.map((line) => line.replace(/^ {4}#(?!#)/, "    "));
    t.same(["read", "say", "drop", "*"].map(judge(decided).tool), [true, true, true, false]);
  },
);

t.test("a server that marks everything gets a file that allows nothing, and says so", async (t) => {
  const text = policyText(catalogue({ tools: [entry("drop", "marked")] }));
  t.equal(text.allows, false);
  t.same(load(text.lines).policies, []);
});

t.test("resources by their uris; templates only as proposals", async (t) => {
  const text = policyText(
    catalogue({
      resources: [entry("note://a/b"), entry("https://x.example/?q=1")],
      templates: [entry("note://a/{id}"), entry("{+anything}"), entry("note://{host}/x")],
    }),
  );
  t.same(["note://a/b", "note://a/c", "https://x.example/?q=1"].map(judge(text.lines).resource), [
    true,
    false,
    false,
  ]);
  t.match(text.lines.join("\n"), '#    - "note://a/*"');
  t.notMatch(text.lines.join("\n"), '- "*"');
  const decided = text.lines.map((line) => line.replace(/^ {4}#(?!#)/, "    "));
  t.same(["note://a/c", "note://b/x", "file:///etc/passwd"].map(judge(decided).resource), [
    true,
    false,
    false,
  ]);
});

t.test("a template becomes a pattern only where scheme and place are the server's own words", async (t) => {
  t.equal(templatePattern("file:///logs/{name}"), "file:///logs/*");
  t.equal(templatePattern("note://a/{x}{y}/z{?q}"), "note://a/*/z*");
  for (const template of [
    "{x}",
    "file:///{path}",
    "file:{path}",
    "{s}://a/b",
    "http://{host}/a",
    "a*b:c/{x}",
    "no-scheme",
  ]) {
    t.equal(templatePattern(template), undefined, template);
  }
});

t.test("names that look alike are pointed out", async (t) => {
  const names = ["transfer", "Transfer", "trans\u200bfer", "tränsfer", "other"];
  const text = policyText(catalogue({ tools: names.map((name) => entry(name)) }));
  t.equal(text.twins, 1);
  t.match(text.lines.join("\n"), '"Transfer"');
  t.equal(policyText(catalogue({ tools: [entry("a"), entry("b")] })).twins, 0);
});

t.test("more names than a file can hold are left out and told, and the file can still be read", async (t) => {
  const tools = Array.from({ length: 2_000 }, (_, index) => entry(`${"\u0301".repeat(200)}${index}`));
  const text = policyText(catalogue({ tools }));
  t.ok(text.lines.join("\n").length < 1_000_000);
  t.match(text.lines.join("\n"), /list is cut/);
  const thousand = Array.from({ length: 1_000 }, (_, index) => entry(`tool_${index}`));
  const whole = policyText(catalogue({ tools: thousand }));
  t.equal(load(whole.lines).policies[0]?.tools?.length, 1_000);
  t.notMatch(whole.lines.join("\n"), /cut/);
});
