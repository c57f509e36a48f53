/**
 * What of a section with mistakes can be read all the same: everything but the mistakes. It serves further checks, so
 * that the operator sees all problems at once, and is never run.
 */
import type * as z from "zod";
import type { Step } from "./json-schema.ts";
import { valueAt } from "./problems.ts";
import type { Secret } from "./schema.ts";

/** A section without what was wrong in it. */
export interface Pruned<T> {
  readonly data: T;
  /** The path of a setting in the file → whether something unreadable stood there, in it or around it. */
  lost(path: readonly Step[]): boolean;
  /** What was taken out together with mistakes beside it, and refers to a file or a variable, by the path of that in the file. */
  readonly references: readonly Reference[];
  /** A path in `data` → the path in the file: places in lists differ where entries were taken out. */
  original(path: readonly Step[]): Step[];
}

/** A setting `{ file }` or `{ env }`. */
export interface Reference {
  readonly path: readonly Step[];
  readonly secret: Secret;
}

/** Each round takes away at least what the last one found, level by level. */
const MAX_ROUNDS = 32;

/** Reads what can be read of `written`, which `schema` has refused; `undefined` when nothing can. */
export function prune<T>(schema: z.ZodType<T>, written: unknown): Pruned<T> | undefined {
  const value: unknown = structuredClone(written);
  const places = new Map<unknown, number[]>();
  const removed: Gone[] = [];
  const references: Reference[] = [];
  const original = (path: readonly Step[]): Step[] =>
    path.map((step, depth) => {
      const list = places.get(valueAt(value, path.slice(0, depth)));
      return typeof step === "number" ? (list?.[step] ?? step) : step;
    });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = schema.safeParse(value);
    if (result.success) {
      return {
        data: result.data,
        original,
        references,
        lost: (path) => removed.some((gone) => touches(gone, path)),
      };
    }
    const wrong = new Map<string, Step[]>();
    const strangers = new Set<string>();
    for (const issue of result.error.issues) {
      const path = issue.path as Step[];
      const named = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
      for (const one of named) {
        const there = standing(value, one);
        wrong.set(JSON.stringify(there), there);
        if (issue.code === "unrecognized_keys") strangers.add(JSON.stringify(there));
      }
      if (issue.code !== "unrecognized_keys") continue;
      const there = Object.keys(valueAt(value, path) as object);
      removed.push({ path: original(path), but: new Set(there) });
    }
    const paths = [...wrong.values()];
    if (paths.some((path) => path.length === 0)) return undefined;
    for (const path of paths) removed.push({ path: original(path) });
    for (const path of paths.sort(deepestFirst)) {
      for (const { path: within, secret } of referencesIn(valueAt(value, path)))
        if (!strangers.has(JSON.stringify(path)))
          references.push({ path: original([...path, ...within]), secret });
      remove(value, path, places);
    }
  }
  return undefined;
}

/** Where something was taken out. `but`: a name was not known, and may be a known one mistyped, other than these. */
interface Gone {
  readonly path: readonly Step[];
  readonly but?: ReadonlySet<Step>;
}

/** Whether `path` leads to what is gone, into it, or past it to something inside. */
function touches({ path: gone, but }: Gone, path: readonly Step[]): boolean {
  if (!gone.every((step, at) => at >= path.length || step === path[at])) return false;
  const next = path[gone.length];
  return but === undefined || next === undefined || !but.has(next);
}

/** `path`, or its nearest parent when nothing stands there: what is required is missing in that. */
function standing(value: unknown, path: readonly Step[]): Step[] {
  let there = [...path];
  while (there.length > 0 && valueAt(value, there) === undefined) there = there.slice(0, -1);
  return there;
}

/** Deeper ones first, later ones of a list first: so a path stays right until its turn comes. */
function deepestFirst(a: readonly Step[], b: readonly Step[]): number {
  return b.length - a.length || Number(b.at(-1)) - Number(a.at(-1)) || 0;
}

function remove(value: unknown, path: readonly Step[], places: Map<unknown, number[]>): void {
  const holder = valueAt(value, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(holder) && typeof last === "number") {
    const list = places.get(holder) ?? [...holder.keys()];
    holder.splice(last, 1);
    list.splice(last, 1);
    places.set(holder, list);
  } else if (typeof holder === "object" && holder !== null && last !== undefined) {
    Reflect.deleteProperty(holder, last);
  }
}

/** Whatever stands in a value that has the form of a reference. */
function referencesIn(value: unknown): Reference[] {
  if (typeof value !== "object" || value === null) return [];
  const members = Object.entries(value);
  const [name, text] = members[0] ?? [];
  if (members.length === 1 && typeof text === "string" && text !== "" && !Array.isArray(value)) {
    if (name === "file") return [{ path: [name], secret: { file: text } }];
    if (name === "env") return [{ path: [name], secret: { env: text } }];
  }
  return members.flatMap(([key, inner]) =>
    referencesIn(inner).map(({ path, secret }) => ({
      path: [Array.isArray(value) ? Number(key) : key, ...path],
      secret,
    })),
  );
}
