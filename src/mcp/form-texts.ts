/**
 * The texts of a form that a person is shown, or may be: those of the specification, and those of keywords that form
 * builders know. Source: MCP 2026-07-28 schema, PrimitiveSchemaDefinition.
 */
import { isObject, type Json, own } from "./parsed.ts";

/** A field's name, and its untrusted schema. */
export type Field = readonly [name: string, field: Json];

/** What a field says, by how much a person takes it for an instruction. */
export interface FieldTexts {
  /** Said of the field: title, description, and what form builders show with it. */
  readonly said: readonly string[];
  /** Drawn where the answer goes, as long as there is none. */
  readonly placeholders: readonly string[];
  /** Values that are there already, or could be. */
  readonly presets: readonly string[];
  readonly examples: readonly string[];
  /** What can be chosen, as it is shown. */
  readonly choices: readonly string[];
}

/** Keywords of form builders, out of the subset, whose texts stand beside a field. */
const SAID: ReadonlySet<string> = new Set(
  (
    "help helptext helpertext hint hints tooltip label caption prompt instruction instructions note notes info comment message text subtitle heading header footer " +
    "markdowndescription descriptionmarkdown enumdescriptions markdownenumdescriptions errormessage displayname summary"
  ).split(" "),
);
const DRAWN: ReadonlySet<string> = new Set(["placeholder", "placeholders", "emptyvalue", "watermark"]);
const SAMPLES: ReadonlySet<string> = new Set(["example", "examples", "sample", "samples", "suggestions"]);
/** Keywords of the subset, which are read by name. */
const KNOWN: ReadonlySet<string> = new Set(
  "type title description default format enum enumNames oneOf anyOf items const properties required".split(
    " ",
  ),
);
/** How deep keywords are looked for in others: `x-ui: { options: { help } }`. */
const MAX_DEPTH = 3;

/** The fields of a schema, which `formSchemaFault` has accepted. */
export function fieldsOf(schema: unknown): Field[] {
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  return isObject(properties)
    ? Object.entries(properties).filter((entry): entry is [string, Json] => isObject(entry[1]))
    : [];
}

/** The texts of the form itself. */
export function headOf(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  return [...strings([own(schema, "title"), own(schema, "description")]), ...builderTexts(schema, SAID)];
}

/** The texts of a field, without its name. */
export function textsOf(field: Json): FieldTexts {
  const items = own(field, "items");
  const inner = isObject(items) ? items : {};
  const titled = [...asList(own(field, "oneOf")), ...asList(own(inner, "anyOf"))].filter(isObject);
  return {
    said: [
      ...strings([own(field, "title"), own(field, "description")]),
      ...strings([own(inner, "title"), own(inner, "description")]),
      ...builderTexts(field, SAID),
    ],
    placeholders: builderTexts(field, DRAWN),
    presets: strings([own(field, "default")]),
    examples: builderTexts(field, SAMPLES),
    choices: strings([
      ...asList(own(field, "enumNames")),
      ...titled.flatMap((option) => [own(option, "title"), own(option, "description")]),
      // A choice of plain values shows them.
      ...asList(own(field, "enum")),
      ...asList(own(inner, "enum")),
    ]),
  };
}

/** A list, or an empty one for all else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(values: readonly unknown[]): string[] {
  return values.filter((value): value is string => typeof value === "string");
}

/** Texts under keywords of these names, also inside of other keywords. */
function builderTexts(schema: Json, names: ReadonlySet<string>, depth = 0): string[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (depth === 0 && KNOWN.has(key)) return [];
    const name = key
      .toLowerCase()
      .replace(/^(?:x-|ui:|\$)/, "")
      .replace(/[^a-z]/g, "");
    if (names.has(name)) return strings(isObject(value) ? Object.values(value) : [value, ...asList(value)]);
    return isObject(value) && depth < MAX_DEPTH ? builderTexts(value, names, depth + 1) : [];
  });
}
