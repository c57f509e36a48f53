/** Tables and drawings of the documents say what the code says: refusals, causes, audit fields, exit codes. */
import { existsSync, readFileSync } from "node:fs";
import t from "tap";
import { memberTables } from "../../src/audit/published.ts";
import { EXIT } from "../../src/commands/exit.ts";
import { REFUSALS, type RefusalCode } from "../../src/errors.ts";
import { codes, page, ROOT, rows, section, spans } from "../support/markdown.ts";

const source = (path: string): string => readFileSync(`${ROOT}src/${path}`, "utf8");
const firsts = (cells: readonly string[][]): string[] => cells.flatMap(([first = ""]) => codes(first));

/** The words of a union of string literals in a source text. */
function union(text: string, start: string): string[] {
  const from = text.indexOf(start);
  const body = text.slice(from + start.length, text.indexOf(";", from));
  return [...body.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word);
}

t.test("docs/refusals.md has every refusal as it is", async (t) => {
  const { text } = page("docs/refusals.md");
  const pattern =
    /^#### `(\w+)`\n\nHTTP (\d+), JSON-RPC (-\d+)(?:, `Retry-After: (\d+)`)?\n\n((?:> .*\n)+)/gm;
  const written = [...text.matchAll(pattern)].map(([, code, status, rpc, retryAfter, quote = ""]) => [
    code,
    {
      status: Number(status),
      rpc: Number(rpc),
      message: quote.replaceAll(/^> /gm, "").trim().replaceAll("\n", " "),
      ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
    },
  ]);
  t.equal(written.length, (text.match(/^#### /gm) ?? []).length, "every section was read");
  t.same(Object.fromEntries(written), REFUSALS);
});

t.test("docs/refusals.md has every cause of a refused state", async (t) => {
  const table = rows(section(page("docs/refusals.md"), "Causes of a refused state"));
  const faults = union(source("envelope/format.ts"), "export type EnvelopeFault =");
  t.ok(faults.length > 10);
  t.same(firsts(table).sort(), [...faults, "legacy_carrier"].sort());
});

t.test("documents name every reason why the store cannot be used", async (t) => {
  const reasons = union(source("redemption/store.ts"), "export type UnavailableReason =");
  t.ok(reasons.includes("unauthorized"));
  for (const [path, heading] of [
    ["docs/refusals.md", "`store_unavailable`"],
    ["docs/redemption.md", "When Redis is away"],
    ["docs/operations.md", "Redis"],
  ] as const) {
    const named = spans(section(page(path), heading));
    t.same(
      reasons.filter((reason) => !named.includes(reason)),
      [],
      path,
    );
  }
});

t.test("docs/lifecycle.md places every refusal, and names files there are", async (t) => {
  const drawing = /```\n([\s\S]*?)```/.exec(page("docs/lifecycle.md").text)?.[1] ?? "";
  const words = [...drawing.matchAll(/\b[a-z_]+\b/g)].map(([word]) => word);
  t.same(
    words.filter((word) => word.includes("_") && !Object.hasOwn(REFUSALS, word)),
    [],
  );
  const missing = Object.keys(REFUSALS).filter((code) => !words.includes(code));
  const elsewhere: RefusalCode[] = ["cancelled", "internal"];
  t.same(missing.sort(), elsewhere);
  const files = [...drawing.matchAll(/\b[a-z-]+(?:\/[a-z-]+)*\.ts\b/g)].map(([file]) => file);
  t.ok(files.length > 15);
  t.same(
    files.filter((file) => !existsSync(`${ROOT}src/${file}`)),
    [],
  );
});

t.test(
  "docs/audit.md has every member of both kinds of records, as `sealgate audit schema --markdown` prints them",
  async (t) => {
    const { text } = page("docs/audit.md");
    const { audit, admin } = memberTables();
    t.ok(text.includes(`\n\n${audit}\n\n`), "audit");
    t.ok(text.includes(`\n\n${admin}\n\n`), "admin");
  },
);

t.test("docs/operations.md lists the exit codes", async (t) => {
  const table = rows(section(page("docs/operations.md"), "Exit codes"));
  const known = Object.values(EXIT).map(([code]) => String(code));
  t.same(
    table.map(([code]) => code),
    [...new Set([...known, "1"])].sort((a, b) => Number(a) - Number(b)),
  );
});
