/**
 * The globs of the policy language: `*` is any run of characters (also none, also slashes), `?` is one character,
 * everything else stands for itself. Case-sensitive, always the whole text, no escapes.
 * Not built on regular expressions: a pattern with several stars must not cost exponential time on a hostile name.
 */

/**
 * A compiled pattern: whole text in, match or not out. Never throws. Time is at most pattern length × text length, both of
 * which are bounded (config/fields.ts, mcp/names.ts): some milliseconds for the worst pair, microseconds for usual ones.
 */
export type Glob = (text: string) => boolean;

const STAR = "*".charCodeAt(0);
const QUESTION = "?".charCodeAt(0);

/** Compiles one operator-written pattern. Total: every string is a valid pattern. */
export function compileGlob(pattern: string): Glob {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  return pattern.includes("?") ? (text) => matches(pattern, text) : compileRuns(pattern.split("*"));
}

/** Compiles a list into one test that is true when any pattern matches; an empty list matches nothing. */
export function compileGlobs(patterns: readonly string[]): Glob {
  const globs = patterns.map(compileGlob);
  return (text) => globs.some((glob) => glob(text));
}

/** A pattern of stars only: the texts between them are looked for by the engine's own search, each behind the one before. */
function compileRuns(runs: readonly string[]): Glob {
  const first = runs[0] ?? "";
  const last = runs.at(-1) ?? "";
  const between = runs.slice(1, -1).filter((run) => run !== "");
  const least = first.length + last.length;
  return (text) => {
    if (text.length < least || !text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let from = first.length;
    for (const run of between) {
      const found = text.indexOf(run, from);
      if (found === -1) return false;
      from = found + run.length;
    }
    return from <= end;
  };
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
