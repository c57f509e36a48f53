/** What came out of the comparison: for people, and as faults. */
import { isDeepStrictEqual } from "node:util";
import { BY_DESIGN, type Comparison, type Difference, differences } from "./comparison.ts";
import { REVISION, type Results, type Status, versionOf } from "./suite.ts";

const PACKAGES = [
  "@modelcontextprotocol/conformance",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/node",
] as const;

const GOOD: ReadonlySet<Status> = new Set(["SUCCESS", "INFO"]);

/** Checks that the suite has not found good. */
const bad = (results: Results): string[] =>
  [...results].flatMap(([check, status]) => (GOOD.has(status) ? [] : [`${check} (${status})`]));

/** Everything that should be otherwise, a line each. */
export function faultsOf({ direct, through, forwarding, careless }: Comparison): string[] {
  const named = (what: string, found: readonly Difference[]): string[] =>
    found.map((one) => `${what}: ${one.check} is ${one.through}, directly ${one.direct}`);
  const byDefault = differences(direct, through);
  return [
    ...bad(direct).map((check) => `the server alone: ${check}`),
    ...(isDeepStrictEqual(byDefault, BY_DESIGN)
      ? []
      : [...named("by default", byDefault), `by default ${BY_DESIGN.length} checks differ`]),
    ...named("answersWithoutState: forward", differences(direct, forwarding)),
    ...(bad(careless.direct).length === 0 ? ["the careless server was careful"] : []),
    ...bad(careless.through).map((check) => `a changed state of a careless server: ${check}`),
  ];
}

/** docs/conformance.md. */
export async function report(found: Comparison): Promise<string> {
  const versions = await Promise.all(PACKAGES.map(versionOf));
  const { direct, through, forwarding, careless } = found;
  const count = (results: Results, status: Status): number =>
    [...results.values()].filter((one) => one === status).length;
  const row = (name: string, results: Results): string =>
    `| ${name} | ${results.size} | ${count(results, "SUCCESS")} | ${count(results, "WARNING")} | ${count(results, "FAILURE")} |`;
  const scenarios = [...new Set([...direct.keys()].map((check) => check.split(": ")[0] ?? ""))].sort();
  const of = (results: Results, scenario: string): string => {
    const own = [...results]
      .filter(([check]) => check.startsWith(`${scenario}: `))
      .map(([, status]) => status);
    const good = own.filter((status) => GOOD.has(status)).length;
    return good === own.length ? `${good}` : `${good} of ${own.length}`;
  };
  return `# Conformance

The official suite for MCP servers, revision ${REVISION}, against a server built on the SDK: directly, and through the gateway. Written by
\`npm run conformance -- --write\`; a test makes the same comparison in each run of the tests.

${versions.map((version) => `- ${version}`).join("\n")}

| | checks | passed | warnings | failed |
|---|---|---|---|---|
${row("the server alone", direct)}
${row("through the gateway, default settings", through)}
${row("through the gateway, `answersWithoutState: forward`", forwarding)}
${row("a server that trusts states: the check of a changed state, alone", careless.direct)}
${row("the same through the gateway", careless.through)}

Checks that differ by default:

${BY_DESIGN.map(({ check, direct: from, through: to }) => `- \`${check}\`: ${from} becomes ${to}`).join("\n")}

They send answers without a state to a server that gave out none. Every question that passes the gateway leaves with a state, so
answers without one belong to no question that was asked through it; they are refused, and the suite would rather see the question asked
again. With \`roundTrip.answersWithoutState: forward\` nothing differs.

Before each run through the gateway it is made sure that the gateway answers, by a state that it never sealed: against a closed port
many checks of the suite pass.

## By scenario

Checks that passed, of those made.

| scenario | alone | through | forwarding |
|---|---|---|---|
${scenarios.map((name) => `| ${name} | ${of(direct, name)} | ${of(through, name)} | ${of(forwarding, name)} |`).join("\n")}
`;
}
