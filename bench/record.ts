/** Results: printed as tables, and kept as JSON beside this file with what they were measured on. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { fileURLToPath } from "node:url";
import type { Spread } from "./load.ts";
import { CORES, PROGRAM, WIDE_PATH } from "./programs.ts";

/** What was measured of one thing: words for what it is, figures, and medians of several with the least and the greatest. */
export type Row = Readonly<Record<string, string | number | Spread>>;

/** The results of one part of `npm run bench`. */
export interface Results {
  readonly command: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** How long it took. */
  readonly seconds: number;
  /** Of the sources; with `+` where they were changed since. */
  readonly commit: string;
  readonly machine: Readonly<Record<string, string | number | boolean>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

/** What stands over figures. */
const HEADINGS: Readonly<Record<string, string>> = {
  case: "",
  way: "",
  of: "",
  with: "",
  proxy: "proxy",
  cpuMicroseconds: "CPU, µs a request",
  perCore: "requests/s per core",
  times: "× http-proxy, per core",
  cpuTimes: "× the first",
  rps: "requests/s",
  p50: "p50, ms",
  p99: "p99, ms",
  addedP50: "p50 beyond no proxy, ms",
  addedP99: "p99 beyond no proxy, ms",
  p50OverHttpProxy: "p50 beyond http-proxy, ms",
  p99OverHttpProxy: "p99 beyond http-proxy, ms",
  residentMiB: "resident, MiB",
  ownMiB: "own, MiB",
  perStreamKiB: "a stream, KiB",
};

const rounded = (value: number): number =>
  Number.isFinite(value) ? Number(value.toPrecision(Math.abs(value) >= 1_000 ? 4 : 3)) : value;

function shown(value: Row[string] | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number") return rounded(value).toLocaleString("en").replaceAll(",", " ");
  return `${shown(value.median)} (${shown(value.least)} to ${shown(value.most)})`;
}

/** Rows as a table in Markdown, in columns. */
export function tableOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const head = names.map((name) => HEADINGS[name] ?? name);
  const cells = [head, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_, at) => Math.max(3, ...cells.map((line) => line[at]?.length ?? 0)));
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [first = "", ...rest] = cells.map(line);
  return [first, line(widths.map((width) => "-".repeat(width))), ...rest].join("\n");
}

const place = (part: string): URL => new URL(`results/${part}.json`, import.meta.url);

/** Keeps the results of a full run. */
export function keep(part: string, rows: readonly Row[], seconds: number): Results {
  const results: Results = {
    command: `npm run bench -- ${part} --write`,
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round(seconds),
    commit: commit(),
    machine: {
      processor: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      system: `Linux ${release().split("-")[0]}`,
      pinned: CORES !== undefined,
      program: PROGRAM,
    },
    versions: versions(),
    rows,
  };
  const round = (_: string, value: unknown): unknown => (typeof value === "number" ? rounded(value) : value);
  mkdirSync(new URL(".", place(part)), { recursive: true });
  writeFileSync(place(part), `${JSON.stringify(results, round, 2)}\n`);
  return results;
}

/** The results that were kept of a part last. */
export const read = (part: string): Results => JSON.parse(readFileSync(place(part), "utf8")) as Results;

function commit(): string {
  const git = (...args: string[]): string =>
    spawnSync("git", args, { encoding: "utf8", cwd: fileURLToPath(new URL("..", import.meta.url)) }).stdout ??
    "";
  const changed = git("status", "--porcelain", "--", "src").trim() !== "";
  return `${git("rev-parse", "--short", "HEAD").trim() || "unknown"}${changed ? "+" : ""}`;
}

function versions(): Record<string, string> {
  const ask = (program: string, args: readonly string[], pattern: RegExp): [string, string][] => {
    const { stdout, stderr } = spawnSync(program, args, {
      encoding: "utf8",
      env: { ...process.env, PATH: WIDE_PATH },
    });
    const version = pattern.exec(`${stdout}${stderr}`)?.[1];
    return version === undefined ? [] : [[program, version]];
  };
  const packageOf = (name: string): [string, string] => {
    const url = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return [name, JSON.parse(readFileSync(url, "utf8")).version as string];
  };
  return Object.fromEntries([
    ["Node", process.versions.node],
    packageOf("fastify"),
    packageOf("@fastify/http-proxy"),
    packageOf("undici"),
    ...ask("nginx", ["-v"], /nginx\/([\d.]+)/),
    ...ask("haproxy", ["-v"], /version ([\d.]+)/),
    ...ask("redis-server", ["--version"], /v=([\d.]+)/),
  ]);
}
