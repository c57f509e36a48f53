/**
 * What the YAML parser found wrong → what an operator reads: the reason in plain words, at the place where the fault
 * is, once. A parser that has lost the structure finds faults everywhere behind that point; those are left out.
 * No message quotes the text.
 */
import { type Document, isCollection, visit, type YAMLError } from "yaml";

/** One fault and its place in the text. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

/** A YAML feature that is not allowed here, though the parser may know it. */
export const ALIAS = "a value that begins with * must stand in quotes (aliases are not allowed)";
export const ANCHOR = "a value that begins with & must stand in quotes (anchors are not allowed)";
export const TAG = "a value that begins with ! must stand in quotes (tags are not allowed)";
export const DIRECTIVE = "a line that begins with % is not allowed (directives)";

const ENTRY = "an entry of a list (-) stands where a setting or a value belongs";

const BEHIND = "something stands here behind a value that has ended";
const BRACKETS = `${BEHIND}; a text that begins with { or [ must stand in quotes`;

/** Code of the parser, start of its message, our words. The first that fits counts. */
const REASONS: readonly (readonly [code: string, starts: string, words: string])[] = [
  ["BAD_ALIAS", "Alias", ALIAS],
  ["BAD_ALIAS", "", ANCHOR],
  ["TAG_RESOLVE_FAILED", "", TAG],
  ["BAD_DIRECTIVE", "", DIRECTIVE],
  ["MISSING_CHAR", "Missing directives-end", DIRECTIVE],
  ["BAD_DQ_ESCAPE", "", "this is no escape that double quotes know; single quotes take a backslash as it is"],
  ["MULTIPLE_DOCS", "", "the file holds more than one document, allowed is one"],
  ["KEY_OVER_1024_CHARS", "", "the name of a setting is longer than 1024 characters"],
  ["MISSING_CHAR", "Comments", "a blank is missing before #"],
  ["MISSING_CHAR", "Missing closing", "the quote that opens here is not closed"],
  ["MISSING_CHAR", "Missing ,", "a comma is missing between two entries"],
  ["MISSING_CHAR", "Missing space", "a blank is missing behind the colon"],
  [
    "MISSING_CHAR",
    "Sequence item",
    "this line belongs to no entry of the list above it: - or indentation is missing",
  ],
  ["MISSING_CHAR", "Implicit map keys", "this is no setting: a colon and a value are missing"],
  ["MULTILINE_IMPLICIT_KEY", "", "this line is no setting: a colon and a blank are missing behind the name"],
  ["BLOCK_AS_IMPLICIT_KEY", "A block sequence", ENTRY],
  ["BLOCK_AS_IMPLICIT_KEY", "", "a value that holds a colon and a blank must stand in quotes"],
  ["BLOCK_IN_FLOW", "", "a comma is missing between two entries"],
  ["BAD_INDENT", "All sequence items", "this entry is indented otherwise than the entries above it"],
  [
    "BAD_INDENT",
    "Flow",
    "this bracket is not closed, or what it holds is not indented further than its setting",
  ],
  ["BAD_INDENT", "", "this line is indented otherwise than the settings above it"],
  ["UNEXPECTED_TOKEN", "Unexpected ,", "there is a comma too many"],
  ["UNEXPECTED_TOKEN", "Unexpected empty item", "there is a comma too many"],
  ["UNEXPECTED_TOKEN", "Unexpected flow-", "this bracket closes nothing"],
  [
    "UNEXPECTED_TOKEN",
    "Block scalar header",
    "nothing may stand behind | or > but the value, in the lines below",
  ],
  ["UNEXPECTED_TOKEN", "", BEHIND],
  ["NON_STRING_KEY", "", "the name of a setting must be a text"],
  ["RESOURCE_EXHAUSTION", "", "the file is nested too deeply"],
];

/** After these the parser still knows where it is. */
const LOCAL = new Set([
  "BAD_ALIAS",
  "TAG_RESOLVE_FAILED",
  "BAD_DIRECTIVE",
  "BAD_DQ_ESCAPE",
  "BAD_SCALAR_START",
  "KEY_OVER_1024_CHARS",
  "MULTIPLE_DOCS",
  "NON_STRING_KEY",
]);

const TAB = "a tab is used for indentation, allowed are blanks";
const DEEPER = "this line is indented further than the one above it, which has its value already";
const SHALLOWER = "this line is indented less than the first one of the file";

function words({ code, message }: YAMLError): string {
  // Of the text the parser repeats only the one character that is to blame.
  if (code === "BAD_SCALAR_START") return `a value that begins with ${message.at(-1)} must stand in quotes`;
  const reason = REASONS.find(([known, starts]) => known === code && message.startsWith(starts));
  return reason?.[2] ?? "this is not valid YAML";
}

/**
 * The faults of a text that the parser complains about, in the order of the text, and the place behind which nothing it
 * says can be relied on.
 * @param doc parsed with source tokens
 */
export function syntaxFaults(
  text: string,
  doc: Document,
): { readonly faults: Fault[]; readonly lostAt: number } {
  const found = [...doc.errors, ...doc.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  const deep = found.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  if (deep !== undefined) return { faults: [{ offset: deep.pos[0], message: words(deep) }], lostAt: 0 };
  const fatal = found.find(({ code }) => !LOCAL.has(code));
  const lost = fatal === undefined ? undefined : structuralFault(text, doc, found, fatal);
  const lostAt = Math.min(lost?.offset ?? text.length, fatal?.pos[0] ?? text.length);
  const local = found
    .filter(({ code, pos }) => LOCAL.has(code) && pos[0] < lostAt)
    .map((error) => ({ offset: error.pos[0], message: words(error) }));
  return { faults: lost === undefined ? local : [...local, lost], lostAt };
}

function structuralFault(text: string, doc: Document, found: readonly YAMLError[], fatal: YAMLError): Fault {
  const offset = fatal.pos[0];
  const start = lineStart(text, offset);
  const tab = fatal.code === "TAB_AS_INDENT" ? offset : tabIn(text, start);
  if (tab !== undefined) return { offset: tab, message: tabs(text, tab) };
  const quote = openQuote(text, doc, fatal);
  if (quote !== undefined) return { offset: quote, message: "the quote that opens here is not closed" };
  if (fatal.code === "BAD_INDENT" && fatal.message.startsWith("Flow")) {
    return { offset: openBracket(doc) ?? offset, message: words(fatal) };
  }
  if (fatal.message.startsWith("Missing directives-end")) {
    return { offset: Math.max(0, text.search(/^%/m)), message: DIRECTIVE };
  }
  const together = found.filter(({ pos }) => pos[0] === offset).map(({ code }) => code);
  if (together.includes("BLOCK_AS_IMPLICIT_KEY") && together.includes("MULTILINE_IMPLICIT_KEY")) {
    return { offset: nextText(text, offset), message: DEEPER };
  }
  const indented = offset + (/^[ ]*/.exec(text.slice(offset, offset + 256))?.[0].length ?? 0);
  const atStart = indented > offset || offset === start;
  if (fatal.message.endsWith("at node end")) {
    const [first = 0] = doc.contents?.range ?? [];
    if (atStart && first > lineStart(text, first)) return { offset: indented, message: SHALLOWER };
  }
  if (fatal.code === "UNEXPECTED_TOKEN" && text[offset] === "-") return { offset, message: ENTRY };
  const said = words(fatal);
  const closed = said === BEHIND && /[}\]]\s*$/.test(text.slice(Math.max(start, offset - 256), offset));
  return { offset: offset === start ? indented : offset, message: closed ? BRACKETS : said };
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** The first tab in the indentation of the line that starts at `start`. */
function tabIn(text: string, start: number): number | undefined {
  const [indent = ""] = /^[ \t]*/.exec(text.slice(start, start + 256)) ?? [];
  const at = indent.indexOf("\t");
  return at < 0 ? undefined : start + at;
}

function tabs(text: string, first: number): string {
  const more = [...text.slice(first + 1).matchAll(/^[ ]*\t/gm)].length;
  return more === 0 ? TAB : `${TAB}; so it is in ${more} more line${more === 1 ? "" : "s"}`;
}

/** A quoted value that ends at `offset` without a quote, or runs over lines and ends on this one: its end was forgotten. */
function openQuote(text: string, doc: Document, { message, pos }: YAMLError): number | undefined {
  const [offset] = pos;
  const isUnclosed = message.startsWith("Missing closing");
  const start = lineStart(text, offset);
  let opens: number | undefined;
  visit(doc, {
    Scalar(_, { type, range }) {
      const quoted = type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE";
      if (!quoted || !range || range[0] >= offset) return;
      const [from, to] = range;
      if (isUnclosed ? to === offset : from < start && to > start && to <= offset) opens = from;
    },
  });
  return opens;
}

/** The innermost bracket that is not closed. */
function openBracket(doc: Document): number | undefined {
  let opens: number | undefined;
  visit(doc, {
    Collection(_, node) {
      if (!isCollection(node) || node.srcToken?.type !== "flow-collection") return;
      const [end] = node.srcToken.end;
      const closed = end?.type === "flow-map-end" || end?.type === "flow-seq-end";
      if (!closed) opens = node.srcToken.start.offset;
    },
  });
  return opens;
}

/** The first character of the next line that is not empty. */
function nextText(text: string, offset: number): number {
  const rest = /\n[ \t\r\n]*/g;
  rest.lastIndex = offset;
  const found = rest.exec(text);
  return found === null ? offset : Math.min(found.index + found[0].length, text.length - 1);
}
