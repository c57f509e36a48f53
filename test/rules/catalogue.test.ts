/** The catalogue against its document, its example and its cases: nothing is claimed that is not tried. */
import { readFileSync } from "node:fs";
import t from "tap";
import { parse } from "yaml";
import { CATALOGUE, defaultMode, isSwitchable, RULE_IDS, SWITCHABLE_IDS } from "../../src/rules/catalogue.ts";
import { rulesDocument, rulesOfRow } from "../../src/rules/document.ts";
import { compileModes, DEFAULT_MODES } from "../../src/rules/modes.ts";
import { ruleOfRefusal } from "../../src/rules/refusals.ts";
import { ROWS, UNANSWERED } from "../../src/rules/rows.ts";
import { authCases, setCallers } from "./auth-cases.ts";
import { CREDENTIAL_CASES, ELICITATION_CASES, SAMPLING_CASES } from "./elicitation-cases.ts";
import { HTTP_CASES } from "./http-cases.ts";
import { MRTR_CASES } from "./mrtr-cases.ts";
import { PROTOCOL_CASES } from "./protocol-cases.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

t.test("docs/rules.md is what `npm run rules-doc` writes", async (t) => {
  t.equal(read("docs/rules.md"), rulesDocument());
});

t.test("every requirement is answered by a rule, or says why not; a hundred and more are", async (t) => {
  t.equal(ROWS.length, 118);
  const rows = ROWS.map((_, index) => index + 1);
  t.same(
    rows.filter((row) => rulesOfRow(row).length === 0),
    [...UNANSWERED.keys()],
  );
  t.ok(rows.length - UNANSWERED.size >= 100);
  for (const id of RULE_IDS) for (const row of CATALOGUE[id].rows) t.ok(rows.includes(row), `${id} ${row}`);
});

t.test("what a rule claims to answer is tried, broken and kept", async (t) => {
  const callers = await setCallers();
  t.teardown(() => callers.issuer.close());
  const cases = [
    ...[...MRTR_CASES, ...ELICITATION_CASES, ...SAMPLING_CASES, ...CREDENTIAL_CASES],
    ...[...HTTP_CASES, ...PROTOCOL_CASES, ...authCases(callers)],
  ];
  for (const { rule, rows } of cases) {
    for (const row of rows) t.ok(CATALOGUE[rule].rows.includes(row as never), `${rule} answers ${row}`);
  }
  const tried = new Set(cases.flatMap(({ rule, rows }) => rows.map((row) => `${rule} ${row}`)));
  const claimed = RULE_IDS.flatMap((id) => CATALOGUE[id].rows.map((row) => `${id} ${row}`));
  t.same(
    claimed.filter((claim) => !tried.has(claim)),
    [],
  );
});

t.test("a rule can be switched or says why not, in one line each", async (t) => {
  for (const id of RULE_IDS) {
    const rule = CATALOGUE[id];
    t.match(id, /^[a-z]+\/[a-z-]+$/);
    t.match(rule.meaning, /\.$/, id);
    t.notMatch(rule.meaning, /\n/, id);
    if ("core" in rule) t.match(rule.core, /^[a-zA-Z].*\.$/, id);
    else t.ok(["enforce", "report", "off"].includes(rule.mode), id);
  }
});

t.test("the example shows the defaults", async (t) => {
  const text = read("config/sealgate.yaml")
    .replace(/^#(?!#)/gm, "")
    .replace(/^ yaml-language-server.*$/m, "");
  const { tools, ...rules } = parse(text).rules;
  t.same(rules, Object.fromEntries(SWITCHABLE_IDS.map((id) => [id, defaultMode(id)])));
  t.ok(Array.isArray(tools));
});

t.test(
  "modes: the tool over the route over the default; the first entry decides; core rules stay",
  async (t) => {
    const modes = compileModes({
      "http/accept": "report",
      "mrtr/nothing-asked": "off",
      tools: [
        { match: ["note_*", "memo"], "http/accept": "off" },
        { match: ["note_a", "other"], "http/accept": "enforce" },
      ],
      "mrtr/single-use": "off",
    } as Parameters<typeof compileModes>[0]);
    const accept = (tool?: string) => modes(tool)["http/accept"];
    t.same(
      [accept(), accept("x"), accept("note_a"), accept("memo"), accept("other")],
      [...["report", "report", "off", "off", "enforce"]],
    );
    t.equal(modes("note_a")["mrtr/nothing-asked"], "off", "laid over those of the route");
    t.equal(modes(undefined)["mrtr/single-use"], "enforce");
    t.equal(modes("x"), modes(undefined), "nothing is made for each request");
    t.same(compileModes({ tools: [] })("x"), DEFAULT_MODES);
  },
);

t.test("refusals have the rule behind them; limits, policy and outages have none", async (t) => {
  t.equal(ruleOfRefusal("invalid_request_state", "principal"), "mrtr/state-principal");
  t.equal(ruleOfRefusal("invalid_request_state", "anything"), "mrtr/state-integrity");
  t.equal(ruleOfRefusal("upstream_fault", "json_duplicate_key"), "mrtr/duplicate-key");
  t.equal(ruleOfRefusal("upstream_fault", "json_utf8"), "protocol/json");
  t.equal(ruleOfRefusal("upstream_fault", "status_503"), "protocol/error-answer");
  t.equal(ruleOfRefusal("forbidden", "policy"), undefined);
  t.equal(ruleOfRefusal("store_unavailable", "timeout"), undefined);
  t.equal(ruleOfRefusal("method_not_found", "policy"), undefined);
  t.ok(SWITCHABLE_IDS.every(isSwitchable));
});
