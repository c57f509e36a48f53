/**
 * Texts as people read them: `apiKey`, `API-Key` and `ａｐｉ key` are one, so is `pa55word` with a Cyrillic `р`. For
 * detectors that look for words in names and sentences of a server. All work is linear in the text.
 * Source: Unicode Standard Annex 15 (normal forms), Technical Standard 39 (confusable letters).
 */

/** Letters and digits of a text in a row, all small, without what stands between them. */
export interface Reading {
  readonly letters: string;
  /** At each offset of `letters`: whether a word starts there. One more at the end, always true. */
  readonly starts: readonly boolean[];
}

/** Longest text that is looked into, in UTF-16 units. */
export const MAX_READ = 16 * 1024;
/** Stands in `letters` where a sentence or a clause ends, so that no word reaches over it. */
export const STOP = " ";

// Format characters and all that is drawn as nothing: soft hyphen, joiners, fillers, variation selectors.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// Ordering a long run of marks takes quadratic time; no script has runs like this. Half-width voicing marks become
// marks.
const MARKS = /([\p{M}\uff9e\uff9f]{8})[\p{M}\uff9e\uff9f]+/gu;
// One character comes to eighteen of these at most.
const GROWTH = 18;
/** Longest text that is looked into once its characters are written out. */
const MAX_COMPOSED = 2 * MAX_READ;
// Marks above and below letters of European scripts, vowel signs of Arabic and Hebrew. Those of Indic scripts are
// part of the word.
const ACCENTS =
  /[\u0300-\u036f]|[\u0591-\u05c7]|[\u064b-\u065f]|\u0670|[\u1ab0-\u1aff]|[\u1dc0-\u1dff]|[\u20d0-\u20ff]/g;
const CAMEL = /(\p{Ll}|\p{Nd})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
// Where digits stand for letters no word starts behind one.
const CAMEL_OF_LETTERS = /(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
// What CLAUSE becomes while a text is read.
const BREAK = "\ufffc";
const PARTS = /[\p{L}\p{M}\p{Nd}]+|\ufffc/gu;
// Of the ones that stand inside names too, only those before a space.
const CLAUSE = /[.?!,;:](?=\s|$)|[()\n\r。、！？，；：（）؟،।]/gu;

/** Letters that normal forms leave alone though people read them as others. */
const OTHER_LETTERS = pairs("ßss ıi łl øo đd ðd þth æae œoe ħh ŧt ɡg أا إا آا ىي ةه کك یي");

/** Letters of other scripts that look like Latin ones, small or capital. */
const LOOK_ALIKES = pairs(
  "аa вb еe кk мm нh оo рp сc тt уy хx іi јj ѕs ԁd һh ԛq ԝw ѵv ьb гr пn ӏl " +
    "αa βb εe ιi κk νv οo ρp τt υu χx γy ωw σo ηn μm ζz ոn օo սu հh ցg աw զq յj " +
    "ᴀa ʙb ᴄc ᴅd ᴇe ɪi ᴋk ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz ɑa ꞓc ᴍm ʟl",
);

/** Digits and signs that stand for letters; `1` for the one it does not stand for in the second reading. */
const LEET = pairs("0o 1i 3e 4a 5s 7t 8b 9g @a $s !i |l €e");

/** A text without accents, marks nobody sees, and differences of width, case and spelling of the same letter. */
export function plain(text: string): string {
  return settle(text)
    .toLowerCase()
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(/\P{ASCII}/gu, (c) => OTHER_LETTERS.get(c) ?? c);
}

/** What does not change case: the first half of `plain`. */
function settle(text: string): string {
  return composed(text).slice(0, MAX_COMPOSED).normalize("NFD");
}

/**
 * The first 16 KiB of the untrusted `text` with compatible characters written out (NFKC) and without those that
 * nobody sees. Up to eighteen times as long as the text.
 */
export function composed(text: string): string {
  return text.slice(0, MAX_READ).toWellFormed().replace(INVISIBLE, "").replace(MARKS, "$1").normalize("NFKC");
}

/** Whether a text is too long to be read to its end, as it stands or with its characters written out. */
export function isTooLong(text: string): boolean {
  return (
    text.length > MAX_READ || (text.length * GROWTH > MAX_COMPOSED && composed(text).length > MAX_COMPOSED)
  );
}

/** What a text of other scripts looks like in Latin letters, as far as it does. The text is folded already (`plain`). */
export function asLatin(text: string): string {
  return text.replace(/\P{ASCII}/gu, (c) => LOOK_ALIKES.get(c) ?? c);
}

/**
 * All ways to read a text: as it stands, with look-alike letters as Latin ones, with digits and signs as letters. The
 * first is always the one as it stands; most texts have no other.
 */
export function readings(text: string): Reading[] {
  const settled = settle(text).replace(ACCENTS, "").normalize("NFC");
  const clauses = settled.replaceAll(BREAK, " ").replace(CLAUSE, BREAK);
  const spaced = small(clauses.replace(CAMEL, "$1$2 "));
  const found = [read(spaced)];
  const latin = asLatin(spaced);
  if (latin !== spaced) found.push(read(latin));
  if (/[0-9@$!|€]/.test(latin) && /[a-z]/.test(latin)) {
    const drawn = asLatin(small(clauses.replace(CAMEL_OF_LETTERS, "$1$2 ")));
    found.push(read(asLetters(drawn, "i")));
    if (drawn.includes("1")) found.push(read(asLetters(drawn, "l")));
  }
  return found;
}

/** Small letters, without accents, each in one spelling. */
function small(text: string): string {
  return text
    .toLowerCase()
    .replace(ACCENTS, "")
    .replace(/\P{ASCII}/gu, (c) => OTHER_LETTERS.get(c) ?? c);
}

/** Digits and signs as letters, where letters stand on both sides of their run; at the end of a word they only number it. */
function asLetters(text: string, one: "i" | "l"): string {
  return text.replace(/[0-9@$!|€]+(?=\p{L})/gu, (run) =>
    Array.from(run, (c) => (c === "1" ? one : (LEET.get(c) ?? c))).join(""),
  );
}

function read(text: string): Reading {
  let letters = "";
  const starts: boolean[] = [];
  for (const [part] of text.matchAll(PARTS)) {
    if (part === BREAK) {
      if (letters === "" || letters.endsWith(STOP)) continue;
      letters += STOP;
      starts.push(true);
      continue;
    }
    letters += part;
    let before: number | undefined;
    for (let at = 0; at < part.length; at++) {
      const unit = part.charCodeAt(at);
      // Where digits, letters, and letters of scripts without spaces meet, a word ends too.
      const sort = isDigit(unit) ? 1 : isEastAsian(unit) ? 2 : 0;
      starts.push(sort !== before);
      before = sort;
    }
  }
  starts.push(true);
  return { letters, starts };
}

/** A letter and what it is read as, for each word of a list. */
function pairs(list: string): ReadonlyMap<string, string> {
  return new Map(list.split(" ").map((pair) => [pair.slice(0, 1), pair.slice(1)]));
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Whether a UTF-16 unit is of a script of China, Japan or Korea: kana, Han, Hangul. False for NaN, the end of a text. */
export function isEastAsian(unit: number): boolean {
  return (unit >= 0x3040 && unit <= 0xd7a3) || (unit >= 0xf900 && unit <= 0xfaff);
}
