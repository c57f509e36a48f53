/**
 * Where the words for secrets (secret-words.ts) stand in a text, in all spellings that they come in: with another word
 * of the same meaning, shortened (`acct no`), without the little words between, mistyped. Linear in the text.
 */
import { plain, type Reading } from "./reading.ts";
import { type Manner, SECRETS } from "./secret-words.ts";

/** A place in a reading that names a secret. */
export interface Match {
  readonly from: number;
  readonly to: number;
  readonly manner: Manner;
}

/** Letters that an ending adds at most. */
export const MAX_ENDING = 4;
/** Letters of the longest word that is looked at whole; more are more words. It bounds the work for each place. */
const MAX_WORD = 48;

/** What joins the words of a name in sentences; identifiers leave it out. */
const JOINTS = / (?:d'|(?:de|di|du|do|da|del|della|la|le|de la) )/g;
/** Words that are written short inside names. */
const SHORTENED: readonly (readonly [word: RegExp, short: readonly string[]])[] = [
  [/nummer$/, ["nr"]],
  [/^numéro(?= )/, ["n", "no", "num", "nro"]],
  [/^número(?= )/, ["n", "no", "num", "nro"]],
  [/^numero(?= )/, ["n", "num"]],
  [/^numer(?= )/, ["nr"]],
  [/(?<= )numarası$/, ["no"]],
  [/(?<= )token$/, ["tkn", "tok"]],
  [/(?<=^| )account(?=$| )/, ["acct", "acc"]],
  [/^social(?= )/, ["soc"]],
  [/(?<= )security(?= number)/, ["sec"]],
  [/(?<= )number(?=$| )/, ["no", "num", "nr", "nbr"]],
  [/^verification(?= )/, ["verify", "verif"]],
  [/authorization/, ["authorisation"]],
  [/(?<= )password$/, ["pwd", "pw", "pass"]],
];
/** Words so long that a slip of the hand makes no other one of them. */
const MISTYPED: readonly string[] = ["password", "passphrase", "kennwort"];
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Endings that make a word of its own of a Latin one, and no form of it. */
const OTHER_WORD = /^(?:ing|ism|ist)/;

interface Branch {
  readonly next: Map<string, Branch>;
  manner: Manner | undefined;
}

const TREE: Branch = grow();

/** All places where a word of the vocabulary stands in its manner; of several at one place the longest. */
export function* matches({ letters, starts }: Reading): Generator<Match> {
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

/** The end of the word at an offset; of a word longer than any, a place inside it. */
export function endOfWord(starts: readonly boolean[], at: number): number {
  let end = at;
  while (starts[end] !== true && end < at + MAX_WORD) end++;
  return end;
}

/** The start of the word that ends at an offset; of a word longer than any, a place inside it. */
export function startOfWord(starts: readonly boolean[], end: number): number {
  let start = end - 1;
  while (start > 0 && starts[start] !== true && start > end - MAX_WORD) start--;
  return start;
}

/** What a text is folded to, without anything between its letters. */
export function squeeze(word: string): string {
  return plain(word).replace(/[^\p{L}\p{M}\p{Nd}]/gu, "");
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
  const isLatin = /^[a-z]/.test(letters.slice(from, to));
  if (manner === "last" || manner === "alone") return ending === 0 || (!isLatin && ending <= MAX_ENDING);
  return ending <= MAX_ENDING && !(isLatin && OTHER_WORD.test(letters.slice(to, ends)));
}

function grow(): Branch {
  const tree: Branch = { next: new Map(), manner: undefined };
  const variants: string[] = [];
  for (const manner of ["alone", "last", "whole", "open", "anywhere"] as const) {
    for (const phrase of SECRETS[manner].flatMap((list) => list.split(", ").flatMap(alternatives))) {
      for (const spelt of [phrase, phrase.replace(JOINTS, " ")]) plant(tree, squeeze(spelt), manner);
      variants.push(...shortened(phrase));
    }
  }
  for (const word of [...variants, ...MISTYPED.flatMap(mistyped)]) plant(tree, squeeze(word), "whole", false);
  return tree;
}

function plant(tree: Branch, word: string, manner: Manner, isOver = true): void {
  let branch = tree;
  for (const letter of word) {
    let next = branch.next.get(letter);
    if (next === undefined) {
      next = { next: new Map(), manner: undefined };
      branch.next.set(letter, next);
    }
    branch = next;
  }
  if (isOver || branch.manner === undefined) branch.manner = manner;
}

/** `a|b c|d` is four phrases. */
function alternatives(phrase: string): string[] {
  return phrase
    .split(" ")
    .reduce<string[]>(
      (heads, word) =>
        word
          .split("|")
          .flatMap((choice) => heads.map((head) => (head === "" ? choice : `${head} ${choice}`))),
      [""],
    );
}

/** A phrase with any of its words short: `bank acct no`. The phrase itself is not among them. */
function shortened(phrase: string): string[] {
  const forms = [phrase];
  for (const [word, short] of SHORTENED)
    for (const form of [...forms])
      if (word.test(form)) forms.push(...short.map((shorter) => form.replace(word, shorter)));
  return forms.slice(1).flatMap((form) => [form, form.replace(JOINTS, " ")]);
}

/** A word with a letter too few, another letter, or two letters in the wrong order; never the first, nor the end. */
function mistyped(word: string): string[] {
  return Array.from(word.slice(1, -1), (_, i) => i + 1).flatMap((at) => [
    word.slice(0, at) + word.slice(at + 1),
    ...Array.from(LETTERS, (letter) => word.slice(0, at) + letter + word.slice(at + 1)),
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
  ]);
}
