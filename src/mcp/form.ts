/**
 * An answer to a form against the form's schema. The schema was judged by `formSchemaFault` before it was sealed.
 * Never recursive, never an expression of the server's. Source: MCP 2026-07-28, elicitation; JSON Schema 2020-12
 * where the subset uses it.
 */
import { FORMATS } from "./formats.ts";
import { compareNumbers, isWhole, numberText } from "./number.ts";
import { isObject, type Json, own } from "./parsed.ts";

/** Why an answer does not fit its form. */
export type FormFault =
  | "form_schema"
  | "form_shape"
  | "form_required"
  | "form_type"
  | "form_length"
  | "form_range"
  | "form_format"
  | "form_option"
  | "form_items";

/** The field names a form asks for, out of its parsed schema. */
export function fieldNames(schema: unknown): ReadonlySet<string> {
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  return new Set(isObject(properties) ? Object.keys(properties) : []);
}

/**
 * Checks untrusted content against a form schema; both are parsed JSON, with numbers as such or as `JsonNumber`,
 * which loses nothing. Gives a fault, or undefined when it fits. Fields may be absent unless required; members the
 * form did not ask for are not looked at. Keywords outside the subset are ignored.
 */
export function checkForm(schema: unknown, content: unknown): FormFault | undefined {
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  if (!isObject(schema) || !isObject(properties)) return "form_schema";
  if (!isObject(content)) return "form_shape";
  const required = own(schema, "required");
  if (Array.isArray(required) && required.some((name) => !Object.hasOwn(content, String(name))))
    return "form_required";
  for (const [name, field] of Object.entries(properties)) {
    if (!Object.hasOwn(content, name)) continue;
    const fault = isObject(field) ? checkField(field, content[name]) : "form_schema";
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Checks one untrusted value (parsed JSON) against the schema of its field. Gives a fault, or undefined when it fits. */
export function checkField(field: Json, value: unknown): FormFault | undefined {
  switch (own(field, "type")) {
    case "string":
      return typeof value === "string" ? checkString(field, value) : "form_type";
    case "number":
    case "integer":
      return checkNumber(field, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : "form_type";
    case "array":
      return Array.isArray(value) ? checkItems(field, value) : "form_type";
    default:
      return "form_schema";
  }
}

function checkString(field: Json, value: string): FormFault | undefined {
  if (!isWithin(codePoints(value), own(field, "minLength"), own(field, "maxLength"))) return "form_length";
  const format = own(field, "format");
  if (format !== undefined && FORMATS.get(String(format))?.(value) !== true) return "form_format";
  const options = optionsOf(field, "oneOf");
  return options === undefined || options.has(value) ? undefined : "form_option";
}

/** Exact, whatever a double would make of it. What a double cannot hold at all is no number to most servers. */
function checkNumber(field: Json, value: unknown): FormFault | undefined {
  const text = numberText(value);
  if (text === undefined || !Number.isFinite(Number(text))) return "form_type";
  if (own(field, "type") === "integer" && !isWhole(text)) return "form_type";
  const [least, most] = [numberText(own(field, "minimum")), numberText(own(field, "maximum"))];
  if (least !== undefined && !isOrdered(least, text)) return "form_range";
  return most === undefined || isOrdered(text, most) ? undefined : "form_range";
}

function checkItems(field: Json, values: readonly unknown[]): FormFault | undefined {
  if (!isWithin(values.length, own(field, "minItems"), own(field, "maxItems"))) return "form_items";
  const items = own(field, "items");
  if (!isObject(items)) return "form_schema";
  const options = optionsOf(items, "anyOf");
  if (options === undefined) return "form_schema";
  // Somebody who chooses among options chooses each of them once; what counts them would count repeats too.
  if (values.length > options.size || new Set(values).size !== values.length) return "form_items";
  return values.every((value) => options.has(value)) ? undefined : "form_option";
}

/**
 * What may be chosen: the plain options (`enum`), or the titled ones (under `titled`), or those in both where there
 * are both; undefined for a field without options. A set, so that a long list of choices costs no more than its
 * length.
 */
function optionsOf(field: Json, titled: "oneOf" | "anyOf"): ReadonlySet<unknown> | undefined {
  const plain = own(field, "enum");
  const entries = own(field, titled);
  if (plain === undefined && entries === undefined) return undefined;
  const constants = asArray(entries).map((entry) => (isObject(entry) ? own(entry, "const") : undefined));
  if (entries === undefined) return strings(asArray(plain));
  const options = strings(constants);
  return plain === undefined ? options : strings(asArray(plain).filter((value) => options.has(value)));
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(values: readonly unknown[]): Set<unknown> {
  return new Set(values.filter((value) => typeof value === "string"));
}

/** Whether a number is not greater than another; what cannot be compared is not. */
function isOrdered(a: string, b: string): boolean {
  return compareNumbers(a, b) <= 0;
}

/** Whether a length is within two bounds, of which either may be absent. */
function isWithin(value: number, least: unknown, most: unknown): boolean {
  return !(value < bound(least, 0)) && !(value > bound(most, Number.POSITIVE_INFINITY));
}

function bound(value: unknown, otherwise: number): number {
  const text = numberText(value);
  return text === undefined ? otherwise : Number(text);
}

/** Length as JSON Schema counts it. */
function codePoints(text: string): number {
  let length = text.length;
  for (let i = 1; i < text.length; i++) if (isLow(text, i) && isHigh(text, i - 1)) length--;
  return length;
}

function isHigh(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
