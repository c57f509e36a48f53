/** A number that fits the bounds of a schema. Pure. */
import { type Json, own } from "../mcp/parsed.ts";

const STEPS = 4;

/**
 * The number next to 1, and for `other` the one after it where there is room.
 * @returns the keyword that nothing fits, where nothing does
 */
export function exampleNumber(
  schema: Json,
  variant: "one" | "other",
  isWhole: boolean,
): { readonly value: number } | { readonly keyword: string } {
  const bound = (name: string): number | undefined => {
    const value = own(schema, name);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
  const given = own(schema, "multipleOf");
  const multiple = bound("multipleOf");
  if (given !== undefined && (multiple === undefined || multiple <= 0)) return { keyword: "multipleOf" };
  const [least, most, over, under] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map(
    bound,
  );
  // In JSON Schema of draft 4 these were flags.
  for (const name of ["exclusiveMinimum", "exclusiveMaximum"])
    if (own(schema, name) !== undefined && bound(name) === undefined) return { keyword: name };
  const fits = (value: number): boolean =>
    (least === undefined || value >= least) &&
    (most === undefined || value <= most) &&
    (over === undefined || value > over) &&
    (under === undefined || value < under) &&
    (!isWhole || Number.isSafeInteger(value)) &&
    (multiple === undefined || Number.isInteger(value / multiple));
  const low = Math.max(least ?? Number.NEGATIVE_INFINITY, over ?? Number.NEGATIVE_INFINITY);
  const high = Math.min(most ?? Number.POSITIVE_INFINITY, under ?? Number.POSITIVE_INFINITY);
  const nearest = Math.min(Math.max(1, low), high);
  const step = multiple ?? 1;
  const first = Math.floor(nearest / step) * step;
  const tried = Array.from({ length: 2 * STEPS + 1 }, (_, index) => first + (index - STEPS) * step);
  // What lies between two whole numbers, where the bounds leave no other.
  const between = multiple === undefined ? [low, high, (low + high) / 2] : [];
  const fitting = [...new Set([...tried, ...between])].filter(
    (value) => Number.isFinite(value) && fits(value),
  );
  const one = fitting.toSorted((a, b) => Math.abs(a - nearest) - Math.abs(b - nearest))[0];
  if (one === undefined) {
    const keyword = ["multipleOf", "exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum"];
    return { keyword: keyword.find((name) => own(schema, name) !== undefined) ?? "type" };
  }
  const next = fitting.filter((value) => value > one).toSorted((a, b) => a - b)[0];
  return { value: variant === "other" ? (next ?? one) : one };
}
