/**
 * Untrusted texts as people read them in a question: quoted, with every character written out by its number (`{U+202E}`) that cannot
 * be seen, that breaks lines, that turns the direction of a text, or that some app would take for markup or a link. What is shown
 * means one text only. Pure; linear in what is shown, not in the text. Sources: Unicode Standard Annexes 9 (direction) and 44
 * (categories); CommonMark 0.31 (what stands in a code span is literal).
 */
import { linkIn } from "../mcp/links.ts";

/** Marks on one letter: no script writes more, and a heap of them covers the lines above. */
const MOST_MARKS = 4;
const HEAP = /\p{M}{5}/u;
const MARK = /^\p{M}$/u;
/** What stands for itself: letters, marks, numbers, signs, and the one space that everybody draws alike. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Drawn as nothing though they are letters, marks or signs: fillers, joiners, variation selectors, an empty Braille cell. */
const UNSEEN = /^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\u{1d159}\ufff9-\ufffd]$/u;
/** What apps take for markup inside of quotes as well, the quote itself, and what is drawn like it. */
const MARKUP = /^[`<>&\u02cb\u02f4\u2035]$/;
/** Letters that run from right to left, and what runs from left to right. */
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const RIGHTWARD =
  /[^\P{L}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]|\p{N}/u;
/** What a link is none without, and then all that is neither letter nor number. */
const JOINTS = /^[:./@[\]()。．｡․]$/u;
const SIGNS = /^[\p{P}\p{S} ]$/u;

const isPlain = (character: string): boolean =>
  PLAIN.test(character) &&
  !UNSEEN.test(character) &&
  !MARKUP.test(character) &&
  // Some apps make other forms of a sign the sign itself.
  !MARKUP.test(character.normalize("NFKC"));

/** Whether a person sees every character of an operator's text, and no app takes one of them for markup. */
export function isVisible(text: string): boolean {
  return text.isWellFormed() && !HEAP.test(text) && Array.from(text).every(isPlain);
}

/** Whether somebody can be told to type exactly this: 1 to 64 characters, shown as they are, none of which gets lost on the way. */
export function isTypable(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= 64 &&
    text === text.trim() &&
    !text.includes("  ") &&
    text === text.normalize("NFC") &&
    quote(text, 64, "alone").text === `\`${text}\``
  );
}

/** A text in quotes, and whether all of it is shown. */
export interface Quoted {
  readonly text: string;
  readonly whole: boolean;
}

/**
 * Quotes the beginning of an untrusted text.
 * @param most characters of it that are shown; with escapes at most four times as many bytes
 * @param medium a terminal makes no links that lead elsewhere than they say
 * @param place `alone` where nothing follows on the line: only there letters that run from right to left move nothing else
 */
export function quote(
  text: string,
  most: number,
  place: "alone" | "amid",
  medium: "app" | "terminal" = "app",
): Quoted {
  // A character is two units at most.
  const head = text.slice(0, 2 * most);
  const characters = Array.from(head);
  const shown = characters.slice(0, most);
  const turns = LEFTWARD.test(head) && (place === "amid" || RIGHTWARD.test(head));
  const odd = (at: number): boolean => {
    const character = shown[at] ?? "";
    return (
      !isPlain(character) ||
      (turns && LEFTWARD.test(character)) ||
      (character === "{" && shown[at + 1] === "U" && shown[at + 2] === "+") ||
      // Spaces at an end and side by side get lost where texts are laid out.
      (character === " " && (at === 0 || at === characters.length - 1 || shown[at - 1] === " ")) ||
      isHeaped(shown, at)
    );
  };
  let escaped = print(shown, odd, 4 * most);
  for (const linking of medium === "app" ? [JOINTS, SIGNS] : []) {
    // With its quotes, which a link may end at.
    if (linkIn(`\`${escaped.text}\``) === undefined) break;
    escaped = print(shown, (at) => odd(at) || linking.test(shown[at] ?? ""), 4 * most);
  }
  const whole = escaped.count === characters.length && head.length === text.length;
  return { text: `\`${escaped.text}\``, whole };
}

/** A mark that has no letter to stand on, or one too many on it. */
function isHeaped(characters: readonly string[], at: number): boolean {
  let marks = 0;
  while (marks <= MOST_MARKS && MARK.test(characters[at - marks] ?? "")) marks++;
  return marks > MOST_MARKS || (marks > 0 && (characters[at - marks] ?? " ") === " ");
}

/** @param mostBytes after which nothing more is shown */
function print(
  characters: readonly string[],
  odd: (at: number) => boolean,
  mostBytes: number,
): { readonly text: string; readonly count: number } {
  let text = "";
  let bytes = 0;
  let count = 0;
  for (const [at, character] of characters.entries()) {
    const next = odd(at) ? escapeOf(character) : character;
    bytes += Buffer.byteLength(next);
    if (bytes > mostBytes) break;
    text += next;
    count++;
  }
  return { text, count };
}

const escapeOf = (character: string): string =>
  `{U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}}`;
