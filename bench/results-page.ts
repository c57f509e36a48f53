/** Puts the results of a part into bench/results.md, between two comments with its name. The words around them are people's. */
import { readFileSync, writeFileSync } from "node:fs";
import { type Results, tableOf } from "./record.ts";

const PAGE = new URL("results.md", import.meta.url);

/** @throws Error where the page has no place for it */
export function writePage(part: string, results: Results): void {
  writeFileSync(PAGE, placed(readFileSync(PAGE, "utf8"), part, results));
}

/** The page with the results in their place. Pure. */
export function placed(page: string, part: string, results: Results): string {
  const [begin, end] = [`<!-- ${part}: written by npm run bench -->`, `<!-- end of ${part} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`bench/results.md has no "${begin}" with "${end}" behind it`);
  const text = `${begin}\n\n${provenance(results)}\n\n${tableOf(results.rows)}\n\n`;
  return page.slice(0, from) + text + page.slice(to);
}

function provenance({ command, date, seconds, commit, machine, versions }: Results): string {
  const { processor, cores, system, pinned, program } = machine;
  const place =
    pinned === true ? "proxies pinned to one core, load and server to the rest" : "nothing pinned";
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `\`${command}\`, ${date}, ${seconds} s, ${program} of ${commit}. ${cores} cores (${processor}), ${system}; ${place}.`,
    `${named.join(", ")}.`,
  ].join("\n");
}
