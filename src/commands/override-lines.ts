/** What `revoke` and `grants` print: one entry in a line, or JSON. Entries come from a store and are shown as text only. */
import type { Presented } from "../overrides/shown.ts";
import { tableLines } from "./text-table.ts";

const WIDEST = 60;

/**
 * Prints entries to standard output, oldest first.
 * @param json as one array, `[]` for none
 * @param none goes to standard error where there is nothing to print
 */
export function printList(entries: readonly Presented[], json: boolean, none: string): void {
  if (json) return void process.stdout.write(jsonOf(entries));
  if (entries.length === 0) return void process.stderr.write(`${none}\n`);
  const rows = [["id", "what", "until", "by", "reason"], ...entries.map(rowOf)];
  process.stdout.write(`${tableLines(rows, WIDEST).join("\n")}\n`);
}

/**
 * Prints what was set or taken back, and what a gateway said of it.
 * @param done one word: what was done
 */
export function printOne(entry: Presented, json: boolean, done: string): void {
  if (entry.warning !== undefined) process.stderr.write(`warning: ${clean(entry.warning)}\n`);
  if (json) process.stdout.write(jsonOf(entry));
  else {
    // It is written down; a replica acts on it when it has heard of it.
    process.stdout.write(
      `${done} ${entry.id}: ${whatOf(entry)}, until ${entry.until}; on all replicas within a second\n`,
    );
  }
}

function rowOf(entry: Presented): string[] {
  const { id, signed, until, by, reason = "" } = entry;
  const unsigned = signed === false ? " (not signed by a key of the ring)" : "";
  return [id, whatOf(entry) + unsigned, until, clean(by), clean(reason)];
}

function whatOf(entry: Presented): string {
  const { effect, capability, principal, chain, route, group, tool } = entry;
  const who = Object.entries(principal ?? {}).map(([name, value]) => `${name} ${clean(value)}`);
  const parts = [
    effect === undefined ? "" : `${effect} ${capability?.join(", ") ?? "all questions"}`,
    who.length === 0 ? "" : `principal (${who.join(", ")})`,
    ...Object.entries({ chain, route, group, tools: tool }).map(([name, value]) =>
      value === undefined ? "" : `${name} ${clean(value)}`,
    ),
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A terminal obeys what is not printable. */
export const clean = (value: string): string => value.replace(/\p{C}/gu, "?");

/** JSON in which all that is not printable is escaped, not only what JSON wants to be. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, null, 2).replace(/[^\P{C}\n]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
      return `\\u${unit}`;
    }).join(""),
  );
  return `${text}\n`;
}
