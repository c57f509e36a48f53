/**
 * The text of a configuration file → plain values, and the place of each value in the text.
 * A strict part of YAML 1.2: one document, unique string keys, no anchors, aliases, merge keys, tags or directives,
 * so that what a reader sees is what the gateway reads. No message quotes the text, which may hold a misplaced secret.
 */
import { isUtf8 } from "node:buffer";
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { isSetting, type Step } from "./json-schema.ts";
import { ALIAS, ANCHOR, DIRECTIVE, type Fault, syntaxFaults, TAG } from "./syntax.ts";

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

/** A file that was read. */
export interface ConfigDocument {
  /** Plain objects, arrays, strings, numbers, booleans and null; untrusted until the schema has seen it. Absent when it is not clear. */
  readonly value: unknown;
  /** When there are any, `value` is good for finding more of them and for nothing else. */
  readonly problems: readonly DocumentProblem[];
  /** The place of the value at `path`; of the nearest parent when nothing stands there. */
  place(path: readonly Step[]): Place;
  /** The place of the name of member `name` of the mapping at `path`. */
  placeOfName(path: readonly Step[], name: string): Place;
}

/** A fault; `path` where it is about one setting. */
interface PathFault extends Fault {
  readonly path?: readonly Step[];
}

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
    keepSourceTokens: true,
    // "silent" would also silence the error about a second document.
    logLevel: "error",
  });
}

/** What is YAML and not allowed here. `lineOf` tells the line of an offset. */
function unwelcome(doc: Document, lineOf: (offset: number) => number): PathFault[] {
  const found: PathFault[] = [];
  if (doc.directives?.yaml.explicit === true) {
    found.push({ offset: 0, message: DIRECTIVE });
  }
  const marks = (node: Node): void => {
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) found.push({ offset, message: ALIAS });
    else if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      found.push({ offset, message: ANCHOR });
    }
    if (node.tag !== undefined) found.push({ offset, message: TAG });
  };
  visit(doc, {
    Node: (_, node) => marks(node),
    // The library calls only the visitor that fits best, so `Node` never sees a mapping.
    Map: (_, map, ancestors) => {
      marks(map);
      const seen = new Map<unknown, number>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const offset = key.range?.[0] ?? 0;
        const first = seen.get(key.value);
        if (first !== undefined) {
          const path = [...pathOf(map, ancestors), String(key.value)];
          found.push({ offset, path, message: `stands here twice, first in line ${lineOf(first)}` });
        } else seen.set(key.value, offset);
        if (key.value === "<<") found.push({ offset, message: "merge keys (<<) are not allowed" });
        if (typeof key.value === "string" && ODD_BLANK.test(key.value)) {
          found.push({ offset, message: "a blank here is no plain one, such as U+00A0; type it anew" });
        }
      }
    },
  });
  return found;
}

/** White space that looks like a blank and is none: part of a name for YAML. */
const ODD_BLANK = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;

/** The path of a mapping, from what `visit` tells of the nodes above it. */
function pathOf(map: YAMLMap, ancestors: readonly unknown[]): Step[] {
  const nodes = [...ancestors, map];
  return nodes.flatMap((node, index): Step[] => {
    if (isPair(node)) return [isScalar(node.key) ? String(node.key.value) : ""];
    return isSeq(node) ? [node.items.indexOf(nodes[index + 1])] : [];
  });
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
  const text = bytes.toString("utf8");
  const doc = parse(text, lines);
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? { line: 1, column: 1 } : { line, column: col };
  };
  const { faults, lostAt } = syntaxFaults(text, doc);
  const line = (offset: number): number => at(offset).line;
  // The parser may have complained about the same, at the sign and not at the value behind it.
  const said = new Set(faults.map(({ offset, message }) => `${offset} ${message}`));
  const told = ({ offset, message }: Fault): boolean => {
    const [sign = ""] = /[!&][^\s,[\]{}]*\s*$/.exec(text.slice(Math.max(0, offset - 256), offset)) ?? [];
    return said.has(`${offset} ${message}`) || said.has(`${offset - sign.length} ${message}`);
  };
  const more = unwelcome(doc, line).filter((fault) => fault.offset < lostAt && !told(fault));
  const problems = [...faults, ...more].map(({ offset, message, path = [] }: PathFault) => {
    // What is no setting may be a secret in the wrong place.
    const named = path.length > 0 && isSetting(path);
    const text = path.length > 0 && !named ? `this setting ${message}` : message;
    return { ...at(offset), path: named ? path : [], message: text };
  });
  const hard = faults.length > 0 || more.some(({ path }) => path === undefined);
  if (!hard && !isMap(doc.contents)) {
    const what = doc.contents === null ? "the file is empty" : "the file is not a mapping of sections";
    return refuse(`${what}, allowed are sections such as version, server, routes`);
  }
  return {
    // A setting that stands twice hides nothing else, so the rest can be looked at.
    value: hard ? undefined : doc.toJS({ maxAliasCount: 0 }),
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
