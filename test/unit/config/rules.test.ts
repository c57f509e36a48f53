/** The section `rules`: what it knows, what it cannot switch, how routes and tools come over it. */
import t from "tap";
import { compileModes } from "../../../src/rules/modes.ts";
import { load, SOUND } from "./load-text.ts";

const ROUTE = (text: string) => SOUND.replace(/\n$/, `\n    rules: ${text}\n`);
const TOP = (text: string) => `${SOUND}rules: ${text}\n`;
const bare = (lines: readonly string[]) => lines.map((line) => line.replace(/^\d+:\d+ /, ""));

t.test("a name that is none says which was meant, a core rule why it cannot be switched", async (t) => {
  for (const [text, said] of [
    [
      TOP("{ elicitation/secret-feild: enforce }"),
      /^rules\.elicitation\/secret-feild: unknown setting, did you mean elicitation\/secret-field\?$/,
    ],
    [
      ROUTE("{ http/acept: off }"),
      /^routes\[0\]\.rules\.http\/acept: unknown setting, did you mean http\/accept\?$/,
    ],
    [
      TOP("{ tools: [{ match: [x], http/acept: off }] }"),
      /^rules\.tools\[0\]\.http\/acept: .*did you mean http\/accept\?$/,
    ],
    [
      TOP("{ elicitation: { secret-field: off } }"),
      /^rules\.elicitation: unknown setting, did you mean elicitation\/secret-field\?$/,
    ],
    [
      TOP("{ secret-field: off }"),
      /^rules\.secret-field: unknown setting, did you mean elicitation\/secret-field\?$/,
    ],
    [
      TOP("{ elicitation: { nonsense: off } }"),
      /^rules\.elicitation: unknown setting, allowed names of rules in one word, such as elicitation\/[a-z-]+$/,
    ],
    [
      TOP("{ some/thing: off }"),
      /^rules\.some\/thing: unknown setting, allowed the rules that `sealgate rules` lists$/,
    ],
    [
      TOP("{ mrtr/single-use: off }"),
      /^rules\.mrtr\/single-use: is a rule that cannot be switched, allowed nothing here\. A sealed state is worth nothing without it\.$/,
    ],
    [
      TOP("{ tools: [{ match: [x], auth/token: report }] }"),
      /^rules\.tools\[0\]\.auth\/token: is a rule that cannot be switched/,
    ],
    [
      TOP("{ http/accept: warn }"),
      /^rules\.http\/accept: is not a known value, found "warn", allowed enforce \| report \| off$/,
    ],
    [TOP("{ http/accept: false }"), /^rules\.http\/accept: .*allowed enforce \| report \| off$/],
    [TOP("{ tools: [{ http/accept: off }] }"), /^rules\.tools\[0\]\.match: is required and missing/],
  ] as const) {
    const { problems } = await load(t, text);
    t.equal(problems.length, 1, text);
    t.match(bare(problems)[0], said);
  }
});

t.test("off takes protection away without a word, so there is a word", async (t) => {
  const rules =
    "{ http/accept: off, elicitation/link-in-text: off, mrtr/nothing-asked: report, tools: [{ match: [x], roots/file-uri: off }] }";
  for (const [text, at] of [
    [TOP(rules), "rules"],
    [ROUTE(rules), "routes[0].rules"],
  ] as const) {
    const { problems, warnings } = await load(t, text);
    t.same(problems, []);
    t.same(
      bare(warnings).flatMap((line) => (line.includes("is off") ? [line.slice(0, line.indexOf(":"))] : [])),
      [`${at}.http/accept`, `${at}.tools[0].roots/file-uri`],
    );
  }
  const { warnings } = await load(t, TOP('{ tools: [{ match: ["*"] }, { match: ["a(b|c)"] }] }'));
  t.ok(warnings.some((line) => /rules\.tools\[1\]: is never reached/.test(line)));
});

t.test(
  "a route's mode comes over the top's, a tool's over both; a route's tools replace the top's",
  async (t) => {
    const top =
      "rules: { http/accept: off, mrtr/nothing-asked: report, tools: [{ match: [a], http/accept: enforce }] }\n";
    const modesOf = async (text: string) => {
      const { loaded, problems } = await load(t, text);
      t.same(problems, []);
      const rules = loaded?.config.routes[0]?.rules;
      return rules === undefined ? undefined : compileModes(rules);
    };
    const plain = await modesOf(SOUND + top);
    t.same([plain?.("a")["http/accept"], plain?.("b")["http/accept"]], ["enforce", "off"]);
    const route = await modesOf(
      ROUTE("{ http/accept: report, tools: [{ match: [b], mrtr/nothing-asked: off }] }") + top,
    );
    t.same([route?.("a")["http/accept"], route?.("b")["http/accept"]], ["report", "report"]);
    t.same([route?.("a")["mrtr/nothing-asked"], route?.("b")["mrtr/nothing-asked"]], ["report", "off"]);
    const neither = await modesOf(SOUND);
    t.same(
      [neither?.(undefined)["http/accept"], neither?.("a")["elicitation/secret-field"]],
      ["enforce", "report"],
    );
  },
);
