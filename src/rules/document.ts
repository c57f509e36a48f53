/** `docs/rules.md`, written from the catalogue and the list of requirements. Pure. */
import { CATALOGUE, RULE_IDS, type RuleId } from "./catalogue.ts";
import { ROWS, UNANSWERED } from "./rows.ts";
import type { Rule } from "./rule.ts";

const SPECIFICATION = "https://modelcontextprotocol.io/specification/2026-07-28/";
const SITE = "https://modelcontextprotocol.io/";

const HEAD = `# Rules

Every check that is not a binding of a state is a rule with an id. This page is written from
[src/rules/](../src/rules/catalogue.ts) by \`npm run rules-doc\`; a test compares them.

## Modes

| Mode | A message that breaks the rule |
|---|---|
| \`enforce\` | is refused, dropped or mended, as the table says. Counted, and in the audit record |
| \`report\` | passes. Counted, in the audit record, and one line in the log |
| \`off\` | passes. Nobody looks, or nobody hears of it |

Rules about attacks that can be told for certain are enforced by default. Guesses (what looks like a
secret, a link, personal data) and the tidiness of results (cache hints, error codes) are reported.
Modes are set under \`rules\` for all routes, in a route, and for single tools; of the entries of
\`rules.tools\` the first that matches is laid over the others:

\`\`\`yaml
rules:
  elicitation/secret-field: enforce
  tools:
    - match: ["legacy_*"]
      mrtr/same-request-id: report
\`\`\`

A new rule, or a server that is new: \`report\` for a week, look at
\`sealgate_rule_findings_total{route,rule,mode}\` and at \`rules\` in the audit records, then \`enforce\`.
\`sealgate rules --config FILE\` prints what is in force.

Rules are about revision 2026-07-28. Of traffic of older revisions, where a route passes it, those of
HTTP, JSON and tokens are judged, and no others
([lifecycle.md](lifecycle.md#legacy-traffic)).

A rule whose mode is *core* cannot be switched: other promises rest on it. Refusals of core rules
are counted and recorded as \`enforce\`.

## What lists teach

Which \`Mcp-Param-*\` headers belong to which arguments stands in the server's \`tools/list\`. The
gateway remembers what it saw there, per route and in each process: at most 2,000 tools with such
parameters, for each of them the list of now and the one before. A tool that it has not seen in a
list is not judged. A server can change its list, and a client can know the new one from another
replica, so nobody is refused for what may only be old: a header differs if it does so by both lists
and no other argument has its value. One that another argument explains is reported under
\`http/param-header-missing\` as \`param_moved\`; so a caller who adds an argument with the value of a
forged header is reported and not refused. The server compares too, by the list of its own. With
\`http/param-header-missing: enforce\` a client that goes by a newer list can be refused until this
process has seen it.`;

/** The whole page. */
export function rulesDocument(): string {
  return [`${HEAD}\n`, catalogueText(), requirementsText()].join("\n");
}

function catalogueText(): string {
  const areas = [...new Set(RULE_IDS.map(areaOf))];
  const tables = areas.map((area) => {
    const ids = RULE_IDS.filter((id) => areaOf(id) === area);
    const rows = ids.map((id) => line([`\`${id}\``, ...ruleCells(CATALOGUE[id])]));
    return [
      `### ${area}`,
      "",
      line(["Rule", "Requirement", "Binds", "Broken, it is", "Default"]),
      RULE_LINE,
      ...rows,
      "",
    ];
  });
  return ["## The rules", "", ...tables.flat()].join("\n");
}

const RULE_LINE = "|---|---|---|---|---|";
const ACTIONS = { refuse: "refused", drop: "dropped", mend: "mended" } as const;

function ruleCells(rule: Rule): string[] {
  const requirement = `${rule.meaning} ([${rule.level}](${pageUrl(rule.page)}))`;
  const mode = "core" in rule ? `core. ${rule.core}` : `\`${rule.mode}\``;
  return [requirement, rule.side, ACTIONS[rule.action], mode];
}

function requirementsText(): string {
  const rows = ROWS.map(({ level, side, text }, index) =>
    line([String(index + 1), level, side, text, answerTo(index + 1)]),
  );
  const answered = ROWS.length - UNANSWERED.size;
  return [
    "## The requirements",
    "",
    `What the specification asks as far as it shows on the wire: ${ROWS.length} requirements, of which ${answered} are`,
    "answered by a rule. Those that are not say why.",
    "",
    line(["#", "Level", "Binds", "Requirement", "Answered by"]),
    RULE_LINE,
    ...rows,
    "",
  ].join("\n");
}

/** The rules that answer a requirement. */
export function rulesOfRow(row: number): RuleId[] {
  return RULE_IDS.filter((id) => CATALOGUE[id].rows.includes(row));
}

function answerTo(row: number): string {
  const rules = rulesOfRow(row).map((id) => ("core" in CATALOGUE[id] ? `\`${id}\` (core)` : `\`${id}\``));
  return rules.length > 0 ? rules.join(", ") : `Not a proxy's: ${UNANSWERED.get(row) ?? ""}`;
}

function pageUrl(page: string): string {
  if (page.startsWith("seps/")) return `${SITE}${page}`;
  if (page.startsWith("tutorials/")) return `${SITE}docs/2026-07-28/${page}`;
  return `${SPECIFICATION}${page.replace(/\/index$/, "")}`;
}

function areaOf(id: RuleId): string {
  return id.slice(0, id.indexOf("/"));
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
