/** Each setting of the example, wrong or mistyped: one mistake is told once, and nothing that only follows from it. */
import { readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { parse, stringify } from "yaml";
import { allSettings, printPath, type Step } from "../../../src/config/json-schema.ts";
import { schemaProblems } from "../../../src/config/problems.ts";
import { SECTIONS } from "../../../src/config/schema.ts";
import { SWITCHABLE_IDS } from "../../../src/rules/catalogue.ts";
import { load } from "./load-text.ts";

type Holder = Record<Step, unknown>;

/** The example with every commented setting in force. */
const EXAMPLE = parse(
  readFileSync(new URL("../../../config/sealgate.yaml", import.meta.url), "utf8")
    .replace(/^( *)#(?!#)/gm, "$1")
    .replace(/^ yaml-language-server.*$/m, ""),
) as Holder;
const example = (): Holder => structuredClone(EXAMPLE);

async function said(t: Test, config: Holder) {
  const { problems, warnings } = await load(t, stringify(config));
  const bare = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^\S+ /, ""));
  return { problems: bare(problems), warnings: bare(warnings) };
}

function holderOf(config: Holder, path: readonly Step[]): Holder | undefined {
  const [last] = path.slice(-1);
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((value, step) => (value as Holder | undefined)?.[step], config);
  const isThere = typeof holder === "object" && holder !== null && last !== undefined && last in holder;
  return isThere ? (holder as Holder) : undefined;
}

/** All rules are settings of one kind; each place is tried with one of them. */
function isFurtherRule(path: readonly Step[]): boolean {
  const last = String(path.at(-1));
  return last.includes("/") && last !== "elicitation/secret-field" && last !== SWITCHABLE_IDS[0];
}

const spoil: Record<string, (holder: Holder, last: Step) => void> = {
  wrong(holder, last) {
    holder[last] = [[]];
  },
  mistyped(holder, last) {
    if (typeof last === "number") return;
    holder[`${last}s`] = holder[last];
    delete holder[last];
  },
};

for (const [name, apply] of Object.entries(spoil)) {
  t.test(`a setting that is ${name}`, async (t) => {
    const before = await said(t, example());
    let count = 0;
    for (const path of allSettings().filter((path) => !isFurtherRule(path))) {
      const config = example();
      const holder = holderOf(config, path);
      const last = path.at(-1) ?? "";
      if (holder === undefined || (name === "mistyped" && typeof last === "number")) continue;
      apply(holder, last);
      const { problems, warnings } = await said(t, config);
      const more = problems.filter((line) => !before.problems.includes(line));
      if (more.length !== 1 || !more[0]?.startsWith(printPath(path))) t.fail(printPath(path), { more });
      const ghosts = warnings.filter((line) => !before.warnings.includes(line));
      if (ghosts.length > 0) t.fail(printPath(path), { ghosts });
      count += 1;
    }
    t.ok(count > 100, `${count} settings`);
  });
}

t.test("whatever a value is, the message says what is allowed in words", async (t) => {
  const values: readonly unknown[] = [
    "2000h",
    600,
    10.5,
    "10 min",
    "on",
    "",
    true,
    {},
    [],
    [[]],
    "x".repeat(600),
  ];
  const place = () => ({ line: 1, column: 1 });
  let count = 0;
  for (const path of allSettings().filter((path) => !isFurtherRule(path))) {
    for (const value of values) {
      const config = example();
      const holder = holderOf(config, path);
      if (holder === undefined) continue;
      holder[path.at(-1) ?? ""] = value;
      const section = path[0] as keyof typeof SECTIONS;
      const { error } = SECTIONS[section].safeParse(config[section]);
      const doc = { value: config, problems: [], place, placeOfName: place };
      for (const { message } of schemaProblems(doc, [section], error?.issues ?? [])) {
        if (/allowed (another value|undefined|$)|Invalid|Too /.test(message))
          t.fail(`${printPath(path)}: ${message}`, { value });
        count += 1;
      }
    }
  }
  t.ok(count > 500, `${count} problems`);
  const { problems } = await said(t, { ...example(), redemption: { results: "2h" } });
  t.match(
    problems.filter((line) => line.startsWith("redemption")),
    [/^redemption\.results: is out of range, found "2h", allowed off, or a duration with its unit .* to 1h$/],
  );
});
