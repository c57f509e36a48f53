/** Policies that would ask about nothing are refused; what they do on other routes and beside others is said. */
import t, { type Test } from "tap";
import { load, SOUND } from "./load-text.ts";

const POLICIES = (text: string) =>
  SOUND.replace("[{ id: all, effect: allow }]", () => `[{ id: all, effect: allow }, ${text}]`);
const APPROVE = (text: string) => POLICIES(`{ id: a, effect: approve${text} }`);

async function said(test: Test, text: string): Promise<{ problems: string[]; warnings: string[] }> {
  const { problems, warnings } = await load(test, text);
  const short = (lines: readonly unknown[]): string[] =>
    lines
      .map((line) =>
        String(line)
          .replace(/^\d+:\d+ /, "")
          .replace(/^authorization\.policies\[1\]\.?/, ""),
      )
      .filter((line) => !/^keys/.test(line));
  return { problems: short(problems), warnings: short(warnings) };
}

const HONEST = [
  "",
  ", tools: [x]",
  ", methods: ['tools/*']",
  ", methods: ['*']",
  ", methods: [prompts/get], prompts: ['*']",
  ", methods: [resources/read, completion/complete], resources: ['file:///*']",
  ", tools: [x], arguments: [{ path: /a, present: true }]",
  ", tools: [x], when: [destructive]",
  ", when: [destructive, notReadOnly]",
  ", resources: ['file:///*'], tools: [x], when: [notReadOnly]",
];

const WRONG: [text: string, said: RegExp][] = [
  [", methods: [tools/list]", /^methods: fits nothing that a user can be asked about, allowed tools\/call, /],
  [", methods: ['tasks/*', completion/complete]", /^methods: fits nothing/],
  [", methods: [tool/call]", /^methods: fits nothing/],
  [", methods: [tools/call], prompts: [x]", /asks about nothing: no call of tools\/call names prompts/],
  [
    ", methods: [resources/read], tools: [x], prompts: [y]",
    /no call of resources\/read names tools or prompts/,
  ],
  [", resources: ['file:///*'], arguments: [{ path: /a, present: true }]", /^arguments: asks about nothing/],
  [", methods: [resources/read], arguments: [{ path: /a, present: true }]", /^arguments: asks about nothing/],
  [", prompts: [x], when: [destructive]", /^when: asks about nothing: only tools have annotations/],
  [", methods: [prompts/get], when: [notReadOnly]", /^when: asks about nothing/],
];

t.test("honest ones", async (t) => {
  for (const text of HONEST) t.same((await said(t, APPROVE(text))).problems, [], text);
});

for (const [text, problem] of WRONG) {
  t.test(`wrong: ${text}`, async (t) => {
    const { problems } = await said(t, APPROVE(text));
    t.equal(problems.length, 1, problems.join("\n"));
    t.match(problems[0], problem);
  });
}

t.test("when and approval go with approve alone", async (t) => {
  for (const effect of ["allow", "deny"]) {
    for (const setting of ["when: [destructive]", "approval: { confirm: YES }"]) {
      const { problems } = await said(t, POLICIES(`{ id: a, effect: ${effect}, tools: [x], ${setting} }`));
      t.match(problems, [`goes with effect: approve and no other, not with ${effect}`]);
    }
  }
});

t.test("a policy with when allows nothing, and says so where nothing else does", async (t) => {
  const only = (text: string) =>
    SOUND.replace("[{ id: all, effect: allow }]", () => `[{ id: a, effect: approve${text} }]`);
  const warned = (await said(t, only(", when: [destructive]"))).warnings.join("\n");
  t.match(warned, /allows nothing: the default is deny and no policy allows/);
  t.match(warned, /never matters: a policy with when allows nothing by itself/);
  t.notMatch((await said(t, only(""))).warnings.join("\n"), /allows nothing|never matters/);
});

t.test("a route for older clients, which cannot be asked", async (t) => {
  const legacy = (text: string) => text.replace("- path: /mcp", "- path: /mcp\n    legacy: pass");
  t.match(
    (await said(t, legacy(APPROVE("")))).warnings.join("\n"),
    /legacy: is pass, and clients of older revisions cannot be asked/,
  );
  t.notMatch((await said(t, APPROVE(""))).warnings.join("\n"), /cannot be asked/);
  t.notMatch((await said(t, legacy(SOUND))).warnings.join("\n"), /cannot be asked/);
});
