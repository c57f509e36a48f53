/** Results: printed as tables, and kept as JSON beside this file with what they were measured on. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release } from "node:os";
import { CORES } from "./programs.ts";

/** One figure or more of one thing measured. */
export type Row = Readonly<Record<string, string | number>>;

/** The results of one part of `npm run bench`. */
export interface Results {
  readonly command: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly machine: Readonly<Record<string, string | number | boolean>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

const place = (part: string): URL => new URL(`results/${part}.json`, import.meta.url);

/** Prints rows, the names of figures over them. */
export function print(rows: readonly Row[]): void {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [names, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  for (const line of cells)
    console.log(`  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
  console.log();
}

/** Three digits that count, and no more than a figure has. */
const shown = (value: string | number | undefined): string =>
  typeof value === "number" ? String(rounded(value)) : (value ?? "");

const rounded = (value: number): number =>
  Number.isFinite(value) ? Number(value.toPrecision(Math.abs(value) >= 1000 ? 4 : 3)) : value;

/** Keeps the results of a full run. */
export function write(part: string, rows: readonly Row[]): void {
  const kept = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === "number" ? rounded(value) : value]),
    ),
  );
  const results: Results = {
    command: `npm run bench -- ${part} --write`,
    date: new Date().toISOString().slice(0, 10),
    machine: {
      processor: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      system: `Linux ${release()}`,
      pinned: CORES !== undefined,
    },
    versions: versions(),
    rows: kept,
  };
  writeFileSync(place(part), `${JSON.stringify(results, undefined, 2)}\n`);
}

/** The results kept of a part. */
export const read = (part: string): Results => JSON.parse(readFileSync(place(part), "utf8")) as Results;

function versions(): Record<string, string> {
  const ask = (program: string, args: readonly string[], pattern: RegExp): [string, string][] => {
    const env = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
    const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env });
    const version = pattern.exec(`${stdout}${stderr}`)?.[1];
    return version === undefined ? [] : [[program, version]];
  };
  const packageOf = (name: string): [string, string] => {
    const url = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return [name, JSON.parse(readFileSync(url, "utf8")).version as string];
  };
  return Object.fromEntries([
    ["node", process.versions.node],
    packageOf("fastify"),
    packageOf("@fastify/http-proxy"),
    packageOf("undici"),
    ...ask("nginx", ["-v"], /nginx\/([\d.]+)/),
    ...ask("haproxy", ["-v"], /version ([\d.]+)/),
    ...ask("redis-server", ["--version"], /v=([\d.]+)/),
  ]);
}
