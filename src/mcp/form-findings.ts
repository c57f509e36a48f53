/**
 * What a form of the allowed subset still gets wrong: it asks for secrets, its texts hold links, its keywords
 * contradict each other. The first two are guesses and reported by default. Source: MCP 2026-07-28, elicitation in
 * form mode.
 */
import type { Finding } from "../rules/finding.ts";
import { checkField } from "./form.ts";
import { linkIn } from "./links.ts";
import { isObject, type Json, own } from "./parsed.ts";
import { MAX_READ } from "./reading.ts";
import { asksForSecret, namesSecret } from "./secret-name.ts";

/** Characters of all texts and addresses of one result that are looked into; what goes beyond counts as found, unread. */
export const TEXT_BUDGET = 64 * 1024;

/** Counts what is read of one result. */
export interface Budget {
  left: number;
}

/** One form as it was sent. */
export interface Form {
  readonly message: string;
  /** The parsed schema, which `formSchemaFault` has accepted. */
  readonly schema: unknown;
}

/** A field's name that a refusal may repeat: short, and without signs that could mean something to a reader. */
const REPEATABLE = /^[\p{L}\p{M}\p{N}_. -]{1,64}$/u;
/** Keywords of form builders, out of the subset, that say of a field that it is for a secret. */
const MASKED: ReadonlySet<string> = new Set([
  "writeonly",
  "secret",
  "xsecret",
  "sensitive",
  "xsensitive",
  "ispassword",
  "ismasked",
  "masked",
  "password",
]);

/** What a form breaks. Each rule once, with the first field that breaks it. */
export function formFindings({ message, schema }: Form, budget: Budget): Finding[] {
  const fields = fieldsOf(schema);
  const findings: Finding[] = [];
  if (!isWithin(budget, message, fields)) {
    findings.push(
      { rule: "elicitation/secret-field", detail: "unread" },
      { rule: "elicitation/link-in-text", detail: "unread" },
    );
  } else {
    const secret = secretIn(message, fields);
    if (secret !== undefined) findings.push(secret);
    const link = linkInForm(message, schema, fields);
    if (link !== undefined) findings.push(link);
  }
  const contradiction = contradictionIn(schema, fields);
  if (contradiction !== undefined)
    findings.push({ rule: "elicitation/form-contradiction", detail: contradiction });
  return findings;
}

type Field = readonly [name: string, field: Json];

function fieldsOf(schema: unknown): Field[] {
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  return isObject(properties)
    ? Object.entries(properties).filter((entry): entry is [string, Json] => isObject(entry[1]))
    : [];
}

function isWithin(budget: Budget, message: string, fields: readonly Field[]): boolean {
  budget.left -= message.length;
  for (const [name, field] of fields)
    for (const text of [name, ...textsOf(field)]) budget.left -= text.length + 1;
  return budget.left >= 0 && message.length <= MAX_READ;
}

function secretIn(message: string, fields: readonly Field[]): Finding | undefined {
  let isOpen = false;
  for (const [name, field] of fields) {
    const kind = entryOf(field);
    if (kind === "none") continue;
    if (kind === "text") isOpen = true;
    const detail = secretDetail(name, field);
    if (detail === undefined) continue;
    const data = REPEATABLE.test(name) ? { data: { field: name } } : {};
    return { rule: "elicitation/secret-field", detail, ...data };
  }
  // The message counts where something can be typed that no name says anything of.
  return isOpen && asksForSecret(message)
    ? { rule: "elicitation/secret-field", detail: "message" }
    : undefined;
}

/** What can be typed into a field: nothing that is a secret into choices, switches and dates. */
function entryOf(field: Json): "text" | "number" | "none" {
  const type = own(field, "type");
  if (type === "number" || type === "integer") return "number";
  if (type !== "string" || own(field, "enum") !== undefined || own(field, "oneOf") !== undefined)
    return "none";
  return ["date", "date-time"].includes(String(own(field, "format"))) ? "none" : "text";
}

function secretDetail(name: string, field: Json): string | undefined {
  if (namesSecret(name)) return "name";
  const title = own(field, "title");
  if (typeof title === "string" && namesSecret(title)) return "title";
  const description = own(field, "description");
  if (typeof description === "string" && asksForSecret(description)) return "description";
  return Object.entries(field).some(([key, value]) => isMasking(key, value)) ? "format" : undefined;
}

function isMasking(key: string, value: unknown): boolean {
  if (value === true) return MASKED.has(key.toLowerCase().replace(/[^a-z]/g, ""));
  return value === "password" && !["title", "description", "default", "const"].includes(key);
}

function linkInForm(message: string, schema: unknown, fields: readonly Field[]): Finding | undefined {
  const finding = (detail: string): Finding => ({ rule: "elicitation/link-in-text", detail });
  const inMessage = linkIn(message);
  if (inMessage !== undefined) return finding(inMessage);
  const head = isObject(schema) ? [own(schema, "title"), own(schema, "description")] : [];
  for (const text of [...head, ...fields.flatMap(([name, field]) => [name, ...textsOf(field)])]) {
    const link = typeof text === "string" ? linkIn(text) : undefined;
    if (link !== undefined) return finding(link);
  }
  return undefined;
}

/** The texts of a field that a person is shown. */
function textsOf(field: Json): string[] {
  const items = own(field, "items");
  const titled = [own(field, "oneOf"), isObject(items) ? own(items, "anyOf") : undefined].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const values = [own(field, "enum"), isObject(items) ? own(items, "enum") : undefined].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  // A choice of plain values shows them; an address is what a field of that format is filled with.
  const preset = own(field, "format") === "uri" ? undefined : own(field, "default");
  return [
    own(field, "title"),
    own(field, "description"),
    preset,
    ...asList(own(field, "enumNames")),
    ...titled.map((option) => (isObject(option) ? own(option, "title") : undefined)),
    ...values,
  ].filter((text): text is string => typeof text === "string");
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A form that nobody can fill in, or whose presets nobody could have filled in. */
function contradictionIn(schema: unknown, fields: readonly Field[]): string | undefined {
  const required = isObject(schema) ? asList(own(schema, "required")) : [];
  if (new Set(required).size !== required.length) return "required";
  for (const [, field] of fields) {
    for (const [least, most] of [
      ["minLength", "maxLength"],
      ["minimum", "maximum"],
      ["minItems", "maxItems"],
    ] as const) {
      const [low, high] = [own(field, least), own(field, most)];
      if (typeof low === "number" && typeof high === "number" && low > high) return "bounds";
    }
    for (const keyword of ["minLength", "maxLength", "minItems", "maxItems"]) {
      const bound = own(field, keyword);
      if (typeof bound === "number" && (!Number.isInteger(bound) || bound < 0)) return "bounds";
    }
    const options = optionLists(field);
    if (options.some((list) => list.length === 0 || new Set(list).size !== list.length)) return "options";
    const names = own(field, "enumNames");
    if (Array.isArray(names) && names.length !== asList(own(field, "enum")).length) return "options";
    const preset = own(field, "default");
    if (preset !== undefined && checkField(field, preset) !== undefined) return "default";
  }
  return undefined;
}

function optionLists(field: Json): unknown[][] {
  const items = own(field, "items");
  const lists = [own(field, "enum"), own(field, "oneOf")];
  if (isObject(items)) lists.push(own(items, "enum"), own(items, "anyOf"));
  return lists
    .filter(Array.isArray)
    .map((list) => list.map((option) => (isObject(option) ? own(option, "const") : option)));
}
