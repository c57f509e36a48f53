/** What is said while a review runs: a line per check. On a terminal the check under way stands on a line that its result replaces. */

import type { RecordedResult } from "../record.ts";
import { placeOf, SAID } from "./findings.ts";
import { painter } from "./terminal.ts";
import { shown, wrapped } from "./text.ts";

/** Where it goes, and how. */
export interface ProgressPlace {
  /** Takes texts as they are, such as `process.stderr.write`. */
  write(text: string): void;
  /** Whether lines can be replaced: the place is a terminal that is not dumb. */
  readonly live: boolean;
  readonly colour: boolean;
  /** Of the terminal; asked each time. */
  columns(): number;
}

/** Call `checking`, then `found`, for each check in turn; `note` at any time; `end` at the end, also of a review that breaks off. */
export interface Progress {
  /** @param position counts from 1 @param total of checks, as far as it is known */
  checking(check: Pick<RecordedResult, "check" | "title" | "call">, position: number, total: number): void;
  found(result: Pick<RecordedResult, "check" | "title" | "call" | "verdict" | "words">): void;
  /** One line about something that is no check, such as discovery. */
  note(text: string): void;
  end(): void;
}

const ERASE = "\r\u001b[2K";
const MAX_LINE = 300;

/** See `Progress`. */
export function progressTo({ write, live, colour, columns }: ProgressPlace): Progress {
  const paint = painter(colour);
  let standing = false;
  const clear = (): string => {
    const erase = standing ? ERASE : "";
    standing = false;
    return erase;
  };
  return {
    checking({ check, call }, position, total) {
      if (!live) return;
      const line = shown(`[${position}/${total}] ${check} (${placeOf({ call })})`, MAX_LINE);
      // A line that wraps could not be erased; some terminals say that they have no columns.
      const [fitting = ""] = wrapped(line, Math.max(20, columns() || 80) - 1);
      write(`${clear()}${fitting}`);
      standing = true;
    },
    found({ check, call, verdict, words }) {
      const { sign, word } = SAID[verdict];
      const said = verdict === "pass" ? "" : `: ${shown(words, MAX_LINE)}`;
      write(`${clear()}${paint(sign, verdict)} ${word} ${check} (${placeOf({ call })})${said}\n`);
    },
    note(text) {
      write(`${clear()}${shown(text, MAX_LINE)}\n`);
    },
    end() {
      const erase = clear();
      if (erase !== "") write(erase);
    },
  };
}
