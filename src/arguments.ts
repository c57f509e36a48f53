/**
 * What policies ask of the arguments of a call. Pure. Three answers are possible: yes, no, and unclear, which is what another
 * reader could see otherwise. An allow needs a yes; a deny holds unless the answer is no. docs/decisions/0022-arguments-in-policies.md.
 */

import { compilePlace, type Found } from "./argument-place.ts";
import { type ArgumentReading, type ClaimName, MAX_TEXT_BYTES } from "./argument-reading.ts";
import type { ExactNumber } from "./config/argument-settings.ts";
import type { Policy } from "./config/schema.ts";
import { compileGlob, type Glob } from "./glob.ts";
import type { Node } from "./json/scan.ts";
import { compareNumbers, sameNumber } from "./mcp/number.ts";

/** @returns the first test that does not let the policy match, `arguments[1]`; undefined when all do */
export type ArgumentTests = (reading: ArgumentReading) => string | undefined;

type Test = NonNullable<Policy["arguments"]>[number];
type Scalar = Exclude<Test["equals"], undefined>;
type Verdict = "yes" | "no" | "unclear";
type Judge = (reading: ArgumentReading, node: Node) => Verdict;

/** Compiles the tests of one policy (trusted, checked by the schema). */
export function compileArguments(effect: "allow" | "deny", tests: readonly Test[]): ArgumentTests {
  const compiled = tests.map((test, index) => ({
    name: `arguments[${index}]`,
    place: compilePlace(test.path),
    holds: effect === "allow" ? surely(test) : possibly(test),
  }));
  return (reading) => compiled.find(({ place, holds }) => !holds(reading, reading.place(place)))?.name;
}

type Holds = (reading: ArgumentReading, found: Found) => boolean;

/** For an allow: every reader sees a value there, in every entry of every list, and all of them fit. */
function surely(test: Test): Holds {
  if (test.present === false) return (_reading, { unclear, nodes }) => !unclear && nodes.length === 0;
  const judge = compileJudge(test);
  return (reading, { unclear, values, missing }) =>
    !unclear &&
    missing === 0 &&
    values.length > 0 &&
    values.every((node) => reading.spend(1) && judge(reading, node) === "yes");
}

/** For a deny: some reader may see a value there that fits. */
function possibly(test: Test): Holds {
  const { present } = test;
  if (present === true) return (_reading, { unclear, nodes }) => unclear || nodes.length > 0;
  const judge = compileJudge(test);
  return (reading, { unclear, nodes, values, missing }) =>
    unclear ||
    // What is not there fits the test for that and no other.
    (present === false && (missing > 0 || nodes.length === 0)) ||
    values.some((node) => !reading.spend(1) || judge(reading, node) !== "no");
}

function compileJudge({ equals, oneOf, glob, range, present, claim }: Test): Judge {
  if (equals !== undefined) return listed([equals]);
  if (oneOf !== undefined) return listed(oneOf);
  if (glob !== undefined) return globbed(glob);
  if (range !== undefined) return between(range.min, range.max);
  if (claim !== undefined) return claimed(claim);
  if (present !== undefined)
    return ({ doc }, node) => ((doc.kind(node) !== "null") === present ? "yes" : "no");
  throw new Error("a test of arguments that this version does not know");
}

/** Any yes is one; else anything unclear. */
function any(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("yes")) return "yes";
  return verdicts.includes("unclear") ? "unclear" : "no";
}

function listed(values: readonly Scalar[]): Judge {
  const judges = values.map((value): Judge => {
    if (typeof value === "string") return same(value);
    if (value !== null && typeof value === "object") return (reading, node) => sameAs(value, reading, node);
    const kind = String(value);
    // true and false are of one type.
    const near = value === null ? ["null"] : ["true", "false"];
    return ({ doc }, node) => {
      const found = doc.kind(node);
      return found === kind ? "yes" : near.includes(found) ? "no" : "unclear";
    };
  });
  return (reading, node) =>
    reading.spend(judges.length) ? any(judges.map((judge) => judge(reading, node))) : "unclear";
}

/** Equal by exact value; unclear where it is equal only for readers that round to doubles. */
function sameAs({ number }: ExactNumber, reading: ArgumentReading, node: Node): Verdict {
  const text = numberAt(reading, node);
  if (text === undefined) return "unclear";
  if (sameNumber(text, number)) return "yes";
  return Number(text) === Number(number) ? "unclear" : "no";
}

/** Inside by exact value and as a double; unclear where the two differ. */
function between(min: string | undefined, max: string | undefined): Judge {
  return (reading, node) => {
    const text = numberAt(reading, node);
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
function numberAt({ doc, spend }: ArgumentReading, node: Node): string | undefined {
  const length = doc.end(node) - doc.start(node);
  if (doc.kind(node) !== "number" || length > MAX_TEXT_BYTES || !spend(length)) return undefined;
  return doc.raw(node);
}

/** A text, code unit by code unit. */
function same(wanted: string): Judge {
  const steps = stepsOf(wanted);
  return texts(
    [wanted],
    (one) => (text) => text === one,
    () => steps,
  );
}

function globbed(patterns: readonly string[]): Judge {
  const steps = patterns.reduce((sum, pattern) => sum + stepsOf(pattern), 0);
  return texts(patterns, compileGlob, (text) => text.length * steps);
}

/** 32 characters at once. */
const stepsOf = (wanted: string): number => Math.ceil((wanted.length + 1) / 32);

/**
 * Code unit by code unit; unclear where a text fits only once both are composed (NFC), or where not all read it alike.
 * @param wanted what texts are compared with, and how
 * @param cost steps that comparing a text with all of them takes
 */
function texts(
  wanted: readonly string[],
  compile: (wanted: string) => Glob,
  cost: (text: string) => number,
): Judge {
  const asWritten = wanted.map(compile);
  const composed = wanted.map((text) => compile(text.normalize("NFC")));
  const isComposed = wanted.every((text) => text === text.normalize("NFC"));
  return (reading, node) => {
    const read = reading.text(node);
    if (read === undefined || !reading.spend(cost(read.text))) return "unclear";
    const { text, composed: other } = read;
    if (asWritten.some((fits) => fits(text))) return "yes";
    if (other === undefined) return "unclear";
    if (isComposed && other === text) return "no";
    return unclearIf(reading.spend(cost(other)) ? composed.some((fits) => fits(other)) : true);
  };
}

const unclearIf = (odd: boolean): Verdict => (odd ? "unclear" : "no");

/** What a caller does not have equals nothing, and nothing is surely different from it. */
function claimed(name: ClaimName): Judge {
  return (reading, node) => {
    const own = reading.claim(name);
    const read = reading.text(node);
    if (own.texts.size === 0 || read === undefined) return "unclear";
    if (own.texts.has(read.text)) return "yes";
    if (own.composed === undefined || read.composed === undefined) return "unclear";
    return unclearIf(own.composed.has(read.composed));
  };
}
