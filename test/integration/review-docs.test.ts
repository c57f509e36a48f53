/** docs/review.md says what the reviewer does: its plan runs, and its table has every check. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { CHECKS } from "../../src/review/checks.ts";
import { reviewRecord } from "../../src/review/record.ts";
import { fences, page, rows, section } from "../support/markdown.ts";
import { startNaiveServer } from "../support/naive-server.ts";
import { startReview } from "../support/review-command.ts";

const paramsOf = (message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  (message["params"] ?? {}) as Readonly<Record<string, unknown>>;

const PAGE = page("docs/review.md");

t.test("every check is in the table, as it is", async (t) => {
  t.strictSame(
    rows(section(PAGE, "What it tries")),
    CHECKS.map(({ id, title, clause }) => [`\`${id}\``, title, `${clause.level}, ${clause.source}`]),
  );
  t.equal(new Set(CHECKS.map(({ id }) => id)).size, CHECKS.length);
  for (const { id, title, clause, advice } of CHECKS) {
    t.match(id, /^[a-z0-9-]+\/[a-z0-9-]+$/);
    for (const text of [title, clause.text, clause.source, advice]) t.ok(text.trim().length > 3, id);
  }
});

t.test("the plan of the page finds what is wrong with a server", async (t) => {
  const server = await startNaiveServer();
  t.teardown(() => server.close());
  const plan = fences(PAGE).find(
    ({ language, body }) => language === "yaml" && body.startsWith("# plan.yaml"),
  );
  const folder = t.testdir({});
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "plan.yaml");
  const shown = "http://127.0.0.1:3000/mcp";
  t.match(plan?.body, shown);
  writeFileSync(file, (plan?.body ?? "").replace(shown, server.url));
  const json = join(folder, "record.json");
  const tokens = { FIRST_TOKEN: "token-of-the-first", SECOND_TOKEN: "token-of-the-second" };
  const { code } = await startReview(t, ["--plan", file, "--rate", "500", "--json", json], tokens).ended;
  t.equal(code, 2);
  const record = reviewRecord.parse(JSON.parse(readFileSync(json, "utf8")));
  t.match(record.calls[0]?.map, [{ ends: "input_required" }, { ends: "complete" }]);
  t.match(record.options, { plan: "file", secondPrincipal: true, effectProbe: "tools/call balance" });
  const named = new Set(record.exchanges.map(({ sent }) => paramsOf(sent.message)["name"]));
  named.delete(undefined);
  t.strictSame([...named].filter((name) => !String(name).startsWith("sealgate-review")).sort(), [
    "balance",
    "refund",
    "transfer",
  ]);
});
