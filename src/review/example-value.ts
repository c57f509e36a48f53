/**
 * A value that fits a schema, made from the schema alone: for the arguments of a call and the answers to a form. Knows the part of
 * JSON Schema that forms may use, and objects around it; for everything else it says that it knows none. Pure, bounded.
 */
import { isObject, type Json, own } from "../mcp/parsed.ts";

const MAX_DEPTH = 4;
const MAX_TEXT = 4_096;
const MAX_ITEMS = 16;

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["email", "review@example.com"],
  ["uri", "https://example.com/review"],
  ["date", "2026-01-01"],
  ["date-time", "2026-01-01T00:00:00Z"],
]);

/** Members whose values would have to be read for a value that fits; a schema with them is not understood. */
const TOO_MUCH = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "not",
  "if",
  "dependentSchemas",
  "dependentRequired",
  "contains",
];

/** Which of two examples that differ where the schema leaves a choice. */
export type Variant = "one" | "other";

/**
 * An object with the required members only.
 * @param schema untrusted
 * @returns undefined where none can be made for certain
 */
export function exampleObject(schema: unknown, variant: Variant = "one", depth = 0): Json | undefined {
  if (!isObject(schema) || TOO_MUCH.some((word) => own(schema, word) !== undefined)) return undefined;
  if (own(schema, "anyOf") !== undefined || own(schema, "oneOf") !== undefined) return undefined;
  const properties = own(schema, "properties") ?? {};
  const required = own(schema, "required") ?? [];
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  const made: [string, unknown][] = [];
  for (const name of required) {
    const value =
      typeof name === "string" ? exampleValue(own(properties, name), variant, depth + 1) : undefined;
    if (value === undefined) return undefined;
    made.push([String(name), value]);
  }
  return Object.fromEntries(made);
}

/** One value. `undefined` where none can be made for certain. */
export function exampleValue(schema: unknown, variant: Variant = "one", depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH || TOO_MUCH.some((word) => own(schema, word) !== undefined))
    return undefined;
  if (own(schema, "const") !== undefined) return own(schema, "const");
  const preset = own(schema, "default");
  if (preset !== undefined && variant === "one") return preset;
  const options = own(schema, "enum");
  if (Array.isArray(options)) return (variant === "other" ? options[1] : undefined) ?? options[0];
  const titled = own(schema, "oneOf") ?? own(schema, "anyOf");
  if (titled !== undefined) {
    const [first] = Array.isArray(titled) ? (titled as unknown[]) : [];
    return isObject(first) ? own(first, "const") : undefined;
  }
  switch (own(schema, "type")) {
    case "string":
      return exampleText(schema, variant);
    case "boolean":
      return variant === "one";
    case "integer":
    case "number":
      return exampleNumber(schema, variant);
    case "array":
      return exampleList(schema, variant, depth);
    case "object":
      return exampleObject(schema, variant, depth);
    default:
      return undefined;
  }
}

function exampleText(schema: Json, variant: Variant): string | undefined {
  if (own(schema, "pattern") !== undefined) return undefined;
  const [format, least, most] = [own(schema, "format"), own(schema, "minLength"), own(schema, "maxLength")];
  const plain = variant === "one" ? "review" : "another review";
  const text = format === undefined ? plain : FORMATS.get(String(format));
  if (text === undefined) return undefined;
  const min = typeof least === "number" ? least : 0;
  const max = typeof most === "number" ? most : MAX_TEXT;
  if (min > max || min > MAX_TEXT) return undefined;
  if (format !== undefined) return text.length >= min && text.length <= max ? text : undefined;
  return text.padEnd(min, "x").slice(0, max);
}

function exampleNumber(schema: Json, variant: Variant): number | undefined {
  for (const word of ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
    if (own(schema, word) !== undefined) return undefined;
  const [least, most] = [own(schema, "minimum"), own(schema, "maximum")];
  const min = typeof least === "number" ? Math.ceil(least) : Number.NEGATIVE_INFINITY;
  const max = typeof most === "number" ? Math.floor(most) : Number.POSITIVE_INFINITY;
  return min > max ? undefined : Math.min(Math.max(1, min) + (variant === "other" ? 1 : 0), max);
}

function exampleList(schema: Json, variant: Variant, depth: number): unknown[] | undefined {
  const least = own(schema, "minItems");
  const count = typeof least === "number" ? least : 0;
  if (count === 0) return [];
  if (count > MAX_ITEMS || (own(schema, "uniqueItems") === true && count > 1)) return undefined;
  const items = own(schema, "items");
  const options = isObject(items) ? own(items, "enum") : undefined;
  // The options of a list of choices are given once each.
  if (Array.isArray(options)) return options.length < count ? undefined : options.slice(0, count);
  const item = exampleValue(items, variant, depth + 1);
  return item === undefined ? undefined : Array.from({ length: count }, () => item);
}
