/**
 * The globs of the policy language: `*` is any run of characters (also none, also slashes), `?` is one character,
 * everything else stands for itself. Case-sensitive, always the whole text, no escapes.
 * Not built on regular expressions: a pattern with several stars must not cost exponential time on a hostile name.
 */

/** A compiled pattern: whole text in, match or not out. Never throws; time is at most pattern length × text length. */
export type Glob = (text: string) => boolean;

const STAR = "*".charCodeAt(0);
const QUESTION = "?".charCodeAt(0);

/** Compiles one operator-written pattern. Total: every string is a valid pattern. */
export function compileGlob(pattern: string): Glob {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  return (text) => matches(pattern, text);
}

/** Compiles a list into one test that is true when any pattern matches; an empty list matches nothing. */
export function compileGlobs(patterns: readonly string[]): Glob {
  const globs = patterns.map(compileGlob);
  return (text) => globs.some((glob) => glob(text));
}

/** Walks both strings once and goes back only to the last star: an earlier star never has to be tried again. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let afterStar = -1;
  let resume = 0;
  while (t < text.length) {
    const want = p < pattern.length ? pattern.charCodeAt(p) : -1;
    if (want === STAR) {
      p += 1;
      afterStar = p;
      resume = t;
    } else if (want === QUESTION) {
      p += 1;
      t += width(text, t);
    } else if (want !== -1 && want === text.charCodeAt(t)) {
      p += 1;
      t += 1;
    } else if (afterStar !== -1) {
      resume += width(text, resume);
      p = afterStar;
      t = resume;
    } else {
      return false;
    }
  }
  while (p < pattern.length && pattern.charCodeAt(p) === STAR) p += 1;
  return p === pattern.length;
}

/** UTF-16 units of the character at `index`: `?` takes an emoji as the one character that it is. */
function width(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}
