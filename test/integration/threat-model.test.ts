/** The threat model is complete and true to its form: every promise has a test, by file and name, and an attacker it is for. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import t from "tap";
import { page, ROOT } from "../support/markdown.ts";

const PATH = "docs/threat-model.md";
const { text } = page(PATH);

/** Lines of a table whose first cell is this letter and a number. */
const tableOf = (letter: string): { id: string; line: string }[] =>
  [...text.matchAll(new RegExp(`^\\| (${letter}\\d+) \\|.*$`, "gm"))].map(([line, id = ""]) => ({
    id,
    line,
  }));

const linksIn = (line: string): { name: string; target: string }[] =>
  [...line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = "", target = ""]) => ({ name, target }));

const PROMISES = tableOf("P");
const literally = (plain: string): string => plain.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whether a test file has a test of this name: as it stands, from a template, or as a case of a table. */
function hasTest(source: string, name: string): boolean {
  for (const [, , given = ""] of source.matchAll(/\bt\.test\(\s*(["'`])((?:\\.|(?!\1)[\s\S])*)\1/g)) {
    const pattern = given.split(/\$\{[^}]*\}/).map(literally);
    if (new RegExp(`^${pattern.join("[\\s\\S]+")}$`).test(name)) return true;
  }
  return source.includes(JSON.stringify(name)) && /\bt\.test\(\s*name\b/.test(source);
}

t.test("it has all its parts", async (t) => {
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  t.same(headings, ["Assets", "Trust boundaries", "Attackers", "What is promised", "Where it ends"]);
  t.ok(tableOf("A").length >= 8);
  const attackers = [...text.matchAll(/^\*\*T\d+ ([^*]+)\*\*/gm)].map(([, name]) => name);
  for (const kind of [/client/, /user/, /upstream/, /network/, /Redis/, /key/, /token/, /beside/])
    t.ok(
      attackers.some((name) => kind.test(name ?? "")),
      String(kind),
    );
});

t.test("promises are numbered without a gap", async (t) => {
  t.same(
    PROMISES.map(({ id }) => id),
    PROMISES.map((_, index) => `P${index + 1}`),
  );
});

t.test("every promise is held by tests that are there, by file and by name", async (t) => {
  for (const { id, line } of PROMISES) {
    const held = linksIn(line).filter(({ target }) => target.includes("/test/"));
    t.ok(held.length > 0, `${id} has a test`);
    for (const { name, target } of held) {
      const file = normalize(join(dirname(PATH), target));
      t.match(file, /^test\/[\w/-]+\.test\.ts$/, `${id}: ${target}`);
      if (!existsSync(`${ROOT}${file}`)) t.fail(`${id}: no file ${file}`);
      else t.ok(hasTest(readFileSync(`${ROOT}${file}`, "utf8"), name), `${id}: ${file}: ${name}`);
    }
  }
});

t.test("every promise is for an attacker, and attackers name no other", async (t) => {
  const attackers = text.slice(text.indexOf("## Attackers"), text.indexOf("## What is promised"));
  const named = new Set<string>();
  for (const [, from, to] of attackers.matchAll(/\bP(\d+)(?: to P(\d+))?/g))
    for (let n = Number(from); n <= Number(to ?? from); n++) named.add(`P${n}`);
  const ids = PROMISES.map(({ id }) => id);
  t.same(
    ids.filter((id) => !named.has(id)),
    [],
    "promises for nobody",
  );
  t.same(
    [...named].filter((id) => !ids.includes(id)),
    [],
    "promises that are not made",
  );
});

t.test("this check can fail", async (t) => {
  const template = ["`two $", "{x} three`"].join("");
  const source = `t.test("one", f);\nt.test(${template}, f);\nfor (const [name] of [["case four"]]) t.test(name, f);`;
  for (const name of ["one", "two of three", "case four"]) t.ok(hasTest(source, name), name);
  for (const name of ["on", "ones", "two  threes", "case", "name"]) t.notOk(hasTest(source, name), name);
});
