/**
 * Whether a name or a sentence is about a secret that it asks for. A guess, made of words (secret-words.ts): what it
 * finds is probably one, what it does not find may be one all the same. Linear in the text.
 */

import { remembered } from "../remembered.ts";
import { plain, type Reading, readings, STOP } from "./reading.ts";
import {
  ASKING,
  GOES_ON,
  HANDLING,
  HARMLESS_KINDS,
  LITTLE,
  type Manner,
  NOT,
  OF,
  PROPERTIES,
  SECRETS,
  TYPING,
  TYPING_INSIDE,
  WHETHER,
} from "./secret-words.ts";

/** A place in a reading that names a secret. */
interface Match {
  readonly from: number;
  readonly to: number;
  readonly manner: Manner;
}

/** Letters that an ending adds at most. */
const MAX_ENDING = 4;
/** Letters of the longest word that is looked at whole; more are more words. It bounds the work for each place. */
const MAX_WORD = 48;
/** How many words before and behind are looked at. */
const REACH = 4;
/** Words around a name from which on a clause is long, and how many of a long one are looked at. */
const SHORT = 6;
const MAX_CLAUSE = 16;
const DIGITS = /^[0-9]+$/;

/** What joins the words of a name in sentences; identifiers leave it out. */
const JOINTS = / (?:d'|(?:de|di|du|do|da|del|della|la|le|de la) )/g;

interface Branch {
  readonly next: Map<string, Branch>;
  manner: Manner | undefined;
}

const TREE = grow();
const properties = folded(PROPERTIES);
const of = folded(OF);
const whether = folded(WHETHER);
const not = folded(NOT);
const harmlessKinds = folded(HARMLESS_KINDS);
const little = folded(LITTLE);
const goesOn = folded(GOES_ON);
const handling = folded(HANDLING);
const asking = folded(ASKING);
const typing = folded(TYPING);
const TYPED = new RegExp(split(TYPING_INSIDE).join("|"), "u");

/** Whether the untrusted `text`, the name or the title of a field, names a secret. */
export const namesSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading)) if (isMeant(reading, match)) return true;
    return false;
  }),
);

/**
 * Whether a sentence of the untrusted `text`, a description or a message, asks for a secret. Long sentences have to ask; in
 * short ones (`Your API key`) the name is enough.
 */
export const asksForSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading))
      if (isMeant(reading, match) && (isShort(reading, match) || asks(reading, match))) return true;
    return false;
  }),
);

/**
 * Whether the untrusted `text`, that of a choice or a switch, says to type a secret somewhere. A guess like the others,
 * and a narrower one: `Show the password` is an honest switch.
 */
export const tellsToTypeSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading))
      if (isMeant(reading, match) && (asks(reading, match, typing) || TYPED.test(reading.letters)))
        return true;
    return false;
  }),
);

function folded(list: string): ReadonlySet<string> {
  return new Set(split(list));
}

/** What a text is folded to, without anything between its letters. */
function split(list: string): string[] {
  return list.split(", ").map(squeeze);
}

function squeeze(word: string): string {
  return plain(word).replace(/[^\p{L}\p{M}\p{Nd}]/gu, "");
}

function grow(): Branch {
  const tree: Branch = { next: new Map(), manner: undefined };
  for (const manner of ["last", "whole", "open", "anywhere"] as const) {
    for (const word of SECRETS[manner].flatMap((list) => [
      ...split(list),
      ...split(list.replace(JOINTS, " ")),
    ])) {
      let branch = tree;
      for (const letter of word) {
        let next = branch.next.get(letter);
        if (next === undefined) {
          next = { next: new Map(), manner: undefined };
          branch.next.set(letter, next);
        }
        branch = next;
      }
      branch.manner = manner;
    }
  }
  return tree;
}

/** All places where a word of the vocabulary stands in its manner; of several at one place the longest. */
function* matches({ letters, starts }: Reading): Generator<Match> {
  for (let from = 0; from < letters.length; from++) {
    let branch: Branch | undefined = TREE;
    let best: Match | undefined;
    for (let at = from; branch !== undefined; at++) {
      const { manner } = branch;
      if (manner !== undefined && fits(starts, letters, from, at, manner)) best = { from, to: at, manner };
      branch = at < letters.length ? branch.next.get(letters.charAt(at)) : undefined;
    }
    if (best === undefined) continue;
    yield best;
    // What stands inside is part of it: the token of an access token.
    from = Math.max(from, best.to - 1);
  }
}

function fits(
  starts: readonly boolean[],
  letters: string,
  from: number,
  to: number,
  manner: Manner,
): boolean {
  if (manner === "anywhere") return true;
  if (starts[from] !== true) return false;
  const ends = endOfWord(starts, to);
  if (manner === "whole") return ends === to;
  // Only words of other scripts and languages take endings; `tokenizer` and `pinned` are words of their own.
  const ending = ends - to;
  if (manner === "last") return ending === 0 || !/^[a-z]/.test(letters.slice(from, to));
  return ending <= MAX_ENDING;
}

/** The end of the word at an offset; of a word longer than any, a place inside it. */
function endOfWord(starts: readonly boolean[], at: number): number {
  let end = at;
  while (starts[end] !== true && end < at + MAX_WORD) end++;
  return end;
}

function isMeant(reading: Reading, match: Match): boolean {
  const before = wordsBefore(reading, match.from);
  const behind = wordsBehind(reading, match.to);
  if (before.some((word) => not.has(word))) return false;
  const owner = before.findIndex((word) => !little.has(word));
  if (owner !== -1 && of.has(before[owner] ?? "") && !isCommand(before, owner)) return false;
  if (before[0] !== undefined && whether.has(before[0])) return false;
  if (
    before[0] !== undefined &&
    (harmlessKinds.has(before[0]) || harmlessKinds.has((before[1] ?? "") + before[0]))
  )
    if (match.manner === "last" || isCard(reading, match)) return false;
  const [next, purpose] = behind;
  if (next === "to" && purpose !== undefined && handling.has(purpose)) return false;
  if (next === undefined || goesOn.has(next)) return true;
  if (match.manner === "last") return false;
  for (const word of behind) {
    if (goesOn.has(word)) return true;
    if (properties.has(word)) return false;
  }
  return true;
}

/** `Type your password` asks for it; the `type of the password` does not. */
function isCommand(before: readonly string[], owner: number): boolean {
  return before[owner] === "type" && owner > 0 && !before.slice(0, owner).includes("of");
}

/** Members have card numbers too. */
function isCard({ letters }: Reading, { from, to }: Match): boolean {
  return /^card(number|no|num|code|pin)$/.test(letters.slice(from, to));
}

/**
 * Whether the clause around a match is short, or of a script whose words stand without spaces or letters of their own
 * to ask by.
 */
function isShort(reading: Reading, { from, to }: Match): boolean {
  if (!/^[a-z]/.test(reading.letters.slice(from, to))) return true;
  return wordsBefore(reading, from, SHORT).length + wordsBehind(reading, to, SHORT).length < SHORT;
}

function asks(reading: Reading, { from, to }: Match, by = asking): boolean {
  const words = [...wordsBefore(reading, from, MAX_CLAUSE), ...wordsBehind(reading, to, MAX_CLAUSE)];
  return words.some((word) => by.has(word));
}

/** The words before an offset in the same clause, the nearest first. */
function wordsBefore({ letters, starts }: Reading, from: number, most = REACH): string[] {
  const words: string[] = [];
  let end = from;
  while (end > 0 && words.length < most && letters[end - 1] !== STOP) {
    let start = end - 1;
    while (start > 0 && starts[start] !== true && start > end - MAX_WORD) start--;
    words.push(letters.slice(start, end));
    end = start;
  }
  return words;
}

/** The words behind an offset in the same clause, from the nearest on, without numbers and plural endings. */
function wordsBehind({ letters, starts }: Reading, to: number, most = REACH): string[] {
  const words: string[] = [];
  let start = to;
  while (start < letters.length && words.length < most && letters[start] !== STOP) {
    const end = endOfWord(starts, start + 1);
    const word = letters.slice(start, end).replace(STOP, "");
    if (!DIGITS.test(word) && !(start === to && starts[to] !== true && isEnding(word))) words.push(word);
    start = end;
  }
  return words;
}

/** A plural, a case, a possessive: what a word goes on with and stays the same word. */
function isEnding(word: string): boolean {
  return !properties.has(word) && (word.length <= 2 || (word.length <= MAX_ENDING && !/^[a-z]/.test(word)));
}
