/**
 * A policy's own words, with values in them: each quoted like every other text of a question, so that none goes on as part of the
 * sentence, and none is read as a template. Pure.
 */
import { compilePlace, namesOf } from "../argument-place.ts";
import { ArgumentReading, type Arguments } from "../argument-reading.ts";
import type { Node } from "../json/scan.ts";
import type { Principal } from "../principal/principal.ts";
import type { Placeholder, Template } from "./template.ts";
import { HIDDEN, isHidden, type Mask, MISSING, showText, showValue, UNCLEAR } from "./values.ts";

/** What templates speak of. */
export interface Subject {
  readonly tool: string;
  readonly server: string;
  readonly principal: Principal;
  /** The arguments, read once for all templates. */
  readonly reading: ArgumentReading;
}

/** @param paths of all arguments that will be asked for, JSON Pointers */
export function subjectOf(
  { tool, server, principal }: Omit<Subject, "reading">,
  given: Arguments,
  paths: readonly string[],
): Subject {
  return { tool, server, principal, reading: new ArgumentReading(principal, given, namesOf(paths)) };
}

/** How much of values a sentence has, where there is room and where there is less; the list below has more. */
export const LENGTHS = [
  { value: 80, list: 3 },
  { value: 32, list: 2 },
  { value: 12, list: 1 },
] as const;
/** Characters of one value, and values of a list or groups. */
export type Length = (typeof LENGTHS)[number];

/** Renders a template; at most its own text and about 1 KB for each value, and about 110 bytes with the least. */
export function renderTemplate(
  { parts }: Template,
  subject: Subject,
  mask: Mask,
  most: Length = LENGTHS[0],
): string {
  return parts
    .map((part) => (typeof part === "string" ? part : showPart(part, subject, mask, most)))
    .join("");
}

function showPart(part: Placeholder, subject: Subject, mask: Mask, most: Length): string {
  switch (part.kind) {
    case "tool":
    case "server":
      return showText(subject[part.kind], "amid", most.value);
    case "principal":
      return showPrincipal(subject.principal, part.name, most);
    case "argument":
      return showArgument(part.path, subject, mask, most);
  }
}

function showPrincipal(
  principal: Principal,
  name: Extract<Placeholder, { kind: "principal" }>["name"],
  most: Length,
): string {
  if (principal.anonymous) return "(anonymous)";
  const value = principal[name];
  const texts = value === undefined ? [] : typeof value === "string" ? [value] : value;
  return showList(
    texts.map((text) => () => showText(text, "amid", most.value)),
    most,
  );
}

function showArgument(path: string, { reading }: Subject, mask: Mask, most: Length): string {
  const found = readArgument(reading, path);
  if (found === undefined) return UNCLEAR;
  const names = compilePlace(path).steps.map(({ name }) => name);
  return showList(
    found.map((node) => () => {
      // What it holds stands in the list.
      if (reading.doc.kind(node) === "object")
        return isHidden(reading, node, names, mask) ? HIDDEN : "(an object)";
      return showValue(reading, node, names, { mask, place: "amid", most: most.value });
    }),
    most,
  );
}

function showList(texts: readonly (() => string)[], most: Length): string {
  if (texts.length === 0) return MISSING;
  const shown = texts.slice(0, most.list).map((show) => show());
  const more = texts.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}

/**
 * The values at a place of the arguments, as tests of arguments read it; undefined where readers could see others.
 * @param path a JSON Pointer, not empty, and one of those that the reading was made for
 */
export function readArgument(reading: ArgumentReading, path: string): readonly Node[] | undefined {
  const { values, unclear, missing } = reading.place(compilePlace(path));
  return unclear || (values.length > 0 && missing > 0) ? undefined : values;
}
