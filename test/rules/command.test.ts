/** `sealgate rules`, as people start it. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { CATALOGUE, RULE_IDS } from "../../src/rules/catalogue.ts";
import { rulesDocument } from "../../src/rules/document.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

const CONFIG = `version: 1
authentication: { mode: anonymous }
redemption: { store: memory }
authorization: { default: allow }
rules:
  http/accept: report
  tools: [{ match: ["note_*"], http/accept: "off" }]
routes:
  - { path: /a, upstream: { url: "http://127.0.0.1:1/mcp" } }
  - { path: /b, upstream: { url: "http://127.0.0.1:2/mcp" }, rules: { elicitation/secret-field: enforce } }
  - { path: /c, upstream: { url: "http://127.0.0.1:3/mcp" }, rules: { tools: [{ match: [x, y], http/accept: enforce }] } }
`;

function configIn(t: Test): string {
  const file = join(t.testdir({}), "sealgate.yaml");
  writeFileSync(file, CONFIG);
  return file;
}

const rules = (
  ...args: string[]
): Promise<{ readonly code: unknown; readonly out: string; readonly err: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [MAIN, "rules", ...args], (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
const rowOf = (out: string, id: string): string[] =>
  (out.split("\n").find((line) => line.startsWith(`${id} `)) ?? "").split(/ {2,}/);

t.test("without a configuration the defaults, one line for each rule", async (t) => {
  const { code, out } = await rules();
  t.equal(code, 0);
  const lines = out.trimEnd().split("\n");
  t.equal(lines.length, RULE_IDS.length + 1);
  t.notMatch(out, / $/m);
  t.same(rowOf(out, "http/accept"), ["http/accept", "enforce"]);
  t.same(rowOf(out, "mrtr/single-use"), ["mrtr/single-use", "core"]);
});

t.test("with one the modes in force, and the routes that differ", async (t) => {
  const file = configIn(t);
  const all = await rules("--config", file);
  t.same(rowOf(all.out, "http/accept"), ["http/accept", "report", "enforce", "note_*: off, /c x|y: enforce"]);
  t.same(rowOf(all.out, "elicitation/secret-field").slice(0, 2), ["elicitation/secret-field", "report"]);
  t.match(all.out, /^elicitation\/secret-field +report +\/b: enforce$/m);
  const one = await rules("--config", file, "--route", "/b", "--tool", "note_x");
  t.same(rowOf(one.out, "http/accept"), ["http/accept", "off", "enforce"]);
  t.same(rowOf(one.out, "elicitation/secret-field"), ["elicitation/secret-field", "enforce", "report"]);
});

t.test("JSON says all that is known of a rule", async (t) => {
  const { out } = await rules("--config", configIn(t), "--json");
  const entries = JSON.parse(out) as Record<string, unknown>[];
  t.same(
    entries.map(({ id }) => id),
    RULE_IDS,
  );
  const found = (id: string) => entries.find((entry) => entry["id"] === id);
  t.same(found("elicitation/secret-field"), {
    id: "elicitation/secret-field",
    ...CATALOGUE["elicitation/secret-field"],
    core: false,
    mode: "report",
    default: "report",
    routes: { "/b": "enforce" },
    tools: [],
  });
  t.same(found("http/accept")?.["tools"], [
    { match: ["note_*"], mode: "off" },
    { match: ["x", "y"], mode: "enforce", route: "/c" },
  ]);
  t.match(found("auth/token"), { mode: "core", default: "core", core: /calling/ });
});

t.test("the page of the docs, and what does not go together", async (t) => {
  const [page, both, alone, nowhere] = await Promise.all([
    rules("--markdown"),
    rules("--markdown", "--json"),
    rules("--tool", "x"),
    rules("--config", configIn(t), "--route", "/d"),
  ]);
  t.equal(page?.out, rulesDocument());
  t.match(both, { code: 64, err: /--markdown goes with no other option/ });
  t.match(alone, { code: 64, err: /--tool goes with --config/ });
  t.match(nowhere, { code: 64, err: /--route is none of \/a, \/b, \/c/ });
});
