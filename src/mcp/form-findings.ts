/**
 * What a form of the allowed subset still gets wrong: it asks for secrets, its texts hold links, its keywords
 * contradict each other. The first two are guesses and reported by default. Source: MCP 2026-07-28, elicitation in
 * form mode.
 */
import type { Finding } from "../rules/finding.ts";
import { checkField } from "./form.ts";
import { asList, type Field, fieldsOf, headOf, textsOf } from "./form-texts.ts";
import { linkIn } from "./links.ts";
import { isObject, type Json, own } from "./parsed.ts";
import { isTooLong } from "./reading.ts";
import { asksForSecret, meansSomethingElse, namesSecret, tellsToTypeSecret } from "./secret-name.ts";

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
  if (!isWithin(budget, [message, ...headOf(schema), ...fields.flatMap(allTexts)])) {
    findings.push(
      { rule: "elicitation/secret-field", detail: "unread" },
      { rule: "elicitation/link-in-text", detail: "unread" },
    );
  } else {
    const secret = secretIn(message, schema, fields);
    if (secret !== undefined) findings.push(secret);
    const link = linkInForm(message, schema, fields);
    if (link !== undefined) findings.push(link);
  }
  const contradiction = contradictionIn(schema, fields);
  if (contradiction !== undefined)
    findings.push({ rule: "elicitation/form-contradiction", detail: contradiction });
  return findings;
}

function isWithin(budget: Budget, texts: readonly string[]): boolean {
  for (const text of texts) budget.left -= text.length + 1;
  return budget.left >= 0 && !texts.some(isTooLong);
}

function secretIn(message: string, schema: unknown, fields: readonly Field[]): Finding | undefined {
  const secret = (detail: string, name = ""): Finding => ({
    rule: "elicitation/secret-field",
    detail,
    ...(REPEATABLE.test(name) ? { data: { field: name } } : {}),
  });
  const open = fields.filter(([, field]) => isOpen(field));
  const names = fields.map(([name]) => name);
  for (const [name, field] of open) {
    const detail = secretDetail(name, field, names);
    if (detail !== undefined) return secret(detail, name);
  }
  // What else the form says counts where something can be typed that no name says anything of.
  if (open.length === 0) return undefined;
  if (asksForSecret(message)) return secret("message");
  if (headOf(schema).some(asksForSecret)) return secret("form");
  // A choice may be about passwords and a switch may show them: they have to say that one is typed.
  const telling = fields.find(([name, field]) => {
    const { said, presets, examples, choices } = textsOf(field);
    const texts = isOpen(field) ? [...presets, ...examples] : [name, ...said, ...presets, ...choices];
    return texts.some(tellsToTypeSecret);
  });
  return telling === undefined ? undefined : secret("elsewhere", telling[0]);
}

/** Whether something can be typed into a field that may be a secret: not into choices, switches and dates. */
function isOpen(field: Json): boolean {
  const type = own(field, "type");
  if (type === "number" || type === "integer") return true;
  if (type !== "string" || own(field, "enum") !== undefined || own(field, "oneOf") !== undefined)
    return false;
  return !["date", "date-time"].includes(String(own(field, "format")));
}

function allTexts([name, field]: Field): string[] {
  return [name, ...Object.values(textsOf(field)).flat()];
}

function secretDetail(name: string, field: Json, names: readonly string[]): string | undefined {
  const title = textOf(field, "title");
  const description = textOf(field, "description");
  const siblings = (): string[] => names.filter((other) => other !== name);
  if (namesSecret(name) && !meansSomethingElse(name, title, description, siblings())) return "name";
  if (namesSecret(title) && !meansSomethingElse(title, "", description, siblings())) return "title";
  if (asksForSecret(description)) return "description";
  const { said, placeholders } = textsOf(field);
  const hints = said.filter((text) => text !== title && text !== description);
  if ([...hints, ...placeholders].some(asksForSecret)) return "hint";
  return Object.entries(field).some(([key, value]) => isMasking(key, value)) ? "format" : undefined;
}

function textOf(field: Json, keyword: string): string {
  const text = own(field, keyword);
  return typeof text === "string" ? text : "";
}

function isMasking(key: string, value: unknown): boolean {
  if (value === true) return MASKED.has(key.toLowerCase().replace(/[^a-z]/g, ""));
  return value === "password" && !["title", "description", "default", "const"].includes(key);
}

function linkInForm(message: string, schema: unknown, fields: readonly Field[]): Finding | undefined {
  const finding = (detail: string): Finding => ({ rule: "elicitation/link-in-text", detail });
  const inMessage = linkIn(message);
  if (inMessage !== undefined) return finding(inMessage);
  for (const text of [...headOf(schema), ...fields.flatMap(linkedTexts)]) {
    const link = linkIn(text);
    if (link !== undefined) return finding(link);
  }
  return undefined;
}

/** Where a link is one to follow. The preset of a field for an address is its value, and so is an example of one. */
function linkedTexts([name, field]: Field): string[] {
  const { said, presets, choices } = textsOf(field);
  return [name, ...said, ...(own(field, "format") === "uri" ? [] : presets), ...choices];
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
