/** How the story looks: aligned lines within 96 columns, coloured where the terminal can (NO_COLOR and FORCE_COLOR obeyed). */
import { styleText } from "node:util";

/** What came out of a step, as its line shows it. */
export interface Outcome {
  /** What the client saw. */
  readonly sees: string;
  /** The true cause, from the audit record. */
  readonly cause?: string;
}

/** Tells the story and keeps count of what did not come out as told. */
export interface Teller {
  heading(number: number, title: string, remark: string): void;
  /** The names of the columns of the steps that follow. */
  columns(sees: string, cause: string): void;
  /** A name and a value, for what is shown and not checked. */
  fact(name: string, value: string): void;
  blank(): void;
  /**
   * Plays a step and prints its line: ✓ when exactly `expected` came out, else ✗ with both. A step that throws is ✗, too.
   * Never throws.
   */
  step(what: string, expected: Outcome, play: () => Promise<Outcome>): Promise<void>;
  readonly steps: number;
  readonly failed: number;
}

const INDENT = "   ";
const WHAT_COLUMNS = 27;
const SEES_COLUMNS = 43;

type Style = Parameters<typeof styleText>[0];
const paint = (style: Style, text: string): string => styleText(style, text);

/** Opens a teller that writes lines. */
export function createTeller(print: (line: string) => void): Teller {
  let steps = 0;
  let failed = 0;
  const line = (mark: string, what: string, { sees, cause = "" }: Outcome, style?: Style): void => {
    const padded = cause === "" ? sees : sees.padEnd(SEES_COLUMNS);
    const middle = style === undefined ? padded : paint(style, padded);
    const tail = cause === "" ? "" : ` ${paint("yellow", cause)}`;
    print(`${INDENT}${mark} ${what.padEnd(WHAT_COLUMNS)} ${middle}${tail}`);
  };
  return {
    heading(number, title, remark) {
      print("");
      print(`${paint("bold", `${number}  ${title}`)}`);
      print(`${INDENT}${paint("dim", remark)}`);
      print("");
    },
    columns(sees, cause) {
      const heads = `${"".padEnd(WHAT_COLUMNS)} ${sees.padEnd(SEES_COLUMNS)} ${cause}`;
      print(paint("dim", `${INDENT}  ${heads}`));
    },
    fact: (name, value) => print(`${INDENT}  ${paint("dim", name.padEnd(WHAT_COLUMNS))} ${value}`),
    blank: () => print(""),
    async step(what, expected, play) {
      steps += 1;
      let seen: Outcome;
      try {
        seen = await play();
      } catch (error) {
        seen = { sees: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
      }
      if (seen.sees === expected.sees && seen.cause === expected.cause) {
        line(paint("green", "✓"), what, seen);
        return;
      }
      failed += 1;
      line(paint(["red", "bold"], "✗"), what, seen, "red");
      line(" ", "  expected", expected, "dim");
    },
    get steps() {
      return steps;
    },
    get failed() {
      return failed;
    },
  };
}

/** A long text with its end left out. */
export function shorten(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
