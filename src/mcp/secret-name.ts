/**
 * Whether a name or a sentence is about a secret that it asks for. A guess, made of words (secret-words.ts): what it
 * finds is probably one, what it does not find may be one all the same. Linear in the text.
 */

import { remembered } from "../remembered.ts";
import { type Reading, readings } from "./reading.ts";
import {
  folded,
  isOnlySpokenOf,
  isOtherCode,
  isPostal,
  isYours,
  meaningOf,
  PIN,
  wordsBefore,
  wordsBehind,
} from "./secret-context.ts";
import { ASKING, RECEIVED, SENT, SENT_BY, SENT_EAST, TYPING, TYPING_INSIDE } from "./secret-context-words.ts";
import { type Match, matches } from "./secret-tree.ts";

/** Words around a name from which on a clause is long, and how many of a long one are looked at. */
const SHORT = 8;
const MAX_CLAUSE = 16;
/** Fields for parts of an address that a form has at least, so that its PIN code is one too. */
const POSTAL_FIELDS = 2;

const asking = folded(ASKING);
const typing = folded(TYPING);
const sent = folded(SENT);
const sentBy = folded(SENT_BY);
const received = folded(RECEIVED);
const TYPED = new RegExp(Array.from(folded(TYPING_INSIDE)).join("|"), "u");

/** Whether the untrusted `text`, the name or the title of a field, names a secret. */
export const namesSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading)) if (meaningOf(reading, match) === "meant") return true;
    return asksForSent(reading);
  }),
);

/**
 * Whether a sentence of the untrusted `text`, a description or a message, asks for a secret. Long sentences have to ask; in
 * short ones (`Your API key`) the name is enough.
 */
export const asksForSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading))
      if (meaningOf(reading, match) === "meant" && isAsked(reading, match)) return true;
    return asksForSent(reading);
  }),
);

/**
 * Whether the untrusted `text`, that of a choice or a switch, says to type a secret somewhere. A guess like the others,
 * and a narrower one: `Show the password` is an honest switch.
 */
export const tellsToTypeSecret = remembered((text: string): boolean =>
  readings(text).some((reading) => {
    for (const match of matches(reading))
      if (
        meaningOf(reading, match) === "meant" &&
        (asks(reading, match, typing) || TYPED.test(reading.letters))
      )
        return true;
    return false;
  }),
);

/**
 * Whether a name or title that `namesSecret` found is a word with several meanings, and what else a form says tells
 * that it is another one: a `pass` is a boarding pass, a `pincode` beside a city is that of a place.
 * @param title the untrusted title of the field, or "" when `text` is it
 * @param description of the same field, or ""
 * @param siblings names of the form's other fields
 */
export function meansSomethingElse(
  text: string,
  title: string,
  description: string,
  siblings: readonly string[],
): boolean {
  for (const reading of readings(text)) {
    if (asksForSent(reading)) return false;
    for (const match of matches(reading)) {
      if (meaningOf(reading, match) !== "meant") continue;
      const word = reading.letters.slice(match.from, match.to);
      const isPin = PIN.test(word);
      if (!isPin && match.manner !== "last" && match.manner !== "alone") return false;
      if (isPin && isOfPlace([text, title, description], siblings)) continue;
      if (!isExplained(word, title, true) && !isExplained(word, description, false)) return false;
    }
  }
  return true;
}

function isOfPlace(texts: readonly string[], siblings: readonly string[]): boolean {
  return (
    texts.some((text) => readings(text).some(isPostal)) ||
    siblings.filter((name) => readings(name).some(isPostal)).length >= POSTAL_FIELDS
  );
}

/** Whether a text uses a word, and each time as another one; a title also for a property of what it means. */
function isExplained(word: string, text: string, isTitle: boolean): boolean {
  const [reading] = readings(text);
  if (reading === undefined) return false;
  const meanings = Array.from(matches(reading))
    .filter((match) => reading.letters.startsWith(word, match.from))
    .map((match) => meaningOf(reading, match));
  return (
    meanings.length > 0 &&
    meanings.every((meaning) => meaning === "other" || (isTitle && meaning === "property"))
  );
}

/** Whether a clause asks for a code by what it comes by: `the code we sent you by SMS`. */
function asksForSent(reading: Reading): boolean {
  const { letters, starts } = reading;
  for (let at = 0; at < letters.length; at++) {
    if (starts[at] !== true) continue;
    if (!sent.has(wordsBehind(reading, at, 1)[0] ?? "")) continue;
    const [head = "", ...rest] = wordsBehind(reading, at, MAX_CLAUSE);
    const by = rest.findIndex((word, i) => sentBy.has(word) || sentBy.has(word + (rest[i + 1] ?? "")));
    if (by === -1) continue;
    const before = wordsBefore(reading, at, MAX_CLAUSE);
    if (isOnlySpokenOf(before) || isOtherCode(before[0], rest[0])) continue;
    if (!/^[a-z]/.test(head)) return true;
    if ([...before, ...rest].some((word) => asking.has(word) || received.has(word))) return true;
  }
  return SENT_EAST.test(letters);
}

function isAsked(reading: Reading, match: Match): boolean {
  return isShort(reading, match) || isYours(reading, match) || asks(reading, match);
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
