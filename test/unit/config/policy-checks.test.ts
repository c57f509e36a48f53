/** Warnings about policies that can never bite, that bite everything, and about patterns of another language. */
import t, { type Test } from "tap";
import { METHOD_TARGETS } from "../../../src/config/known-methods.ts";
import { foreignSign } from "../../../src/config/pattern-signs.ts";
import { scan } from "../../../src/json/scan.ts";
import { parseClientMessage } from "../../../src/mcp/message.ts";
import { TASK_METHODS, targetOf } from "../../../src/mcp/methods.ts";
import { load, SOUND } from "./load-text.ts";

const POLICIES = (text: string, more = "") =>
  SOUND.replace("[{ id: all, effect: allow }]", () => `[{ id: all, effect: allow }, ${text}]${more}`);
const ALLOW = (text: string) => POLICIES(`{ id: a, effect: allow, ${text} }`);
const DENY = (text: string) => POLICIES(`{ id: d, effect: deny${text} }`);
const GROUPS = (text: string) =>
  text.replace("login.example.com", "login.example.com\n      claims: { groups: groups }");
const ANONYMOUS = (text: string) =>
  text.replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous");

const PASSED = (text: string) => text.replace("- path: /mcp", "- path: /mcp\n    tasks: pass");

/** All that is said about policies and patterns, without line and column. */
async function said(test: Test, text: string): Promise<string[]> {
  const { problems, warnings } = await load(test, text);
  test.same(problems, []);
  return warnings
    .map((line) => line.replace(/^\d+:\d+ /, "").replace(/^authorization\.policies\[1\]\.?/, ""))
    .filter((line) => !/^(keys|authorization\.default|authorization\.policies\[0\])/.test(line));
}

const CASES: [name: string, text: string, said: RegExp[]][] = [
  ["honest", ALLOW("methods: [tools/call], tools: [x]"), []],
  ["honest wildcards", ALLOW('methods: ["tools/*", "*/get"], tools: ["a_*"]'), []],
  ["honest completion", ALLOW("methods: [completion/complete], prompts: [x], resources: ['file:///*']"), []],
  ["honest deny", DENY(", tools: ['delete_*']"), []],
  ["honest notifications", DENY(", methods: ['notifications/*']"), []],

  [
    "a method in the singular",
    ALLOW("methods: [tool/call]"),
    [/^methods\[0\]: fits no method of MCP, did you mean tools\/call\?$/],
  ],
  ["in capitals", ALLOW("methods: [Tools/Call]"), [/did you mean tools\/call\?/]],
  ["with a dot", ALLOW("methods: [prompts.get]"), [/did you mean prompts\/get\?/]],
  ["with a blank", ALLOW("methods: ['tools/call ']"), [/did you mean tools\/call\?/]],
  [
    "two in one text",
    ALLOW("methods: ['tools/call, prompts/get']"),
    [/^methods\[0\]: fits no method of MCP/],
  ],
  [
    "one that only a server has",
    ALLOW("methods: [acme/launch]"),
    [/it matters only if the server has one of its own$/],
  ],
  ["a wildcard that fits none", ALLOW('methods: ["tool/*"]'), [/^methods\[0\]: fits no method of MCP/]],
  [
    "tasks",
    ALLOW("methods: [tasks/get, 'tasks/*']"),
    [/^methods\[0\]: never matches: no route has tasks: pass$/, /^methods\[1\]: never matches/],
  ],
  ["tasks that pass", PASSED(ALLOW("methods: [tasks/get, 'tasks/*'], tools: [x]")), []],
  [
    "tasks that pass, by a method they do not have",
    PASSED(ALLOW("methods: [tasks/list]")),
    [/^methods\[0\]: never matches, allowed tasks\/get, tasks\/update, tasks\/cancel$/],
  ],

  [
    "prompts/get with tools",
    ALLOW("methods: [prompts/get], tools: [x]"),
    [/^tools: never matches: no method of this policy names a tool$/],
  ],
  ["tools/list with tools", DENY(", methods: [tools/list], tools: [x]"), [/^tools: never matches/]],
  [
    "ping with resources",
    DENY(", methods: [ping], resources: [x]"),
    [/^resources: never matches: .* names a resource$/],
  ],
  ["one of two", ALLOW("methods: [tools/call], tools: [x], prompts: [y]"), [/^prompts: never matches/]],
  [
    "one of two methods",
    ALLOW("methods: [tools/call, prompts/get], tools: [x]"),
    [/^methods\[1\]: never matches: it names nothing that tools could fit$/],
  ],
  ["both wrong", ALLOW("methods: [ping], tools: [x], prompts: [y]"), [/^tools: never/, /^prompts: never/]],
  ["a wildcard that meets", ALLOW('methods: ["*"], tools: [x]'), []],
  ["a wildcard that does not", ALLOW('methods: ["prompts/*"], tools: [x]'), [/^tools: never matches/]],

  [
    "a deny without selector",
    DENY(""),
    [/^: denies everything to everybody: .* a deny wins over every allow$/],
  ],
  ["with an empty one", DENY(", principal: {}"), [/denies everything/]],
  ["with methods *", DENY(', methods: ["**"]'), [/denies everything/]],
  ["with all of everything", DENY(', tools: ["*"], prompts: ["*"], resources: ["*"]'), [/denies everything/]],
  ["with any subject", DENY(', principal: { subjects: ["*"] }'), [/denies everything/]],
  ["with a token", DENY(", principal: { anonymous: false }"), [/denies everything/]],
  ["a deny of one", DENY(", principal: { subjects: [mallory] }"), []],
  ["a deny of tools", DENY(', tools: ["*"]'), []],
  ["a deny of a method", DENY(", methods: [completion/complete]"), []],
  ["a deny of clients", DENY(', principal: { clients: ["*"] }'), []],
  ["a deny of the anonymous", ANONYMOUS(DENY(", principal: { anonymous: true }")), []],

  [
    "an allow where all is allowed",
    POLICIES("{ id: a, effect: allow, tools: [x] }", "\n  default: allow"),
    [/^: decides nothing, while authorization\.default is allow$/],
  ],
  ["a deny there", POLICIES("{ id: a, effect: deny, tools: [x] }", "\n  default: allow"), []],

  ["groups nobody has", ALLOW("principal: { groups: [g] }"), [/^principal\.groups: never matches/]],
  ["groups", GROUPS(ALLOW("principal: { groups: [g] }")), []],
  [
    "an issuer that is not there",
    ALLOW("principal: { issuers: ['https://login.example.com/'] }"),
    [/^principal\.issuers\[0\]: fits no issuer/],
  ],
  ["an issuer", ALLOW("principal: { issuers: ['https://login.*'] }"), []],
  [
    "anonymous where tokens are needed",
    ALLOW("principal: { anonymous: true }"),
    [/^principal\.anonymous: never matches, while/],
  ],
  [
    "callers where all are anonymous",
    ANONYMOUS(ALLOW("principal: { subjects: [a], clients: [b] }")),
    [/^principal\.subjects: never matches/, /^principal\.clients: never/],
  ],
  [
    "tokens where nobody judges them",
    ANONYMOUS(ALLOW("principal: { anonymous: false }")),
    [/^principal\.anonymous: never matches, without an issuer/],
  ],
  [
    "the anonymous by name",
    ANONYMOUS(ALLOW("principal: { anonymous: true, subjects: [a] }")),
    [/^principal\.subjects: never matches: who is anonymous/],
  ],

  ["^", ALLOW("tools: ['^admin']"), [/^tools\[0\]: holds \^ at its start, which stands for itself: only \*/]],
  ["$", ALLOW("tools: [x, 'admin$']"), [/^tools\[1\]: holds \$ at its end/]],
  [".*", ALLOW("tools: ['admin.*']"), [/^tools\[0\]: holds \.\*, which/]],
  ["|", ALLOW("tools: ['a|b']"), [/^tools\[0\]: holds \|/]],
  ["()", ALLOW("prompts: ['(a)']"), [/^prompts\[0\]: holds parentheses/]],
  ["[]", ALLOW("prompts: ['[ab]*']"), [/^prompts\[0\]: holds brackets/]],
  ["{}", ALLOW("tools: ['{a,b}']"), [/^tools\[0\]: holds braces/]],
  ["!", DENY(", tools: ['!safe_*']"), [/^tools\[0\]: holds ! at its start/]],
  ["a backslash", DENY(", tools: ['a\\d']"), [/^tools\[0\]: holds a backslash/]],
  ["a regular expression of methods", ALLOW("methods: ['^tools/']"), [/^methods\[0\]: holds \^/]],
  ["of resources", ALLOW("resources: ['file:///.*']"), [/^resources\[0\]: holds \.\*/]],
  ["of subjects", ALLOW("principal: { subjects: ['^a$'] }"), [/^principal\.subjects\[0\]: holds \^/]],
  [
    "what other names may hold",
    ALLOW(
      "resources: ['x://h/*.*', 'x://h/a(1)?b=[c]'], principal: { subjects: ['auth0|42'], clients: ['a.b (c)'] }",
    ),
    [],
  ],
  [
    "of capability",
    `${SOUND}capability: { tools: [{ match: ['.*'], allow: [] }] }\n`,
    [/^capability\.tools\[0\]\.match\[0\]: holds \.\*/],
  ],
  [
    "of a route's capability",
    `${SOUND}    capability: { tools: [{ match: ['a|b'], allow: [] }] }\n`,
    [/^routes\[0\]\.capability\.tools\[0\]\.match\[0\]: holds \|/],
  ],
  [
    "an entry behind *",
    `${SOUND}capability: { tools: [{ match: ['*'], allow: [] }, { match: [x], allow: [] }] }\n`,
    [/^capability\.tools\[1\]: is never reached/],
  ],
  [
    "an entry before *",
    `${SOUND}capability: { tools: [{ match: [x], allow: [] }, { match: ['*'], allow: [] }] }\n`,
    [],
  ],
];

for (const [name, text, expected] of CASES) {
  t.test(name, async (t) => {
    const lines = await said(t, text);
    t.match(lines, expected, lines.join("\n"));
    t.equal(lines.length, expected.length, lines.join("\n"));
  });
}

t.test("the table of what methods name is what the gateway reads out of their calls", async (t) => {
  const params = { name: "n", uri: "u:n" };
  const refs = [
    { type: "ref/prompt", name: "n" },
    { type: "ref/resource", uri: "u:n" },
  ];
  for (const [method, kinds] of METHOD_TARGETS) {
    // The tool stands in the sealed id of the task.
    if (TASK_METHODS.has(method)) continue;
    const calls = method === "completion/complete" ? refs.map((ref) => ({ ref })) : [params];
    const found = calls.map((call) => {
      const message = method.startsWith("notifications/") ? {} : { id: 1 };
      const json = JSON.stringify({ jsonrpc: "2.0", ...message, method, params: call });
      const doc = scan(Buffer.from(json), { bytes: 10_000, depth: 10 });
      const parsed = parseClientMessage(doc);
      return "method" in parsed ? targetOf(doc, parsed)?.kind : undefined;
    });
    t.same(
      found.filter((kind) => kind !== undefined),
      kinds,
      method,
    );
  }
});

t.test("signs of other pattern languages", async (t) => {
  for (const honest of ["*", "a_*", "tools/call", "a.b", "a?c", "price$usd", "up^2", "https://x.example/*"]) {
    t.equal(foreignSign(honest, false), undefined, honest);
  }
  t.equal(foreignSign("*.*", false), undefined);
  t.equal(foreignSign("a.+", true), ".+");
});

t.test(
  "a deny of a mistyped method denies nothing, so it is a problem; one of a server's own is none",
  async (t) => {
    for (const [text, near] of [
      ["tool/call", "tools/call"],
      ["'tool/*'", "tools/*"],
      ["prompts.get", "prompts/get"],
    ] as const) {
      const { problems } = await load(t, DENY(`, methods: [tools/list, ${text}]`));
      t.equal(problems.length, 1, text);
      t.match(problems[0], `methods[1]: fits no method of MCP, so it denies nothing, did you mean ${near}?`);
    }
    const own = await load(t, DENY(", methods: [acme/launch]"));
    t.same(own.problems, []);
    t.match(own.warnings.join("\n"), /it matters only if the server has one of its own/);
  },
);
