/**
 * The little language of an approval's `message` and `confirm`: text, and values in braces. No expressions, no nesting: what a
 * value holds is never read as a template. Pure.
 */
import { nearest } from "../config/nearest.ts";

/** What a template says of the caller. */
const PRINCIPAL_NAMES = ["subject", "client", "issuer", "tenant", "groups"] as const;

/** One value that a template names. */
export type Placeholder =
  | { readonly kind: "tool" | "server" }
  | { readonly kind: "principal"; readonly name: (typeof PRINCIPAL_NAMES)[number] }
  /** A JSON Pointer (RFC 6901) into the arguments, as tests of arguments have it. */
  | { readonly kind: "argument"; readonly path: string };

/** A template, read. */
export interface Template {
  /** As written: equal templates have equal ones. */
  readonly text: string;
  readonly parts: readonly (string | Placeholder)[];
}

/** Why a text is no template, in words, with what would be right where that is known. */
export interface TemplateFault {
  readonly wrong: string;
  readonly allowed?: string;
}

const KNOWN = ["tool", "server", "arguments", ...PRINCIPAL_NAMES.map((name) => `principal.${name}`)];
/** Names that need no JSON Pointer: `{arguments.order.amount}`. */
const DOTTED = /^arguments((?:\.[A-Za-z0-9_-]{1,64}){1,32})$/;
const POINTER = /^arguments((?:\/(?:[^/~{}]|~[01])*){1,32})$/u;
/** What may stand in braces, for messages. */
export const PLACEHOLDERS =
  "{tool}, {server}, {principal.subject}, {principal.client}, {principal.issuer}, {principal.tenant}, {principal.groups}, {arguments.NAME} or {arguments/JSON/POINTER}";

/** Reads an operator's text; `{{` and `}}` stand for braces. Gives a template, or what is wrong with it. */
export function parseTemplate(text: string): Template | TemplateFault {
  const parts: (string | Placeholder)[] = [];
  let literal = "";
  const put = (part: Placeholder): void => {
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(part);
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character !== "{" && character !== "}") literal += character;
    else if (text.charAt(at + 1) === character) {
      literal += character;
      at++;
    } else if (character === "}") return { wrong: "holds a } that closes nothing, and }} stands for one" };
    else {
      const end = text.indexOf("}", at);
      if (end === -1) return { wrong: "holds a { that is not closed, and {{ stands for one" };
      const read = parsePlaceholder(text.slice(at + 1, end));
      if ("wrong" in read) return read;
      put(read);
      at = end;
    }
  }
  if (literal !== "") parts.push(literal);
  return { text, parts };
}

function parsePlaceholder(name: string): Placeholder | TemplateFault {
  if (name === "tool" || name === "server") return { kind: name };
  const claim = PRINCIPAL_NAMES.find((one) => name === `principal.${one}`);
  if (claim !== undefined) return { kind: "principal", name: claim };
  const dotted = DOTTED.exec(name)?.[1];
  if (dotted !== undefined) return { kind: "argument", path: dotted.replaceAll(".", "/") };
  const pointer = POINTER.exec(name)?.[1];
  if (pointer !== undefined) return { kind: "argument", path: pointer };
  const near = nearest(name, KNOWN) ?? (name.startsWith("argument") ? "arguments" : undefined);
  const meant = near === "arguments" ? "{arguments.NAME}" : near === undefined ? undefined : `{${near}}`;
  return {
    wrong: `names a value that there is not${meant === undefined ? "" : `, did you mean ${meant}?`}`,
    allowed: PLACEHOLDERS,
  };
}

/** Whether a template is one argument's value and nothing else. */
export function soleArgument({ parts }: Template): string | undefined {
  const [only, ...more] = parts;
  return more.length === 0 && typeof only === "object" && only.kind === "argument" ? only.path : undefined;
}

/** Paths of the arguments that a template names. */
export const pathsIn = ({ parts }: Template): string[] =>
  parts.flatMap((part) => (typeof part === "object" && part.kind === "argument" ? [part.path] : []));
