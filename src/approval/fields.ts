/**
 * What a user has to fill in to approve: the fields of all policies that ask, and what has to be typed. Pure. A form of the subset
 * that every client knows.
 */
import { compilePlace } from "../argument-place.ts";
import type { ApprovalField } from "../config/approval-settings.ts";
import { type ApprovePolicy, settingsOf, strictestMask } from "./approve-policy.ts";
import { readArgument, type Subject } from "./sentence.ts";
import { soleArgument, type Template } from "./template.ts";
import { isHidden, type Mask } from "./values.ts";
import { isTypable } from "./visible.ts";

/** A field of the form, and what becomes of what is filled in. */
export interface QuestionField {
  /** The member of the answer's content. */
  readonly key: string;
  /** Of the policy's field; undefined of a typed confirmation. */
  readonly name: string | undefined;
  /** What has to be typed, exactly; undefined of a field. */
  readonly typed: string | undefined;
  readonly audit: boolean;
  readonly offer: "none" | "header" | "meta";
}

/** A form and what its fields are for. */
export interface Form {
  /** `requestedSchema`. */
  readonly schema: object;
  readonly fields: readonly QuestionField[];
}

/** What has to be typed where the value that was configured cannot be: nothing that arguments hold makes it easier. */
const FALLBACK = "APPROVE";

/** The form for some policies; a field that two of them ask for alike stands there once. */
export function formOf(policies: readonly ApprovePolicy[], subject: Subject): Form {
  const properties: Record<string, object> = {};
  const required: string[] = [];
  const fields: QuestionField[] = [];
  const keys = new Map<string, string>();
  const mask = strictestMask(policies);
  const add = (
    name: string,
    definition: object,
    field: Omit<QuestionField, "key">,
    isRequired: boolean,
  ): void => {
    const same = JSON.stringify([name, definition, field, isRequired]);
    if (keys.has(same)) return;
    let key = name;
    for (let number = 2; Object.hasOwn(properties, key); number++) key = `${name}_${number}`;
    keys.set(same, key);
    properties[key] = definition;
    if (isRequired) required.push(key);
    fields.push({ key, ...field });
  };
  for (const policy of policies) {
    const { confirm, fields: asked, offer } = settingsOf(policy);
    for (const field of asked) {
      const { name, audit } = field;
      const offered = field.offer ? offer : "none";
      add(name, definitionOf(field), { name, typed: undefined, audit, offer: offered }, field.required);
    }
    if (confirm === undefined) continue;
    const typed = typedOf(confirm, subject, mask);
    const definition = {
      type: "string",
      title: "Confirmation",
      description: `Type \`${typed}\` exactly, without the quotes.`,
      maxLength: 256,
    };
    add("confirm", definition, { name: undefined, typed, audit: false, offer: "none" }, true);
  }
  const schema = { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
  return { schema, fields };
}

function definitionOf(field: ApprovalField): object {
  const { name, title = name, description, minLength, maxLength, options, required } = field;
  return {
    type: "string",
    title,
    ...(description === undefined ? {} : { description }),
    ...(options === undefined ? { ...(required ? { minLength } : {}), maxLength } : { enum: options }),
  };
}

/** The text itself, or the value of the one argument; where that cannot be shown or typed, a fixed word. */
function typedOf(confirm: Template, subject: Subject, mask: Mask): string {
  const path = soleArgument(confirm);
  if (path === undefined) return confirm.parts.join("");
  const { reading } = subject;
  const [node, ...more] = readArgument(reading, path) ?? [];
  if (node === undefined || more.length > 0) return FALLBACK;
  const names = compilePlace(path).steps.map(({ name }) => name);
  if (isHidden(reading, node, names, mask)) return FALLBACK;
  const kind = reading.doc.kind(node);
  if (kind !== "string" && kind !== "number") return FALLBACK;
  const text = kind === "string" ? reading.doc.looseString(node) : reading.doc.raw(node);
  return isTypable(text) ? text : FALLBACK;
}
