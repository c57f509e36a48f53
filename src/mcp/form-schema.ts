/**
 * The forms a server may ask for: a flat object of primitive fields, in the subset of JSON Schema that the specification
 * allows. Judged when the question is asked, so that no answer is ever checked against a schema nobody understands.
 * Source: MCP 2026-07-28 schema, PrimitiveSchemaDefinition (its number fields are numbers, also where the generated JSON Schema says integer).
 */
import { FORMATS } from "./formats.ts";
import { isObject, type Json, own } from "./parsed.ts";
import { fold } from "./twins.ts";

/** Why a form schema is refused. */
export type FormSchemaFault =
  | "schema_shape"
  | "schema_case_twin"
  | "schema_combinator"
  | "schema_required"
  | "schema_field"
  | "schema_type"
  | "schema_keyword"
  | "schema_format"
  | "schema_enum";

/** Keywords that apply other schemas; with them the fields would not be what `properties` says. */
const COMBINATORS: ReadonlySet<string> = new Set([
  ...["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
  ...["dependentSchemas", "dependencies", "patternProperties"],
]);
const TOP_KEYWORDS = folded("$schema", "type", "properties", "required");
const FIELD_KEYWORDS = folded(
  ...["type", "title", "description", "default", "format", "minLength", "maxLength", "minimum", "maximum"],
  ...["enum", "enumNames", "oneOf", "anyOf", "items", "minItems", "maxItems", "const"],
);
const NUMERIC = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];

/**
 * Judges an untrusted `requestedSchema` (parsed JSON). Gives a fault, or undefined when it is a form of the subset.
 * Keywords it does not know are tolerated and later ignored, as long as they apply no other schema.
 */
export function formSchemaFault(schema: unknown): FormSchemaFault | undefined {
  if (!isObject(schema) || own(schema, "type") !== "object") return "schema_shape";
  if (hasFoldedTwin(schema, TOP_KEYWORDS)) return "schema_case_twin";
  if (Object.keys(schema).some((key) => COMBINATORS.has(key))) return "schema_combinator";
  const properties = own(schema, "properties");
  if (!isObject(properties)) return "schema_shape";
  const required = own(schema, "required");
  if (required !== undefined) {
    if (!isStrings(required) || required.some((name) => !Object.hasOwn(properties, name)))
      return "schema_required";
  }
  for (const field of Object.values(properties)) {
    const fault = fieldFault(field);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function fieldFault(field: unknown): FormSchemaFault | undefined {
  if (!isObject(field)) return "schema_field";
  if (hasFoldedTwin(field, FIELD_KEYWORDS)) return "schema_case_twin";
  const type = own(field, "type");
  if (Object.keys(field).some((key) => COMBINATORS.has(key) && !(key === "oneOf" && type === "string")))
    return "schema_combinator";
  for (const key of ["title", "description"])
    if (!isOptional(own(field, key), "string")) return "schema_keyword";
  for (const key of NUMERIC) if (!isOptional(own(field, key), "number")) return "schema_keyword";
  const preset = own(field, "default");
  switch (type) {
    case "string":
      return stringFault(field) ?? (isOptional(preset, "string") ? undefined : "schema_keyword");
    case "number":
    case "integer":
      return isOptional(preset, "number") ? undefined : "schema_keyword";
    case "boolean":
      return isOptional(preset, "boolean") ? undefined : "schema_keyword";
    case "array":
      if (preset !== undefined && !isStrings(preset)) return "schema_keyword";
      return itemsFault(own(field, "items"));
    default:
      return "schema_type";
  }
}

function stringFault(field: Json): FormSchemaFault | undefined {
  const format = own(field, "format");
  if (format !== undefined && (typeof format !== "string" || !FORMATS.has(format))) return "schema_format";
  const options = own(field, "enum");
  if (options !== undefined && !isStrings(options)) return "schema_enum";
  const names = own(field, "enumNames");
  if (names !== undefined && !isStrings(names)) return "schema_enum";
  const titled = own(field, "oneOf");
  if (titled !== undefined && !isTitled(titled)) return "schema_enum";
  return undefined;
}

function itemsFault(items: unknown): FormSchemaFault | undefined {
  if (!isObject(items)) return "schema_enum";
  if (hasFoldedTwin(items, FIELD_KEYWORDS)) return "schema_case_twin";
  if (Object.keys(items).some((key) => COMBINATORS.has(key) && key !== "anyOf")) return "schema_combinator";
  const options = own(items, "enum");
  const titled = own(items, "anyOf");
  if (options === undefined && titled === undefined) return "schema_enum";
  if (options !== undefined && (own(items, "type") !== "string" || !isStrings(options))) return "schema_enum";
  if (titled !== undefined && !isTitled(titled)) return "schema_enum";
  return undefined;
}

function isTitled(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (option) =>
        isObject(option) &&
        typeof own(option, "const") === "string" &&
        typeof own(option, "title") === "string" &&
        !hasFoldedTwin(option, FIELD_KEYWORDS),
    )
  );
}

function isOptional(value: unknown, type: "string" | "number" | "boolean"): boolean {
  return value === undefined || typeof value === type;
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function folded(...names: string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [fold(name), name]));
}

function hasFoldedTwin(object: Json, known: ReadonlyMap<string, string>): boolean {
  return Object.keys(object).some((key) => (known.get(fold(key)) ?? key) !== key);
}
