/**
 * A value that fits a schema, made from the schema alone: for the arguments of a call and the answers to a form. Knows the part of
 * JSON Schema that forms and simple tools use, and local references; of everything else it says which keyword it does not know.
 * Pure, bounded.
 */
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { exampleNumber } from "./example-number.ts";

const MAX_DEPTH = 4;
const MAX_REFERENCES = 8;
const MAX_TEXT = 4_096;
const MAX_ITEMS = 16;
const MAX_BRANCHES = 16;

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["email", "review@example.com"],
  ["uri", "https://example.com/review"],
  ["date", "2026-01-01"],
  ["date-time", "2026-01-01T00:00:00Z"],
]);

/** Members whose values would have to be read for a value that fits; a schema with them is not understood. */
const TOO_MUCH = ["$dynamicRef", "allOf", "not", "if", "dependentSchemas", "dependentRequired", "contains"];

/** Which of two examples that differ where the schema leaves a choice. */
export type Variant = "one" | "other";

/** An example, or why there is none: which property, and which keyword stands in the way. */
export type Example<Value> =
  | { readonly value: Value }
  | { readonly property: string | undefined; readonly keyword: string };

/** Where in a schema the maker is. */
interface Place {
  /** The whole schema, which `#/…` starts at. */
  readonly root: Json;
  readonly variant: Variant;
  readonly depth: number;
  /** Names of properties, from the outside. */
  readonly path: readonly string[];
}

class NoExample extends Error {
  readonly path: readonly string[];
  readonly keyword: string;

  constructor({ path }: Place, keyword: string) {
    super(keyword);
    this.path = path;
    this.keyword = keyword;
  }
}

/**
 * An object with the required members only.
 * @param schema untrusted
 */
export function objectExample(schema: unknown, variant: Variant = "one"): Example<Json> {
  if (!isObject(schema)) return { property: undefined, keyword: "type" };
  return attempt(() => makeObject(resolved(schema, start(schema, variant)), start(schema, variant)));
}

/** The same. @returns undefined where none can be made for certain */
export function exampleObject(schema: unknown, variant: Variant = "one"): Json | undefined {
  const made = objectExample(schema, variant);
  return "value" in made ? made.value : undefined;
}

/** One value. `undefined` where none can be made for certain. */
export function exampleValue(schema: unknown, variant: Variant = "one"): unknown {
  const made = attempt(() => makeValue(schema, start(isObject(schema) ? schema : {}, variant)));
  return "value" in made ? made.value : undefined;
}

/** Why there is none, in a few words; what the server wrote stands in quotation marks. */
export function missingExample({ property, keyword }: Exclude<Example<unknown>, { value: unknown }>): string {
  const where = property === undefined ? "the schema" : `property ${JSON.stringify(property.slice(0, 64))}`;
  return `${where} has ${JSON.stringify(keyword)}, which no value is made for`;
}

const start = (root: Json, variant: Variant): Place => ({ root, variant, depth: 0, path: [] });

function attempt<Value>(work: () => Value): Example<Value> {
  try {
    return { value: work() };
  } catch (error) {
    if (!(error instanceof NoExample)) throw error;
    const property = error.path.length === 0 ? undefined : error.path.join(".");
    return { property, keyword: error.keyword };
  }
}

/** Follows `#/…`; what stands beside a reference would count as well, so nothing but words for people may. */
function resolved(schema: Json, place: Place): Json {
  let at = schema;
  for (let step = 0; own(at, "$ref") !== undefined; step += 1) {
    const ref = own(at, "$ref");
    const beside = Object.keys(at).filter(
      (name) => !["$ref", "title", "description", "$defs", "definitions", "$schema", "$id"].includes(name),
    );
    const isLocal = typeof ref === "string" && ref.startsWith("#/") && !ref.includes("%");
    if (!isLocal || step >= MAX_REFERENCES || beside.length > 0) throw new NoExample(place, "$ref");
    let found: unknown = place.root;
    for (const part of ref.slice(2).split("/"))
      found = isObject(found) ? own(found, part.replaceAll("~1", "/").replaceAll("~0", "~")) : undefined;
    if (!isObject(found)) throw new NoExample(place, "$ref");
    at = found;
  }
  return at;
}

function refuseUnknown(schema: Json, place: Place): void {
  const word = TOO_MUCH.find((one) => own(schema, one) !== undefined);
  if (word !== undefined) throw new NoExample(place, word);
}

function makeObject(schema: Json, place: Place): Json {
  refuseUnknown(schema, place);
  for (const word of ["anyOf", "oneOf", "minProperties"])
    if (own(schema, word) !== undefined) throw new NoExample(place, word);
  const properties = own(schema, "properties") ?? {};
  const required = own(schema, "required") ?? [];
  if (!isObject(properties)) throw new NoExample(place, "properties");
  if (!Array.isArray(required)) throw new NoExample(place, "required");
  const made: [string, unknown][] = [];
  for (const name of required as unknown[]) {
    if (typeof name !== "string") throw new NoExample(place, "required");
    const inner = { ...place, depth: place.depth + 1, path: [...place.path, name] };
    const found = own(properties, name);
    if (found === undefined) throw new NoExample(inner, "required");
    made.push([name, makeValue(found, inner)]);
  }
  return Object.fromEntries(made);
}

function makeValue(given: unknown, place: Place): unknown {
  if (!isObject(given)) throw new NoExample(place, "type");
  if (place.depth > MAX_DEPTH) throw new NoExample(place, "properties");
  const schema = resolved(given, place);
  refuseUnknown(schema, place);
  if (own(schema, "const") !== undefined) return own(schema, "const");
  const preset = presetOf(schema);
  if (preset !== undefined && (place.variant === "one" || own(schema, "pattern") !== undefined))
    return preset;
  const options = own(schema, "enum");
  if (Array.isArray(options)) return (place.variant === "other" ? options[1] : undefined) ?? options[0];
  for (const word of ["oneOf", "anyOf"] as const) {
    const branches = own(schema, word);
    if (branches !== undefined) return makeBranch(schema, branches, word, place);
  }
  const type = typeOf(schema);
  switch (type) {
    case "string":
      return makeText(schema, place);
    case "boolean":
      return place.variant === "one";
    case "integer":
    case "number": {
      const made = exampleNumber(schema, place.variant, type === "integer");
      if ("keyword" in made) throw new NoExample(place, made.keyword);
      return made.value;
    }
    case "array":
      return makeList(schema, place);
    case "object":
      return makeObject(schema, place);
    case "null":
      return null;
    default:
      throw new NoExample(place, "type");
  }
}

/** What the schema itself gives as a value; of all of them, `default` first. */
function presetOf(schema: Json): unknown {
  const preset = own(schema, "default");
  if (preset !== undefined && preset !== null) return preset;
  const examples = own(schema, "examples");
  const [example] = Array.isArray(examples) ? (examples as unknown[]) : [];
  return example ?? own(schema, "example") ?? undefined;
}

/** The one type, or the one beside null. */
function typeOf(schema: Json): unknown {
  const type = own(schema, "type");
  if (!Array.isArray(type)) return type;
  const [one, more] = (type as unknown[]).filter((name) => name !== "null");
  return more === undefined ? one : undefined;
}

/** The first branch that is not null. Those of oneOf could exclude each other's values, unless they are constants or null. */
function makeBranch(schema: Json, branches: unknown, word: "oneOf" | "anyOf", place: Place): unknown {
  const beside = ["properties", "required", "minimum", "maximum", "pattern", "minLength", "maxLength"];
  if (!Array.isArray(branches) || beside.some((name) => own(schema, name) !== undefined))
    throw new NoExample(place, word);
  const all = (branches as unknown[]).slice(0, MAX_BRANCHES).filter(isObject);
  const constants = all.filter((branch) => own(branch, "const") !== undefined);
  const [first, second] = constants.map((branch) => own(branch, "const"));
  if (constants.length > 0) return (place.variant === "other" ? second : undefined) ?? first;
  const others = all.filter((branch) => own(branch, "type") !== "null");
  const [only, more] = others;
  if (only === undefined || (word === "oneOf" && more !== undefined)) throw new NoExample(place, word);
  return makeValue(only, { ...place, depth: place.depth + 1 });
}

function makeText(schema: Json, place: Place): string {
  if (own(schema, "pattern") !== undefined) throw new NoExample(place, "pattern");
  const [format, least, most] = [own(schema, "format"), own(schema, "minLength"), own(schema, "maxLength")];
  const plain = place.variant === "one" ? "review" : "another review";
  const text = format === undefined ? plain : FORMATS.get(String(format));
  if (text === undefined) throw new NoExample(place, "format");
  const min = typeof least === "number" ? least : 0;
  const max = typeof most === "number" ? most : MAX_TEXT;
  if (min > max || min > MAX_TEXT) throw new NoExample(place, "minLength");
  if (format === undefined) return text.padEnd(min, "x").slice(0, max);
  if (text.length < min) throw new NoExample(place, "minLength");
  if (text.length > max) throw new NoExample(place, "maxLength");
  return text;
}

function makeList(schema: Json, place: Place): unknown[] {
  const least = own(schema, "minItems");
  const count = typeof least === "number" ? least : 0;
  if (count === 0) return [];
  if (count > MAX_ITEMS) throw new NoExample(place, "minItems");
  if (own(schema, "uniqueItems") === true && count > 1) throw new NoExample(place, "uniqueItems");
  const items = own(schema, "items");
  const options = isObject(items) ? own(items, "enum") : undefined;
  // The options of a list of choices are given once each.
  if (Array.isArray(options)) {
    if (options.length < count) throw new NoExample(place, "minItems");
    return options.slice(0, count);
  }
  const item = makeValue(items, { ...place, depth: place.depth + 1 });
  return Array.from({ length: count }, () => item);
}
