/**
 * What the lists of one server said when they were last seen here: which parameters its tools have in headers, what its tools are said
 * to do, and how far its lists may be cached. Of the server and not of a caller: it is read before anything is taken out for one. Bounded, and in
 * this process only; what is not known is not judged.
 */
import { createHash } from "node:crypto";
import type { Hints } from "./approval/hints.ts";
import type { Annotation } from "./mcp/param-annotations.ts";

/** Annotations of one tool in the lists seen last, newest first. */
export type Versions = readonly (readonly Annotation[])[];

/** Tools with annotations that are remembered; of more, those seen first are forgotten. */
const MAX_TOOLS = 2_000;
/** Tools whose hints are remembered. */
const MAX_HINTS = 10_000;
/** Lists that a client may still go by: the one now, and the one before. */
const MAX_VERSIONS = 2;
/** Annotations of one tool, and characters of their names and paths together. A tool with more is not remembered. */
const MAX_ANNOTATIONS = 64;
const MAX_CHARACTERS = 8_192;

/** What is remembered of one list, by its method. */
interface SeenList {
  scope: string | undefined;
  /** Digests of the first page: of the answer before, and of the one before that if it was another. */
  last: string | undefined;
  other: string | undefined;
}

/** See the file's header. */
export class SeenLists {
  readonly #tools = new Map<string, Versions>();
  readonly #lists = new Map<string, SeenList>();
  readonly #hints = new Map<string, Hints>();

  /** Notes the annotations of a tool, as its list has them now; empty where it has none, or none that are legal. */
  noteTool(name: string, annotations: readonly Annotation[]): void {
    const known = this.#tools.get(name);
    if (annotations.length === 0 || !isSmall(annotations)) {
      if (known !== undefined) this.#tools.delete(name);
      return;
    }
    if (known?.[0] !== undefined && sameAnnotations(known[0], annotations)) return;
    if (known === undefined && this.#tools.size >= MAX_TOOLS) {
      const [oldest] = this.#tools.keys();
      if (oldest !== undefined) this.#tools.delete(oldest);
    }
    this.#tools.set(name, [annotations, ...(known ?? [])].slice(0, MAX_VERSIONS));
  }

  /** How many tools are remembered. */
  get tools(): number {
    return this.#tools.size;
  }

  /** The annotations of a tool; undefined where no list had any. */
  annotationsOf(tool: string): Versions | undefined {
    return this.#tools.get(tool);
  }

  /**
   * Notes what a list says that a tool does. What was said once stays: a server that takes it back later has not become harmless.
   * Beyond the bound nothing is noted, and nothing known is forgotten: a tool that is not known is the most demanding.
   */
  noteHints(tool: string, { destructive, notReadOnly }: Hints): void {
    const known = this.#hints.get(tool);
    if (known === undefined && this.#hints.size >= MAX_HINTS) return;
    if (known?.destructive === true && known.notReadOnly) return;
    this.#hints.set(tool, {
      destructive: destructive || known?.destructive === true,
      notReadOnly: notReadOnly || known?.notReadOnly === true,
    });
  }

  /** The most demanding of all that was said of a tool; undefined where no list was seen that has it. */
  hintsOf(tool: string): Hints | undefined {
    return this.#hints.get(tool);
  }

  /**
   * Notes one page of a list.
   * @param method the list method, one of few
   * @param items the entries as sent
   * @returns whether the list goes to and fro between two forms, and whether this page has another scope than the first
   */
  notePage(
    method: string,
    page: { readonly first: boolean; readonly scope: string | undefined; readonly items: Buffer },
  ): { readonly varies: boolean; readonly scopeVaries: boolean } {
    const seen = this.#lists.get(method) ?? { scope: undefined, last: undefined, other: undefined };
    this.#lists.set(method, seen);
    if (!page.first)
      return { varies: false, scopeVaries: seen.scope !== undefined && page.scope !== seen.scope };
    seen.scope = page.scope;
    const digest = createHash("sha256").update(page.items).digest("base64url");
    if (digest === seen.last) return { varies: false, scopeVaries: false };
    const varies = digest === seen.other;
    seen.other = seen.last;
    seen.last = digest;
    return { varies, scopeVaries: false };
  }
}

/** Whether the annotations of a tool are few and short enough to be looked at and remembered. */
export function isSmall(annotations: readonly Annotation[]): boolean {
  if (annotations.length > MAX_ANNOTATIONS) return false;
  const characters = annotations.reduce(
    (sum, { header, path }) => sum + header.length + path.reduce((length, key) => length + key.length, 0),
    0,
  );
  return characters <= MAX_CHARACTERS;
}

function sameAnnotations(a: readonly Annotation[], b: readonly Annotation[]): boolean {
  const print = (annotations: readonly Annotation[]): string =>
    JSON.stringify(annotations.map(({ header, path }) => [header, path]).sort());
  return a.length === b.length && print(a) === print(b);
}
