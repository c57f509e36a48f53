/**
 * Untrusted values as people read them in a question: quoted, with every character written out by its number (`{U+202E}`) that
 * cannot be seen, that breaks lines, that turns the direction of a text, or that some app would take for markup or a link. What is
 * shown means one text only. Pure; linear in what is shown, not in the value. Source: Unicode Standard Annex 9 (direction), 44
 * (categories); CommonMark 0.31 (what code spans hold is literal).
 */
import { linkIn } from "../mcp/links.ts";

/** Characters of a value that are shown; of a longer one the beginning. */
const MOST_SHOWN = 160;
/** Characters of a value with its escapes. */
const MOST_ESCAPED = 480;
/** Marks on one letter: no script writes more, and a heap of them covers the lines above. */
const MOST_MARKS = 4;
const MARK = /^\p{M}$/u;
/** What stands for itself: letters, marks, numbers, signs, and the one space that everybody draws alike. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Drawn as nothing though they are letters, marks or signs: fillers, joiners, variation selectors, an empty Braille cell. */
const UNSEEN = /^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\u{1d159}\ufffc\ufff9-\ufffb]$/u;
/** What apps take for markup inside of quotes as well, and the quotes themselves. */
const MARKUP: ReadonlySet<string> = new Set("`<>&");
/** Letters that are written from right to left, and move what stands beside them. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Whether a person sees every character of an operator's text, and no app takes one of them for markup. */
export function isVisible(text: string): boolean {
  return text.isWellFormed() && Array.from(text).every(isPlain) && !RIGHT_TO_LEFT.test(text) && !hasHeap(text);
}

/** Whether somebody can be told to type exactly this: 1 to 64 characters that are shown as they are, none of them at an end that gets lost. */
export function isTypable(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= 64 &&
    text === text.trim() &&
    !text.includes("  ") &&
    text === text.normalize("NFC") &&
    isVisible(text) &&
    linkIn(text) === undefined
  );
}

const isPlain = (character: string): boolean =>
  PLAIN.test(character) && !UNSEEN.test(character) && !MARKUP.has(character);

const hasHeap = (text: string): boolean => new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, "u").test(text);

/** What is shown of a value, in quotes, and whether that is all of it. */
export interface Quoted {
  readonly text: string;
  readonly whole: boolean;
}

/** Quotes a value. @param most characters of it that are shown */
export function quote(value: string, most = MOST_SHOWN): Quoted {
  // The beginning only: a character is two units at most.
  const head = value.slice(0, 2 * most);
  const characters = Array.from(head);
  const shown = escaped(characters.slice(0, most), linkIn(head) !== undefined);
  return { text: `\`${shown.text}\``, whole: shown.count === characters.length && head.length === value.length };
}

function escaped(characters: readonly string[], defang: boolean): { readonly text: string; readonly count: number } {
  const turned = characters.some((character) => RIGHT_TO_LEFT.test(character));
  let text = "";
  let marks = 0;
  let count = 0;
  for (const [at, character] of characters.entries()) {
    marks = MARK.test(character) ? marks + 1 : 0;
    const literal =
      isPlain(character) &&
      // A mark needs a letter to stand on; the quote is none.
      marks <= (at === 0 ? 0 : MOST_MARKS) &&
      !(turned && RIGHT_TO_LEFT.test(character)) &&
      !(character === "{" && characters[at + 1] === "U" && characters[at + 2] === "+") &&
      !(defang && LINKING.has(character));
    const next = literal ? character : escapeOf(character);
    if (text.length + next.length > MOST_ESCAPED) break;
    text += next;
    count++;
  }
  return { text, count };
}

/** A link is none without them. */
const LINKING: ReadonlySet<string> = new Set(":./@[]()");

const escapeOf = (character: string): string =>
  `{U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}}`;
