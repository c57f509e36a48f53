/** The question for consent: whatever a call holds, what people read of it is what it says, and the same call has the same question. */
import fc from "fast-check";
import t from "tap";
import {
  approvalQuestion,
  MAX_MESSAGE_BYTES,
  matterOf,
  waitingIdOf,
} from "../../../src/approval/question.ts";
import { scan } from "../../../src/json/scan.ts";
import { formFindings } from "../../../src/mcp/form-findings.ts";
import { formSchemaFault } from "../../../src/mcp/form-schema.ts";
import { linkIn } from "../../../src/mcp/links.ts";
import { callOf, person, policyOf, questionOf } from "../../support/approvals.ts";

const alice = person("alice", { groups: ["ops", "on call"] });
const messageOf = (settings: object, given: unknown, more: Parameters<typeof callOf>[2] = {}): string =>
  questionOf([policyOf(settings)], callOf(alice, given, more)).message;

/** What breaks lines, turns directions, is not seen, or is taken for markup. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\ufffc]|(?! )\p{Zs}|[<>&]/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Texts out of what attacks are made of, and any others. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        ..."\n|\r|\u2028|\u2029|\u0000|\u001b[31m|\u202e|\u2066|\u2069|\u200b|\u200d|\ufeff|\u00ad|\u3164|\u034f|\ufe0f|\u{e0041}|`|``|```|*|_|**|~~|#|<b>|</b>|<!--|&lt;|&#10;|[x](|)|![](|]: |https://|http:|//|evil.com|www.|.|。|．|[.]|(dot)|javascript:|mailto:a@b.com|\\|\\n|\"|'|{|}|{{|{U+000A}|{arguments.path}|{server}|- tool: |Arguments:|Code: |\t| |  |א|ب|۱|a\u0301|\u0301\u0301\u0301\u0301\u0301\u0301|\ud800|\udc00|😀|а|ａ|x".split(
          "|",
        ),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join("")),
);
const hostileJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    hostile,
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(
      hostile.map((key) => key.toWellFormed()),
      tie("value"),
      { maxKeys: 6 },
    ),
  ),
})).value;
const given = fc.dictionary(
  fc.oneof(
    fc.constantFrom("path", "name", "to"),
    hostile.map((key) => key.toWellFormed()),
  ),
  hostileJson,
  { maxKeys: 8 },
);

const TEMPLATE = {
  message: "Do {arguments.path} as {arguments.name} for {principal.subject} to {tool} on {server}?",
};
const SETTINGS = [{}, TEMPLATE, { ...TEMPLATE, details: "hide" }, { mask: "none" }, { mask: "all" }];

t.test(
  "whatever the arguments, the tool, the caller: lines are ours, and nothing in them is unseen, markup or a link",
  async () => {
    fc.assert(
      fc.property(
        given,
        hostile.map((name) => name.toWellFormed()),
        hostile.map((subject) => subject.toWellFormed()),
        fc.constantFrom(...SETTINGS),
        fc.boolean(),
        (args, tool, subject, settings, another) => {
          const call = callOf(person(subject), args, { target: { kind: "tool", name: tool } });
          const waiting = {
            id: "A".repeat(22),
            requester: person(subject, { issuer: subject, client: tool }),
          };
          const question = questionOf([policyOf(settings)], call, another ? waiting : undefined);
          const lines = question.message.split("\n");
          const bad = lines.find((line) => UNSEEN.test(line) || linkIn(line) !== undefined);
          if (bad !== undefined) throw new Error(`shown: ${JSON.stringify(bad)}`);
          if (linkIn(question.message) !== undefined) throw new Error("a link");
          if (Buffer.byteLength(question.message) > MAX_MESSAGE_BYTES) throw new Error("too long");
          const quotes = lines.find((line) => (line.match(/`/g) ?? []).length % 2 !== 0);
          if (quotes !== undefined) throw new Error(`a quote is open: ${quotes}`);
          // Our own lines stand where they stand, once.
          if (lines.filter((line) => line.startsWith("Code: ")).length !== 1) throw new Error("codes");
          if (!lines[1]?.startsWith("- tool: ") || !lines[2]?.startsWith("- server: `/files`"))
            throw new Error("head");
          if (lines.filter((line) => line.startsWith("Arguments:")).length !== 1)
            throw new Error("arguments");
          // What runs from right to left stands at the end of its line, or nowhere.
          if (lines.some((line) => RIGHT_TO_LEFT.test(line.replace(/`[^`]*`$/, ""))))
            throw new Error("turned");
          if (formSchemaFault(JSON.parse(question.requestedSchema)) !== undefined) throw new Error("form");
          if (!question.message.isWellFormed()) throw new Error("half a character");
        },
      ),
      { numRuns: 1_500 },
    );
  },
);

t.test("other parameters, another digest; the same in another spelling, the same question", async () => {
  const policies = [policyOf({ mask: "all", details: "hide", message: "Go on?" })];
  fc.assert(
    fc.property(given, given, (a, b) => {
      const [one, other] = [a, b].map((args) => questionOf(policies, callOf(alice, args)));
      const same = canonicalText(a) === canonicalText(b);
      return (one?.shown === other?.shown) === same && (one?.matter === other?.matter) === same;
    }),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(given, (args) => {
      const spelled = ` ${JSON.stringify(reversed(args), null, 2)} `;
      const one = questionOf([policyOf(TEMPLATE)], callOf(alice, args));
      const other = questionOf([policyOf(TEMPLATE)], callOf(alice, undefined, { text: spelled }));
      return one.message === other.message && one.shown === other.shown;
    }),
    { numRuns: 500 },
  );
});

/** JSON with sorted keys. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.entries(inner)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [`_${k}`, v]),
        )
      : inner,
  );
}

function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

t.test("of many members the first by name, whatever their order", async (t) => {
  const names = Array.from({ length: 3_000 }, (_, n) => ((n * 7_919) % 3_000).toString(36).padStart(4, "0"));
  for (const order of [names, names.toSorted(), names.toSorted().reverse()]) {
    const message = messageOf({}, Object.fromEntries(order.map((name) => [`k${name}`, 1])));
    const shown = message.split("\n").filter((line) => line.startsWith("- k"));
    t.same(
      shown,
      names
        .toSorted()
        .slice(0, 40)
        .map((name) => `- k${name}: 1`),
    );
    t.match(message, /\n\(and 2960 more, or what they hold, not shown\)\n/);
  }
});

t.test("what a question is bound to", async (t) => {
  const policies = [policyOf()];
  const call = callOf(alice, { path: "/a" });
  const { shown, matter } = questionOf(policies, call);
  const others = {
    route: callOf(alice, { path: "/a" }, { route: "/x" }),
    upstream: callOf(alice, { path: "/a" }, { upstream: "http://x" }),
    method: callOf(alice, { path: "/a" }, { method: "prompts/get" }),
    kind: callOf(alice, { path: "/a" }, { target: { kind: "prompt", name: "delete_file" } }),
    tool: callOf(alice, { path: "/a" }, { target: { kind: "tool", name: "delete_filе" } }),
    number: callOf(alice, undefined, { text: '{"path":"/a","n":1}' }),
    "number as sent": callOf(alice, undefined, { text: '{"path":"/a","n":1.0}' }),
    server: callOf(alice, { path: "/a" }, { server: "other" }),
  };
  const seen = new Set([shown]);
  for (const [name, other] of Object.entries(others)) {
    const question = questionOf(policies, other);
    t.notOk(seen.has(question.shown), name);
    seen.add(question.shown);
    if (name !== "server") t.not(question.matter, matter, name);
  }
  for (const [name, settings] of Object.entries({
    message: { message: "Really?" },
    mask: { mask: "none" },
    confirm: { confirm: "DELETE" },
    always: { always: true },
    quorum: { quorum: {} },
  })) {
    const question = questionOf([policyOf(settings)], call);
    t.not(question.shown, shown, name);
    t.not(question.matter, matter, name);
  }
  t.not(questionOf([policyOf({}, "other")], call).shown, shown, "another policy");
  t.not(questionOf([policyOf(), policyOf({}, "b")], call).shown, shown, "one more policy");

  const bobs = callOf(person("bob"), { path: "/a" });
  t.equal(questionOf(policies, bobs).matter, matter, "the matter is the same, whoever asks");
  t.equal(matterOf(policies, call), matter);
  const template = [policyOf({ message: "For {principal.subject}?" })];
  t.not(questionOf(template, call).shown, questionOf(template, bobs).shown, "what is shown is not");
  const waiting = { id: "A".repeat(22), requester: alice };
  const voted = questionOf(policies, bobs, waiting);
  t.not(voted.shown, questionOf(policies, bobs).shown);
  t.not(voted.shown, questionOf(policies, bobs, { ...waiting, id: "B".repeat(22) }).shown);
  t.equal(voted.matter, matter);
  t.equal(waitingIdOf(voted.key), waiting.id);
  t.equal(waitingIdOf(questionOf(policies, bobs).key), undefined);
  t.match(voted.message, /somebody else.*\n.*\n.*\n- asked for by: `alice` of `https\{U\+003A\}/);

  const [a, b] = ["A", "B"].map((code) => approvalQuestion(policies, call, () => code));
  t.not(a?.message, b?.message);
  t.equal(a?.shown, b?.shown, "a code changes with the keys, what is asked does not");
});

t.test("what is shown", async (t) => {
  t.equal(
    messageOf(
      { message: "Delete {arguments.path} on {server} for {principal.groups}?" },
      { path: "/tmp/x_y.txt", force: true, o: { list: [1, "x", {}], none: null }, big: 0 },
    ),
    [
      "Approve this call?",
      "- tool: `delete_file`",
      "- server: `/files`",
      "Delete `/tmp/x_y.txt` on `/files` for `ops`, `on call`?",
      "Arguments:",
      "- big: 0",
      "- force: true",
      "- o/list[0]: 1",
      "- o/list[1]: `x`",
      "- o/list[2]: (empty object)",
      "- o/none: null",
      "- path: `/tmp/x_y.txt`",
      "Code: 0BADC0DE",
    ].join("\n"),
  );
  const line = (value: unknown, settings: object = {}): string | undefined =>
    messageOf(settings, { value }).split("\n")[4];
  t.equal(line("a\nb"), "- value: `a{U+000A}b`");
  t.equal(line("{U+000A}"), "- value: `{U+007B}U+000A}`", "an escape that is none");
  t.equal(line("\u202egpj.exe"), "- value: `{U+202E}gpj{U+002E}exe`".replace("{U+002E}", "."));
  t.equal(line("https://evil.com/a?b"), "- value: `https{U+003A}{U+002F}{U+002F}evil{U+002E}com{U+002F}a?b`");
  t.equal(line("שלום"), "- value: `שלום`", "nothing follows that it could move");
  t.equal(line("שלום 12"), "- value: `{U+05E9}{U+05DC}{U+05D5}{U+05DD} 12`");
  t.equal(line("C:\\Users\\bob"), "- value: `C:\\Users\\bob`");
  t.equal(line(" x  y "), "- value: `{U+0020}x {U+0020}y{U+0020}`");
  t.equal(line(""), "- value: (empty)");
  t.equal(line("(empty)"), "- value: `(empty)`");
  t.equal(line("null"), "- value: `null`");
  t.match(line("x".repeat(500)), /^- value: `x{160}`… \(500 characters, SHA-256 [0-9a-f]{32}…\)$/);
  t.match(
    messageOf({}, undefined, { text: `{"value":${"9".repeat(5_000)}}` }).split("\n")[4],
    /^- value: 9{40}… \(5000 digits and signs, SHA-256 [0-9a-f]{32}…\)$/,
  );
  t.match(
    messageOf({ message: "Take {arguments.list}?" }, { list: ["a", "b", "c", "d", "e"] }),
    /Take `a`, `b`, `c` and 2 more\?/,
  );
  t.match(
    messageOf({ message: "Take {arguments.x}, {arguments.o.y}?" }, { o: {} }),
    /Take \(nothing\), \(nothing\)\?/,
  );
  t.match(messageOf({ message: "Take {arguments.path}?" }, { path: "a", Path: "b" }), /Take \(unclear\)\?/);
  t.match(
    messageOf({ message: "Take {arguments/a~1b}?" }, { "a/b": "c" }),
    /Take `c`\?\nArguments:\n- `a\/b`: `c`/,
  );
  t.match(
    messageOf({ message: "A {{brace}} {arguments.x}" }, { x: "{arguments.y}", y: "no" }),
    /A \{brace\} `\{arguments.y\}`/,
  );
  t.match(messageOf({}, {}), /\nArguments: none\n/);
  t.match(messageOf({ message: "Go?", details: "hide" }, { a: 1 }), /\nGo\?\nArguments: not shown\nCode: /);
  t.match(messageOf({}, undefined, { text: '["a"]' }), /\nArguments: not an object, and not shown\n/);
  t.match(
    messageOf({}, Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, { a: n, b: n }]))),
    /\nArguments: not all of them are shown\n- k0\/a: 0\n- k1\/a: 1\n(?:.*\n)*\(and 50 more, or what they hold, not shown\)\nCode: /,
  );
});

t.test("what a request holds beside is counted", async (t) => {
  const read = (json: string, method: string, kind: "tool" | "resource") => {
    const doc = scan(Buffer.from(json), { bytes: 1_000, depth: 8 });
    const target = { kind, name: "x" };
    return questionOf([policyOf()], { ...callOf(alice), method, target, doc, params: doc.root }).message;
  };
  t.notMatch(
    read('{"name":"x","arguments":{},"_meta":{},"requestState":"s"}', "tools/call", "tool"),
    /members/,
  );
  t.match(
    read('{"name":"x","arguments":{},"task":{},"uri":"y"}', "tools/call", "tool"),
    /\n\(members of the request that are not shown: 2\)\nCode/,
  );
  t.notMatch(read('{"uri":"x"}', "resources/read", "resource"), /members/);
  t.match(read('{"uri":"x","arguments":{"a":1}}', "resources/read", "resource"), /not shown: 1\)/);
});

t.test("secrets are not shown, nor anything about them", async (t) => {
  const secrets = {
    password: "hunter2",
    nested: { apiKey: "k", list: [{ token: "abc" }] },
    secret: { deeper: { x: "y", n: 7 } },
    note: "Authorization: Bearer abcdefghijklmnopqrstuvwx",
    plain: "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    ok: "visible",
    pin: 1234,
  };
  const message = messageOf({ message: "With {arguments.password} and {arguments.ok}?" }, secrets);
  for (const word of ["hunter2", "`k`", "abc", "`y`", "7", "ghp_", "1234", "characters"])
    t.notOk(message.includes(word), word);
  t.match(message, /With \(hidden\) and `visible`\?/);
  t.match(message, /- nested\/apiKey: \(hidden\)\n- nested\/list\[0\]\/token: \(hidden\)/);
  t.match(messageOf({ mask: "none" }, secrets), /- password: `hunter2`/);
  t.match(
    messageOf({}, { ghp_0123456789abcdefghijklmnopqrstuvwxyz: 1 }),
    /- \(hidden\): 1/,
    "a name that is one",
  );
  const all = messageOf({ mask: "all", message: "With {arguments.ok}?" }, secrets);
  t.notMatch(all, /visible|hunter2/);
  t.match(all, /With \(hidden\)\?/);
  const long = messageOf({}, { ["x".repeat(300)]: "value of a name that is none" });
  t.match(long, /characters, SHA-256 .*\): \(hidden\)/);
  // The strictest of two policies counts, for what each of them says, too.
  const loose = policyOf({ mask: "none", message: "With {arguments.password}?", confirm: "{arguments.ok}" });
  const both = questionOf([loose, policyOf({ mask: "all" }, "b")], callOf(alice, secrets));
  t.notMatch(both.message + both.requestedSchema, /hunter2|visible/);
  t.match(questionOf([loose], callOf(alice, secrets)).message, /With `hunter2`\?/);
});

t.test("it says that a yes holds for more calls, where all policies remember it", async (t) => {
  const lineOf = (...all: object[]): string | undefined => {
    const policies = all.map((settings, at) => policyOf(settings, `p${at}`));
    const { message, shown } = questionOf(policies, callOf(alice, { path: "/a" }));
    t.ok(shown);
    return message.split("\n").find((line) => line.startsWith("A yes holds"));
  };
  t.equal(lineOf({ remember: "15m" }), "A yes holds for 15 min, for this very call only.");
  const any = { remember: { for: "24h", arguments: "any" } };
  t.equal(lineOf(any), "A yes holds for 24 h, for other arguments as well.");
  t.equal(
    lineOf({ remember: "90s" }, any),
    "A yes holds for 24 h, for other arguments as well.",
    "the widest",
  );
  t.equal(lineOf({ remember: "90s" }), "A yes holds for 90 s, for this very call only.");
  for (const other of [{}, { remember: "15m", always: true }, { quorum: {} }])
    t.equal(lineOf(any, other), undefined, "one policy asks each time");
  const nobody = callOf(person("", { anonymous: true }), { path: "/a" });
  t.notMatch(questionOf([policyOf(any)], nobody).message, /A yes holds/, "nor of anonymous callers");
});

t.test("several policies ask one question", async (t) => {
  const reason = { name: "reason", title: "Why?" };
  const policies = [
    policyOf({ message: "First?", fields: [reason], confirm: "DELETE" }, "a"),
    policyOf({ message: "Second?", fields: [reason, { name: "ticket" }], confirm: "DELETE" }, "b"),
    policyOf(
      { message: "First?", fields: [{ name: "reason", maxLength: 5 }], confirm: "{arguments.path}" },
      "c",
    ),
  ];
  const question = questionOf(policies, callOf(alice, { path: "/a" }));
  t.same(question.policies, ["a", "b", "c"]);
  t.match(question.message, /\nFirst\?\nSecond\?\nArguments:/);
  t.same(
    question.fields.map(({ key, name, typed }) => [key, name, typed]),
    [
      ["reason", "reason", undefined],
      ["confirm", undefined, "DELETE"],
      ["ticket", "ticket", undefined],
      ["reason_2", "reason", undefined],
      ["confirm_2", undefined, "/a"],
    ],
  );
  t.same(JSON.parse(question.requestedSchema).required, [
    "reason",
    "confirm",
    "ticket",
    "reason_2",
    "confirm_2",
  ]);
  const many = Array.from({ length: 32 }, (_, n) =>
    policyOf({ message: `${n} ${"long ".repeat(90)}` }, `p${n}`),
  );
  const { message } = questionOf(many, callOf(alice, { path: "/a" }));
  t.match(
    message,
    /\n\(29 more sentences of policies are too long to be shown\)\nArguments:\n- path: `\/a`\nCode:/,
  );
  t.ok(Buffer.byteLength(message) <= MAX_MESSAGE_BYTES);
});

t.test("what has to be typed", async (t) => {
  const typed = (settings: object, args: unknown): string | undefined =>
    questionOf([policyOf(settings)], callOf(alice, args)).fields[0]?.typed;
  t.equal(typed({ confirm: "DELETE" }, {}), "DELETE");
  t.equal(typed({ confirm: "{arguments.path}" }, { path: "/a" }), "/a");
  t.equal(typed({ confirm: "{arguments.n}" }, undefined), "APPROVE");
  t.equal(typed({ confirm: "{arguments.n}" }, { n: 17 }), "17");
  for (const [name, path] of Object.entries({
    missing: undefined,
    empty: "",
    "a list": ["a", "b"],
    "an object": { a: 1 },
    "a line": "a\nb",
    "a space at its end": "a ",
    unseen: "a\u200b",
    turned: "a\u202eb",
    "a link": "evil.com/x",
    "too long": "x".repeat(65),
    decomposed: "e\u0301",
    "a quote": "a`b",
    "a credential": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
  }))
    t.equal(typed({ confirm: "{arguments.path}" }, { path }), "APPROVE", name);
  t.equal(typed({ confirm: "{arguments.password}" }, { password: "x" }), "APPROVE", "never a secret");
});

t.test("its form breaks none of the rules for forms of servers", async (t) => {
  const policy = policyOf({
    message: "Delete {arguments.path}?",
    fields: [
      { name: "reason", title: "Reason", description: "For the record.", minLength: 3, maxLength: 80 },
      { name: "kind", options: ["cleanup", "request"] },
      { name: "note", required: false },
    ],
    confirm: "{arguments.path}",
  });
  const { message, requestedSchema } = questionOf([policy], callOf(alice, { path: "/tmp/a" }));
  const schema: unknown = JSON.parse(requestedSchema);
  t.equal(formSchemaFault(schema), undefined);
  t.same(formFindings({ message, schema }, { left: 65_536 }), []);
  t.same(schema, {
    type: "object",
    properties: {
      reason: {
        type: "string",
        title: "Reason",
        description: "For the record.",
        minLength: 3,
        maxLength: 80,
      },
      kind: { type: "string", title: "kind", enum: ["cleanup", "request"] },
      note: { type: "string", title: "note", maxLength: 500 },
      confirm: {
        type: "string",
        title: "Confirmation",
        description: "Type `/tmp/a` exactly, without the quotes.",
        maxLength: 256,
      },
    },
    required: ["reason", "kind", "confirm"],
  });
});
