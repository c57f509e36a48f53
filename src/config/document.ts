/**
 * The text of a configuration file → plain values, and the place of each value in the text.
 * A strict part of YAML 1.2: one document, unique string keys, no anchors, aliases, merge keys, tags or directives,
 * so that what a reader sees is what the gateway reads. No message quotes the text, which may hold a misplaced secret.
 */
import { isUtf8 } from "node:buffer";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import type { Step } from "./json-schema.ts";

const MAX_FILE_BYTES = 1_048_576;

/** A place in the text, 1-based. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A mistake with its place. `path` is empty where the text is not understood at all. */
export interface DocumentProblem extends Place {
  readonly path: readonly Step[];
  readonly message: string;
}

/** A file that was read. `problems` is not empty when `value` cannot be relied on. */
export interface ConfigDocument {
  /** Plain objects, arrays, strings, numbers, booleans and null; untrusted until the schema has seen it. */
  readonly value: unknown;
  readonly problems: readonly DocumentProblem[];
  /** The place of the value at `path`; of the nearest parent when nothing stands there. */
  place(path: readonly Step[]): Place;
  /** The place of the name of member `name` of the mapping at `path`. */
  placeOfName(path: readonly Step[], name: string): Place;
}

const SYNTAX: Readonly<Record<string, string>> = {
  BAD_INDENT: "the indentation does not fit, or a bracket is not closed",
  TAB_AS_INDENT: "a tab is used for indentation, allowed are blanks",
  NON_STRING_KEY: "the name of a setting must be a text",
  MULTIPLE_DOCS: "the file holds more than one document, allowed is one",
  MISSING_CHAR: "a quote, bracket, comma or colon is missing",
  BAD_DQ_ESCAPE: "this is no escape that double quotes know",
  TAG_RESOLVE_FAILED: "tags (!…) are not allowed",
  BAD_ALIAS: "aliases are not allowed, write the value out",
  RESOURCE_EXHAUSTION: "the file is nested too deeply",
};

function parse(text: string, lines: LineCounter): Document {
  return parseDocument(text, {
    version: "1.2",
    lineCounter: lines,
    // Twins are found in `unwelcome`: the library compares each pair of names, minutes for a file of 1 MiB.
    uniqueKeys: false,
    stringKeys: true,
    strict: true,
    prettyErrors: false,
    merge: false,
    // "silent" would also silence the error about a second document.
    logLevel: "error",
  });
}

function unwelcome(doc: Document): { offset: number; message: string }[] {
  const found: { offset: number; message: string }[] = [];
  if (doc.directives?.yaml.explicit === true) {
    found.push({ offset: 0, message: "a %YAML directive is not allowed, the file is read as YAML 1.2" });
  }
  visit(doc, {
    Node: (_, node) => {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node)) found.push({ offset, message: SYNTAX["BAD_ALIAS"] ?? "" });
      else if (node.anchor !== undefined) {
        found.push({ offset, message: "anchors are not allowed, write the value out where it is needed" });
      }
      if (node.tag !== undefined) found.push({ offset, message: SYNTAX["TAG_RESOLVE_FAILED"] ?? "" });
    },
    Map: (_, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const offset = key.range?.[0] ?? 0;
        if (seen.has(key.value)) found.push({ offset, message: "this setting stands here twice" });
        if (key.value === "<<") found.push({ offset, message: "merge keys (<<) are not allowed" });
        seen.add(key.value);
      }
    },
  });
  return found;
}

interface Member {
  readonly name: unknown;
  readonly value: unknown;
}

const memberIndex = new WeakMap<YAMLMap, Map<unknown, Member>>();

function member(node: unknown, step: Step): Member | undefined {
  if (isMap(node)) {
    let index = memberIndex.get(node);
    if (index === undefined) {
      index = new Map(
        node.items.map(({ key, value }) => [isScalar(key) ? key.value : undefined, { name: key, value }]),
      );
      memberIndex.set(node, index);
    }
    return index.get(step);
  }
  if (isSeq(node) && typeof step === "number" && step in node.items) {
    return { name: node.items[step], value: node.items[step] };
  }
  return undefined;
}

/** Offset of a node; an empty value (`redis:` and nothing) counts as standing at its name. */
function offsetOf(name: unknown, value: unknown): number {
  const empty = isScalar(value) && (value.range === null || value.range?.[0] === value.range?.[1]);
  const node = isNode(value) && !empty ? value : name;
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** Reads the bytes of a file. Never throws; everything wrong is in `problems`. */
export function readDocument(bytes: Buffer): ConfigDocument {
  const lines = new LineCounter();
  const refuse = (message: string): ConfigDocument => ({
    value: undefined,
    problems: [{ line: 1, column: 1, path: [], message }],
    place: () => ({ line: 1, column: 1 }),
    placeOfName: () => ({ line: 1, column: 1 }),
  });
  if (bytes.length > MAX_FILE_BYTES) return refuse("the file is larger than 1MiB");
  if (!isUtf8(bytes) || bytes.includes(0)) return refuse("the file is not UTF-8 text");
  const doc = parse(bytes.toString("utf8"), lines);
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? { line: 1, column: 1 } : { line, column: col };
  };
  const faults = [
    ...[...doc.errors, ...doc.warnings].map(({ code, pos }) => ({
      offset: pos[0],
      message: SYNTAX[code] ?? "this is not valid YAML",
    })),
    ...unwelcome(doc),
  ];
  // Too deep nesting is reported once per level, other faults once per place.
  const name = (fault: (typeof faults)[number]): string =>
    fault.message === SYNTAX["RESOURCE_EXHAUSTION"] ? fault.message : `${fault.offset} ${fault.message}`;
  const unique = new Map(faults.map((fault) => [name(fault), fault]));
  const problems = [...unique.values()].map(({ offset, message }) => ({ ...at(offset), path: [], message }));
  if (problems.length === 0 && !isMap(doc.contents)) {
    const what = doc.contents === null ? "the file is empty" : "the file is not a mapping of sections";
    return refuse(`${what}, allowed are sections such as version, server, routes`);
  }
  return {
    value: problems.length === 0 ? doc.toJS({ maxAliasCount: 0 }) : undefined,
    problems,
    place(path) {
      let node: unknown = doc.contents;
      let offset = offsetOf(undefined, node);
      for (const step of path) {
        const next = member(node, step);
        if (next === undefined) break;
        offset = offsetOf(next.name, next.value);
        node = next.value;
      }
      return at(offset);
    },
    placeOfName(path, name) {
      let node: unknown = doc.contents;
      for (const step of path) node = member(node, step)?.value;
      const found = member(node, name);
      return found === undefined ? this.place(path) : at(offsetOf(found.name, undefined));
    },
  };
}
