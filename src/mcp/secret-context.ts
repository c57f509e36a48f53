/**
 * What is meant by a word for a secret: the words around it tell whether the secret is asked for or only spoken of.
 * A guess. Linear in the text.
 */
import { isEastAsian, type Reading, STOP } from "./reading.ts";
import {
  ASKING,
  BESIDE,
  CODE_OF,
  GOES_ON,
  HANDLING,
  HARMLESS_KINDS,
  HOW,
  IN_GENERAL,
  LITTLE,
  NO_CREDENTIALS,
  NOT,
  OF,
  OTHER_CODES,
  POSTAL,
  PROPERTIES,
  PROPERTIES_ABROAD,
  PROPERTIES_EAST,
  PROPERTY_ENDS,
  SEVERAL,
  SPEAKING,
  WHETHER,
  YOURS,
} from "./secret-context-words.ts";
import { endOfWord, MAX_ENDING, type Match, squeeze, startOfWord } from "./secret-tree.ts";

/**
 * `meant`: the secret itself. `other`: something else of that name, as the pin of a map. `property`: something about
 * it, as its length. `spoken`: it is named, and not asked for.
 */
export type Meaning = "meant" | "other" | "property" | "spoken";

/** How many words before and behind are looked at. */
const REACH = 4;
/** Words of a long clause that are looked at. */
const MAX_CLAUSE = 16;
/** From here on what follows in a script without spaces is more than a name. */
const LONG_EAST = 10;
const DIGITS = /^[0-9]+$/;
/** English forms of verbs, behind a secret's name: what was done to it. Some only say how it is written. */
const DONE =
  /^(?:[a-z]{3,}(?:ed|able|ible|ing|ment)|sent|lost|seen|shown|given|known|kept|stolen|hidden|found)$/;
const WRITTEN = /^(?:encoded|repeated|confirmed|retyped|shared|string)$/;
const PAYMENT_CARD = /^(?:(?:credit|debit|payment|bank|your)cards?|creditcardnumber|kreditkarte)$/;
const EXPIRY = /^(?:expiry|expiration|exp|expires|expirydate|ablaufdatum)$/;
/** Of a card or of a place: in India post goes by PIN codes. */
export const PIN = /^pins?(?:code|number|no)?$/;

/** The words of a list, as `squeeze` writes them. */
export function folded(list: string): ReadonlySet<string> {
  return new Set(list.split(", ").map(squeeze));
}

const abroad = folded(PROPERTIES_ABROAD);
const properties = new Set([...folded(PROPERTIES), ...abroad]);
const speaking = folded(SPEAKING);
const eastern = Array.from(folded(PROPERTIES_EAST));
const of = new Set([...folded(OF), ...abroad]);
const whether = folded(WHETHER);
const not = folded(NOT);
const how = folded(HOW);
const harmlessKinds = folded(HARMLESS_KINDS);
const noCredentials = folded(NO_CREDENTIALS);
const otherCodes = folded(OTHER_CODES);
const inGeneral = folded(IN_GENERAL);
const yours = folded(YOURS);
const little = folded(LITTLE);
const goesOn = folded(GOES_ON);
const handling = folded(HANDLING);
const postal = folded(POSTAL);
const beside = new Set([...folded(BESIDE), ...little, ...goesOn, ...folded(ASKING)]);

/** What a match in a reading means. */
export function meaningOf(reading: Reading, match: Match): Meaning {
  const before = wordsBefore(reading, match.from);
  const behind = wordsBehind(reading, match.to);
  if (before.some((word) => not.has(word)) || asksHow(wordsBefore(reading, match.from, MAX_CLAUSE)))
    return "spoken";
  const owner = before.findIndex((word) => !little.has(word));
  const letters = reading.letters.slice(match.from, match.to);
  if (owner !== -1 && of.has(before[owner] ?? "") && !isCommand(before, owner))
    return isExpiry(letters, before.slice(owner)) ? "meant" : "property";
  const [nearest = "", second = ""] = before;
  if (whether.has(nearest) || (inGeneral.has(nearest) && isSeveral(reading, match))) return "spoken";
  if (PIN.test(letters) && isNearPlace(reading, match)) return "other";
  if (kindsOf(match, letters).some((kinds) => kinds.has(nearest) || kinds.has(second + nearest)))
    return "other";
  if (match.manner === "alone" && [...before, ...behind].some((word) => !beside.has(word))) return "other";
  return meaningBefore(behind, match, letters);
}

/** What the words behind a match make of it. */
function meaningBefore(behind: readonly string[], match: Match, letters: string): Meaning {
  const [next, second] = behind;
  if (isExpiry(letters, behind)) return "meant";
  if (next === "to" && second !== undefined && handling.has(second)) return "spoken";
  if (next === undefined) return "meant";
  if (next === "of" && second !== undefined && CODE_OF.test(letters) && !beside.has(second)) return "other";
  // `last used`, `last changed`
  if (next === "last" && second !== undefined) return "property";
  if (goesOn.has(next)) return "meant";
  if (match.manner === "last") return speaking.has(next) ? "spoken" : "property";
  for (const word of behind) {
    if (goesOn.has(word)) return "meant";
    if (speaking.has(word)) return "spoken";
    if (isProperty(word)) return "property";
  }
  return "meant";
}

function isSeveral({ letters, starts }: Reading, { from, to }: Match): boolean {
  return SEVERAL.test(letters.slice(from, endOfWord(starts, to)));
}

function isNearPlace(reading: Reading, { from, to }: Match): boolean {
  const words = [...wordsBefore(reading, from, MAX_CLAUSE), ...wordsBehind(reading, to, MAX_CLAUSE)];
  return words.some((word) => postal.has(word));
}

/** Until when a card for payments is valid is asked for to pay by it. */
function isExpiry(letters: string, [word = "", more = ""]: readonly string[]): boolean {
  return (
    PAYMENT_CARD.test(letters) &&
    (EXPIRY.test(word) || (word === "date" && EXPIRY.test(more)) || word + more === "validthru")
  );
}

function isProperty(word: string): boolean {
  if (properties.has(word) || PROPERTY_ENDS.test(word) || (DONE.test(word) && !WRITTEN.test(word)))
    return true;
  // What is done to the secret comes with its mark.
  if (!isEastAsian(word.charCodeAt(0)) || /^[をがと을를이와과]/u.test(word)) return false;
  const bare = word.replace(/^[の的의]/u, "");
  if (bare.length > LONG_EAST) return eastern.some((name) => bare.startsWith(name));
  return eastern.some((name) => bare.startsWith(name) || bare.endsWith(name));
}

/** Words that make something else of a match right before it: a card of members, a token of a page. */
function kindsOf({ manner }: Match, letters: string): readonly ReadonlySet<string>[] {
  if (/^credentials?$/.test(letters)) return [noCredentials];
  const hasOtherMeanings = /^card(?:number|no|num|code|pin)$/.test(letters) || PIN.test(letters);
  return manner === "last" || manner === "alone" || hasOtherMeanings ? [harmlessKinds] : [];
}

/** Whether the words before something in its clause, the nearest first, warn of it or ask for a number or a way. */
export function isOnlySpokenOf(before: readonly string[]): boolean {
  return before.some((word) => not.has(word)) || asksHow(before);
}

/** Whether the words right before and behind `code` make another one of it, or a property. */
export function isOtherCode(before = "", behind = ""): boolean {
  return otherCodes.has(before) || properties.has(behind);
}

function asksHow(before: readonly string[]): boolean {
  return before.some((word, i) => how.has(word) || how.has(word + (before[i - 1] ?? "")));
}

/** `Type your password` asks for it; the `type of the password` does not. */
function isCommand(before: readonly string[], owner: number): boolean {
  return before[owner] === "type" && owner > 0 && !before.slice(0, owner).includes("of");
}

/** Whether a clause begins with whose the secret is, as in `Your twelve recovery words, in order`. */
export function isYours(reading: Reading, { from }: Match): boolean {
  const before = wordsBefore(reading, from);
  return before.length < REACH && yours.has(before.at(-1) ?? "");
}

/** Whether a text speaks of postal addresses. */
export function isPostal(reading: Reading): boolean {
  for (let at = 0; at < reading.letters.length; at++)
    if (reading.starts[at] === true && postal.has(wordsBehind(reading, at, 1)[0] ?? "")) return true;
  return false;
}

/** The words before an offset in the same clause, the nearest first. */
export function wordsBefore({ letters, starts }: Reading, from: number, most = REACH): string[] {
  const words: string[] = [];
  let end = from;
  while (end > 0 && words.length < most && letters[end - 1] !== STOP) {
    const start = startOfWord(starts, end);
    words.push(letters.slice(start, end));
    end = start;
  }
  return words;
}

/** The words behind an offset in the same clause, from the nearest on, without numbers and plural endings. */
export function wordsBehind({ letters, starts }: Reading, to: number, most = REACH): string[] {
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
  if (properties.has(word)) return false;
  if (isEastAsian(word.charCodeAt(0))) return word.length === 1 && !isProperty(word);
  return word.length <= 2 || (word.length <= MAX_ENDING && !/^[a-z]/.test(word));
}
