/** Answers that are none, made from the questions of a round and from honest answers to them. Pure. */
import { checkForm } from "../../mcp/form.ts";
import { isObject, type Json, own } from "../../mcp/parsed.ts";
import { kindOf } from "../answering.ts";
import type { Asked } from "../check.ts";

/** One way to answer a round wrongly. */
export interface Malformed {
  /** For people: `an unknown action`. */
  readonly name: string;
  readonly inputResponses: unknown;
}

/** Makes the wrong answer to one question, or undefined where the question is not of a kind that it can be wrong for. */
type Spoil = (request: unknown, honest: Json) => unknown;

const SAMPLED: Json = { role: "assistant", content: { type: "text", text: "accept" }, model: "none" };
const isElicitation = (request: unknown): boolean => ["form", "url"].includes(kindOf(request));

/** The honest answers with that to one question spoilt: the first that can be. */
function spoilt(
  asked: Asked,
  honest: Readonly<Record<string, Json>>,
  name: string,
  spoil: Spoil,
): Malformed[] {
  for (const [key, request] of Object.entries(asked.inputRequests)) {
    const answer = own(honest, key);
    const wrong = isObject(answer) ? spoil(request, answer) : undefined;
    if (wrong !== undefined) return [{ name, inputResponses: { ...honest, [key]: wrong } }];
  }
  return [];
}

/** Makes wrong answers from a round and honest answers to it. */
export type Spoiler = (asked: Asked, honest: Readonly<Record<string, Json>>) => Malformed[];

const made =
  (ways: readonly (readonly [name: string, spoil: Spoil])[]): Spoiler =>
  (asked, honest) =>
    ways.flatMap(([name, spoil]) => spoilt(asked, honest, name, spoil));

const withAction =
  (action: unknown): Spoil =>
  (request, honest) =>
    isElicitation(request) ? { ...honest, action } : undefined;

/** Answers whose action says no yes. */
export const unknownActions: Spoiler = made([
  ["an unknown action", withAction("sealgate-review")],
  ["the action in capitals", withAction("ACCEPT")],
  ["an action that is a list", withAction(["accept"])],
  ["an action that is true", withAction(true)],
  [
    "no action",
    (request, { content }) => {
      if (!isElicitation(request)) return undefined;
      return content === undefined ? {} : { content };
    },
  ],
]);

/** Answers that are no objects, and answers that are no map of them. */
export const notAnswers: Spoiler = (asked, honest) => {
  const keys = Object.keys(asked.inputRequests);
  if (keys.length === 0) return [];
  return [
    ...made([
      ["an answer that is text", () => "accept"],
      ["an answer that is true", () => true],
      ["an answer that is null", () => null],
      ["an answer that is a list", (_request, answer) => [answer]],
    ])(asked, honest),
    { name: "answers that are a list", inputResponses: Object.values(honest) },
    { name: "answers that are text", inputResponses: JSON.stringify(honest) },
    { name: "answers that are true", inputResponses: true },
  ];
};

/** Answers to questions of another kind, and in the form of older revisions. */
export const otherKinds: Spoiler = made([
  [
    "a sampling result in place of an answer",
    (request) => (kindOf(request) === "sampling" ? undefined : SAMPLED),
  ],
  [
    "an acceptance in place of a result",
    (request) => (isElicitation(request) ? undefined : { action: "accept", content: {} }),
  ],
  ["roots in place of an answer", (request) => (kindOf(request) === "roots" ? undefined : { roots: [] })],
]);

/** Content, or results, with values of types that nobody asked for. */
export const wrongTypes: Spoiler = made([
  [
    "a field that is an object",
    (request, honest) => withField(request, honest, () => ({ "sealgate-review": true })),
  ],
  [
    // Of an optional one null is often taken for absent.
    "a required field that is null",
    (request, honest) =>
      requiredOf(request).length > 0 ? withField(request, honest, () => null) : undefined,
  ],
  [
    "content that is a list",
    (request, honest) =>
      kindOf(request) === "form" ? { ...honest, content: [honest["content"]] } : undefined,
  ],
  [
    "a sampling result whose role is no text",
    (request, honest) => (kindOf(request) === "sampling" ? { ...honest, role: 1, content: true } : undefined),
  ],
  ["roots that are no list", (request) => (kindOf(request) === "roots" ? { roots: true } : undefined)],
]);

/** Content of the right types that the schema of its form does not allow. */
export const againstSchema: Spoiler = made([
  [
    "a required field left away",
    (request, honest) => {
      const [name] = requiredOf(request);
      if (name === undefined || !isObject(honest["content"])) return undefined;
      const { [name]: _left, ...content } = honest["content"];
      return { ...honest, content };
    },
  ],
  ["a value out of what the form allows", outOfRange],
]);

/** Acceptances of a form without the content that it needs. */
export const withoutContent: Spoiler = made([
  [
    "an acceptance without content",
    (request) =>
      kindOf(request) === "form" && requiredOf(request).length > 0 ? { action: "accept" } : undefined,
  ],
]);

/**
 * Other honest answers to the same questions: a value of a form, or a text, that differs.
 * @returns undefined where none can be made
 */
export function otherAnswers(asked: Asked, honest: Readonly<Record<string, Json>>): unknown {
  const [one] = made([["other answers", differing]])(asked, honest);
  return one?.inputResponses;
}

function differing(request: unknown, honest: Json): unknown {
  if (kindOf(request) === "sampling") return { ...honest, content: { type: "text", text: "other" } };
  if (kindOf(request) === "roots") return { roots: [{ uri: "file:///sealgate-review/other" }] };
  const [schema, content] = [schemaOf(request), honest["content"]];
  if (kindOf(request) !== "form" || !isObject(schema) || !isObject(content)) return undefined;
  for (const [name, field] of fieldsOf(request))
    for (const value of [false, true, "other", 1, 2, ...optionsOf(field)]) {
      const other = { ...content, [name]: value };
      if (content[name] !== value && checkForm(schema, other) === undefined)
        return { ...honest, content: other };
    }
  return undefined;
}

function outOfRange(request: unknown, honest: Json): unknown {
  const [schema, content] = [schemaOf(request), honest["content"]];
  if (kindOf(request) !== "form" || !isObject(content)) return undefined;
  for (const [name, field] of fieldsOf(request)) {
    const value = outside(field);
    const other = { ...content, [name]: value };
    if (value !== undefined && checkForm(schema, other) !== undefined) return { ...honest, content: other };
  }
  return undefined;
}

/** A value of the type of a field that it does not allow. */
function outside(field: Json): unknown {
  const [type, most, least] = [own(field, "type"), own(field, "maxLength"), own(field, "minLength")];
  if (type === "string") {
    if (own(field, "enum") !== undefined || own(field, "oneOf") !== undefined) return "sealgate-review";
    if (typeof most === "number" && most < 4_096) return "x".repeat(most + 1);
    if (typeof least === "number" && least > 0) return "";
    return own(field, "format") === undefined ? undefined : "no \u0000 format";
  }
  if (type !== "number" && type !== "integer") return undefined;
  const [max, min] = [own(field, "maximum"), own(field, "minimum")];
  if (typeof max === "number") return max + 1;
  if (typeof min === "number") return min - 1;
  return type === "integer" ? 1.5 : undefined;
}

function withField(request: unknown, honest: Json, value: () => unknown): unknown {
  const [name] = [...requiredOf(request), ...fieldsOf(request).map(([field]) => field)];
  if (kindOf(request) !== "form" || name === undefined || !isObject(honest["content"])) return undefined;
  return { ...honest, content: { ...honest["content"], [name]: value() } };
}

function schemaOf(request: unknown): unknown {
  const params = isObject(request) ? own(request, "params") : undefined;
  return isObject(params) ? own(params, "requestedSchema") : undefined;
}

function fieldsOf(request: unknown): (readonly [string, Json])[] {
  const schema = schemaOf(request);
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) ? [[name, field] as const] : [],
  );
}

function requiredOf(request: unknown): string[] {
  const schema = schemaOf(request);
  const required = isObject(schema) ? own(schema, "required") : undefined;
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [];
}

function optionsOf(field: Json): readonly unknown[] {
  const options = own(field, "enum");
  return Array.isArray(options) ? options : [];
}
