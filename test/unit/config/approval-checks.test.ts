/** Settings of an approval: what is wrong is said where it stands, with what is right. */
import t, { type Test } from "tap";
import { load, SOUND } from "./load-text.ts";

const APPROVAL = (text: string, rest = ""): string =>
  `${SOUND.replace("[{ id: all, effect: allow }]", () => `[{ id: a, effect: approve, tools: [x], approval: ${text} }]`)}${rest}`;

async function said(t: Test, text: string): Promise<{ problems: string[]; warnings: string[] }> {
  const { problems, warnings } = await load(t, text);
  const short = (lines: readonly string[]): string[] =>
    lines
      .map((line) => line.replace(/^\d+:\d+ /, "").replace("authorization.policies[0].approval", ""))
      .filter((line) => !/^keys/.test(line));
  return { problems: short(problems), warnings: short(warnings) };
}

const HONEST = [
  "{}",
  '{ message: "Delete {arguments.path} of {principal.subject} on {server}?" }',
  '{ message: "{{as it stands}} {arguments/a~1b/c}" }',
  '{ message: "Go?", details: hide }',
  '{ message: "מחק?" }',
  "{ confirm: DELETE }",
  '{ confirm: "{arguments.order.id}" }',
  "{ remember: 15m }",
  "{ remember: { for: 24h, arguments: any } }",
  "{ always: true, quorum: {} }",
  "{ quorum: { principals: 5, from: { groups: [a] }, within: 10m } }",
  "{ fields: [{ name: reason }, { name: kind, options: [a, b] }] }",
  "{ fields: [{ name: reason, offer: true }], offer: meta }",
];

t.test("honest ones", async (t) => {
  for (const text of HONEST) t.same((await said(t, APPROVAL(text))).problems, [], text);
});

const WRONG: [text: string, said: RegExp][] = [
  [
    '{ message: "{tol}?" }',
    /^\.message: names a value that there is not, did you mean \{tool\}\?, .*allowed \{tool\}, /,
  ],
  [
    '{ message: "{argument.path}?" }',
    /^\.message: names a value that there is not, did you mean \{arguments.NAME\}\?/,
  ],
  ['{ message: "{principal.subjekt}?" }', /did you mean \{principal.subject\}\?/],
  ['{ message: "{principal.token}?" }', /^\.message: names a value that there is not/],
  ['{ message: "{arguments}?" }', /^\.message: names a value that there is not/],
  ['{ message: "{arguments.a b}?" }', /^\.message: names a value that there is not/],
  ['{ message: "{}?" }', /^\.message: names a value that there is not/],
  ['{ message: "a { b" }', /^\.message: holds a \{ that is not closed/],
  ['{ message: "a } b" }', /^\.message: holds a \} that closes nothing/],
  ['{ message: "" }', /^\.message: is empty or longer than 512 characters/],
  ['{ message: "see https://example.com/x" }', /^\.message: holds a link/],
  ['{ message: "see {tool}.com" }', /^\.message: holds a link/],
  ['{ message: "a\\nb" }', /^\.message: holds characters that cannot be seen/],
  ['{ message: "a\\u202eb" }', /^\.message: holds characters that cannot be seen/],
  ['{ message: "a `b`" }', /^\.message: holds characters that cannot be seen/],
  ["{ details: hide }", /^\.details: hides the arguments, so a message has to say/],
  ['{ confirm: "a{arguments.b}" }', /^\.confirm: mixes text and values/],
  ['{ confirm: "{server}" }', /^\.confirm: mixes text and values/],
  ['{ confirm: " a" }', /^\.confirm: is not a text that can be typed/],
  ["{ remember: 25h }", /^\.remember: /],
  ["{ remember: { for: 15m, args: same } }", /^\.remember/],
  ["{ remember: 15m, always: true }", /^\.remember: contradicts always: true/],
  ["{ remember: 15m, quorum: {} }", /^\.remember: contradicts quorum/],
  [
    '{ remember: { for: 15m, arguments: any }, confirm: "{arguments.a}" }',
    /^\.remember\.arguments: is any, while confirm/,
  ],
  ["{ quorum: { principals: 1 } }", /^\.quorum\.principals: .*from 2 to 5/],
  ["{ quorum: { within: 11m } }", /^\.quorum\.within: is above envelope.ttl \(10m\)/],
  ["{ fields: [{ name: 1a }] }", /^\.fields\[0\]\.name: is not a name/],
  ["{ fields: [{ name: confirm }] }", /^\.fields\[0\]\.name: is the name of the typed confirmation/],
  ["{ fields: [{ name: a }, { name: A }] }", /^\.fields\[1\]\.name: is the name of a field above it/],
  ["{ fields: [{ name: password }] }", /^\.fields\[0\]: asks for a secret/],
  ["{ fields: [{ name: a, title: Your API key }] }", /^\.fields\[0\]: asks for a secret/],
  ["{ fields: [{ name: a, description: Enter your password. }] }", /^\.fields\[0\]: asks for a secret/],
  ["{ fields: [{ name: a, minLength: 9, maxLength: 8 }] }", /^\.fields\[0\]\.minLength: is above maxLength/],
  ["{ fields: [{ name: a, options: [b, b] }] }", /^\.fields\[0\]\.options: holds an option twice/],
  [
    "{ fields: [{ name: a, offer: true }] }",
    /^\.fields\[0\]\.offer: offers it, but approval.offer says not how/,
  ],
  [`{ fields: [${Array.from({ length: 9 }, (_, n) => `{ name: f${n} }`).join(", ")}] }`, /at most 8 fields/],
];

for (const [text, problem] of WRONG) {
  t.test(`wrong: ${text.slice(0, 80)}`, async (t) => {
    const { problems } = await said(t, APPROVAL(text));
    t.equal(problems.length, 1, problems.join("\n"));
    t.match(problems[0], problem);
  });
}

t.test("one mistake hides no other", async (t) => {
  const text = '{ message: "{tol}?", fields: [{ name: password }], remember: 15m, always: true }';
  const { problems } = await said(t, APPROVAL(text));
  t.match(problems, [/^\.message/, /^\.fields\[0\]: asks for a secret/, /^\.remember: contradicts always/]);
  const less = '{ details: hide, message: "{tol}?", offer: meta, fields: 3 }';
  t.match((await said(t, APPROVAL(less))).problems, [/^\.message/, /^\.fields/]);
});

t.test("warnings", async (t) => {
  t.match((await said(t, APPROVAL("{ offer: header }"))).warnings, [/^\.offer: offers nothing/]);
  const anonymous = (text: string) =>
    said(
      t,
      APPROVAL(text).replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous"),
    );
  const { warnings } = await anonymous("{ remember: 15m }");
  t.ok(warnings.some((line) => /^\.remember: never remembers: who is anonymous/.test(line)));
  t.ok(
    (await anonymous("{ quorum: {} }")).warnings.some((line) => /^\.quorum: only operators can/.test(line)),
  );
});

t.test("forms that do not fit into one state", async (t) => {
  const options = Array.from({ length: 32 }, (_, n) => `o${n}${"x".repeat(60)}`).join(", ");
  const policies = Array.from(
    { length: 9 },
    (_, n) =>
      `{ id: p${n}, effect: approve, approval: { fields: [{ name: f${n}, options: [${options}] }] } }`,
  );
  const text = (count: number) =>
    SOUND.replace("[{ id: all, effect: allow }]", () => `[${policies.slice(0, count).join(", ")}]`);
  t.same((await said(t, text(7))).problems, []);
  const { problems } = await said(t, text(9));
  t.match(problems, [
    /^authorization\.policies: approvals ask for \d+ bytes of form together, allowed are 16KiB/,
  ]);
  t.same((await said(t, `${text(9)}envelope: { maxSchemaBytes: 64KiB }\n`)).problems, []);
});
