/**
 * What policies ask of the arguments of a call. Pure. Three answers are possible: yes, no, and unclear, which is what another
 * reader could see otherwise. An allow needs a yes; a deny holds unless the answer is no. docs/decisions/0022-arguments-in-policies.md.
 */

import { type Found, type PlaceStep, placeStep, readPlace } from "./argument-place.ts";
import type { ExactNumber } from "./config/argument-settings.ts";
import type { Policy } from "./config/schema.ts";
import { compileGlob, type Glob } from "./glob.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { compareNumbers, sameNumber } from "./mcp/number.ts";
import { hasStackedMarks } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";

/** The `arguments` of a call as they stand in its message; no node where the message has none, which counts as `{}`. */
export interface Arguments {
  readonly doc: JsonText;
  readonly node: Node | undefined;
}

/** @returns the first test that does not let the policy match, `arguments[1]`; undefined when all do */
export type ArgumentTests = (principal: Principal, given: Arguments) => string | undefined;

type Test = NonNullable<Policy["arguments"]>[number];
type Scalar = Exclude<Test["equals"], undefined>;
type Verdict = "yes" | "no" | "unclear";
type Judge = (principal: Principal, doc: JsonText, node: Node) => Verdict;

/** Bytes of the longest text that is compared; a longer one is unclear. */
const MAX_TEXT_BYTES = 65_536;
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Compiles the tests of one policy (trusted, checked by the schema). */
export function compileArguments(effect: Policy["effect"], tests: readonly Test[]): ArgumentTests {
  const compiled = tests.map((test, index) => ({
    name: `arguments[${index}]`,
    steps: stepsOf(test.path),
    holds: effect === "allow" ? surely(test) : possibly(test),
  }));
  return (principal, { doc, node }) =>
    compiled.find(({ steps, holds }) => !holds(principal, doc, readPlace(doc, node, steps)))?.name;
}

/** RFC 6901 section 4. */
function stepsOf(pointer: string): readonly PlaceStep[] {
  return pointer
    .slice(1)
    .split("/")
    .map((step) => placeStep(step.replaceAll("~1", "/").replaceAll("~0", "~")));
}

type Holds = (principal: Principal, doc: JsonText, found: Found) => boolean;

/** For an allow: every reader sees a value there, in every entry of every list, and all of them fit. */
function surely(test: Test): Holds {
  const { present } = test;
  if (present === false) return (_principal, _doc, { unclear, nodes }) => !unclear && nodes.length === 0;
  if (present === true) {
    return (_principal, doc, { unclear, nodes, missing }) =>
      !unclear && missing === 0 && nodes.length > 0 && nodes.every((node) => doc.kind(node) !== "null");
  }
  const judge = compileJudge(test);
  return (principal, doc, { unclear, values, missing }) =>
    !unclear &&
    missing === 0 &&
    values.length > 0 &&
    values.every((node) => judge(principal, doc, node) === "yes");
}

/** For a deny: some reader may see a value there that fits. */
function possibly(test: Test): Holds {
  const { present } = test;
  if (present === true) return (_principal, _doc, { unclear, nodes }) => unclear || nodes.length > 0;
  if (present === false) {
    return (_principal, doc, { unclear, nodes, missing }) =>
      unclear || missing > 0 || nodes.length === 0 || nodes.some((node) => doc.kind(node) === "null");
  }
  const judge = compileJudge(test);
  return (principal, doc, { unclear, values }) =>
    unclear || values.some((node) => judge(principal, doc, node) !== "no");
}

function compileJudge({ equals, oneOf, glob, range, claim }: Test): Judge {
  if (equals !== undefined) return listed([equals]);
  if (oneOf !== undefined) return listed(oneOf);
  if (glob !== undefined) return texts(glob, compileGlob);
  if (range !== undefined) return between(range.min, range.max);
  if (claim !== undefined) return claimed(claim);
  throw new Error("a test of arguments that this version does not know");
}

/** Any yes is one; else anything unclear. */
function any(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("unclear") ? "unclear" : "no";
}

function listed(values: readonly Scalar[]): Judge {
  const judges = values.map((value): Judge => {
    if (typeof value === "string") return texts([value], (wanted) => (text) => text === wanted);
    if (value !== null && typeof value === "object")
      return (_principal, doc, node) => sameAs(value, doc, node);
    const kind = String(value);
    // true and false are of one type.
    const near = value === null ? ["null"] : ["true", "false"];
    return (_principal, doc, node) => {
      const found = doc.kind(node);
      return found === kind ? "yes" : near.includes(found) ? "no" : "unclear";
    };
  });
  return (principal, doc, node) => any(judges.map((judge) => judge(principal, doc, node)));
}

/** Equal by exact value; unclear where it is equal only for readers that round to doubles. */
function sameAs({ number }: ExactNumber, doc: JsonText, node: Node): Verdict {
  const text = numberAt(doc, node);
  if (text === undefined) return "unclear";
  if (sameNumber(text, number)) return "yes";
  return Number(text) === Number(number) ? "unclear" : "no";
}

/** Inside by exact value and as a double; unclear where the two differ. */
function between(min: string | undefined, max: string | undefined): Judge {
  return (_principal, doc, node) => {
    const text = numberAt(doc, node);
    if (text === undefined) return "unclear";
    const low = min === undefined ? 1 : compareNumbers(text, min);
    const high = max === undefined ? -1 : compareNumbers(text, max);
    const exact = low >= 0 && high <= 0;
    const value = Number(text);
    const rounded =
      (min === undefined || value >= Number(min)) && (max === undefined || value <= Number(max));
    if (exact !== rounded) return "unclear";
    return exact ? "yes" : "no";
  };
}

/** The text of a number as sent, where it is one and of a length that can be compared. */
function numberAt(doc: JsonText, node: Node): string | undefined {
  if (doc.kind(node) !== "number" || doc.end(node) - doc.start(node) > MAX_TEXT_BYTES) return undefined;
  return doc.raw(node);
}

/**
 * Code unit by code unit; unclear where a text fits only once both are composed (NFC), or where not all read it alike.
 * @param wanted what texts are compared with, and how
 */
function texts(wanted: readonly string[], compile: (wanted: string) => Glob): Judge {
  const asWritten = wanted.map(compile);
  const composed = wanted.map((text) => compile(text.normalize("NFC")));
  return (_principal, doc, node) => {
    const text = textAt(doc, node);
    if (text === undefined) return "unclear";
    if (asWritten.some((fits) => fits(text))) return "yes";
    if (hasStackedMarks(text)) return "unclear";
    const other = BEYOND_ASCII.test(text) ? text.normalize("NFC") : text;
    return unclearIf(composed.some((fits) => fits(other)));
  };
}

const unclearIf = (odd: boolean): Verdict => (odd ? "unclear" : "no");

/** The text, where it is one, of a length that can be compared, and without halves of surrogate pairs. */
function textAt(doc: JsonText, node: Node): string | undefined {
  if (doc.kind(node) !== "string" || !doc.wellFormed(node)) return undefined;
  return doc.end(node) - doc.start(node) > MAX_TEXT_BYTES ? undefined : doc.string(node);
}

/** What a caller does not have equals nothing, and nothing is surely different from it. */
function claimed(name: NonNullable<Test["claim"]>): Judge {
  return (principal, doc, node) => {
    const own = claimsOf(principal, name);
    const text = textAt(doc, node);
    if (own.length === 0 || text === undefined) return "unclear";
    if (own.includes(text)) return "yes";
    if (hasStackedMarks(text)) return "unclear";
    const composed = text.normalize("NFC");
    return unclearIf(own.some((value) => value.normalize("NFC") === composed));
  };
}

function claimsOf(principal: Principal, name: NonNullable<Test["claim"]>): readonly string[] {
  if (principal.anonymous) return [];
  const value = principal[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
