/** What `revoke` and `grants` print: one entry in a line, or JSON. Entries come from a store and are shown as text only. */
import type { Presented } from "../overrides/shown.ts";

const WIDE = 60;

/** Prints entries to standard output, oldest first. */
export function printList(entries: readonly Presented[], json: boolean, none: string): void {
  if (json) return void process.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  if (entries.length === 0) return void process.stderr.write(`${none}\n`);
  const rows = [["id", "what", "until", "by", "reason"], ...entries.map(rowOf)];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.min(WIDE, Math.max(...rows.map((row) => row[column]?.length ?? 0))),
  );
  for (const row of rows) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

/** Prints what was set or taken back, and what a gateway said of it. */
export function printOne(entry: Presented, json: boolean, done: string): void {
  if (entry["warning"] !== undefined) process.stderr.write(`warning: ${clean(entry["warning"])}\n`);
  if (json) process.stdout.write(`${JSON.stringify(entry, null, 2)}\n`);
  else process.stdout.write(`${done} ${clean(entry.id)}: ${whatOf(entry)}, until ${clean(entry["until"])}\n`);
}

function rowOf(entry: Presented): string[] {
  const unsigned = entry["signed"] === false ? " (not signed by a key of the ring)" : "";
  const [id, until, by, reason] = [entry.id, entry["until"], entry["by"], entry["reason"] ?? ""].map(clean);
  return [id ?? "", whatOf(entry) + unsigned, until ?? "", by ?? "", reason ?? ""];
}

function whatOf(entry: Presented): string {
  const { effect, capability, principal, chain, route, group, tool } = entry as Record<string, unknown>;
  const who = Object.entries((principal ?? {}) as object).map(([name, value]) => `${name} ${clean(value)}`);
  const parts = [
    effect === undefined
      ? ""
      : `${clean(effect)} ${Array.isArray(capability) ? capability.map(clean).join(", ") : "all questions"}`,
    who.length === 0 ? "" : `principal (${who.join(", ")})`,
    ...Object.entries({ chain, route, group, tools: tool }).map(([name, value]) =>
      value === undefined ? "" : `${name} ${clean(value)}`,
    ),
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A terminal obeys what is not printable. */
const clean = (value: unknown): string => String(value).replace(/\p{C}/gu, "?");
