/**
 * The globs of the policy language: `*` is any run of characters (also none, also slashes), `?` is one character,
 * everything else stands for itself. Case-sensitive, always the whole text, no escapes.
 * Not built on regular expressions: a pattern with several stars must not cost exponential time on a hostile name.
 */

/**
 * A compiled pattern: whole text in, match or not out. Never throws. Time is at most pattern length × text length, both of
 * which are bounded (config/fields.ts, mcp/names.ts): a few milliseconds for the worst pair, microseconds for usual ones.
 */
export type Glob = (text: string) => boolean;

const QUESTION = "?".charCodeAt(0);
const NONE = new Uint32Array();

/** Whether a pattern can fit more names than its own. */
export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

/** Whether a pattern fits every text. */
export const isEverything = (pattern: string): boolean => /^\*+$/.test(pattern);

/** Compiles one operator-written pattern. Total: every string is a valid pattern. */
export function compileGlob(pattern: string): Glob {
  if (!hasWildcard(pattern)) return (text) => text === pattern;
  if (isEverything(pattern)) return () => true;
  const runs = pattern.split("*");
  return pattern.includes("?") ? compileLooseRuns(runs) : compileRuns(runs);
}

/** Compiles a list into one test that is true when any pattern matches; an empty list matches nothing. */
export function compileGlobs(patterns: readonly string[]): Glob {
  const globs = patterns.map(compileGlob);
  return (text) => globs.some((glob) => glob(text));
}

/**
 * Compiles a list of exceptions, each with its patterns, into a look for the first that fits a name; undefined for none, and where
 * there is no name. A hidden name is treated like one that nobody has, which patterns fit and plain names do not.
 */
export function firstFitting<Value>(
  exceptions: readonly (readonly [patterns: readonly string[], value: Value])[],
): (name: string | undefined, hidden: boolean) => Value | undefined {
  const entries = exceptions.map(([patterns, value]) => ({
    fits: compileGlobs(patterns),
    fitsAnyName: compileGlobs(patterns.filter(hasWildcard)),
    value,
  }));
  return (name, hidden) =>
    name === undefined
      ? undefined
      : entries.find(({ fits, fitsAnyName }) => (hidden ? fitsAnyName : fits)(name))?.value;
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

/**
 * The same with `?` in some of them, which takes an emoji as the one character that it is: compared by code points.
 */
function compileLooseRuns(runs: readonly string[]): Glob {
  const [first = NONE, ...rest] = runs.map(codePoints);
  const last = rest.pop();
  const between = rest.filter((run) => run.length > 0).map(compileFind);
  return (text) => {
    const points = codePoints(text);
    if (last === undefined) return points.length === first.length && fitsAt(points, 0, first);
    const end = points.length - last.length;
    if (first.length > end || !fitsAt(points, 0, first) || !fitsAt(points, end, last)) return false;
    let from = first.length;
    for (const find of between) {
      from = find(points, from, end);
      if (from === -1) return false;
    }
    return from <= end;
  };
}

/** Where the first place ends at which a run fits between two offsets; -1 where there is none. */
type Find = (points: Uint32Array, from: number, end: number) => number;

/**
 * Prepares the search for one run: a bit for each of its beginnings says whether it ends at the character just read
 * (Baeza-Yates and Gonnet, 1992), 32 of them in one step, so that no text is slow.
 */
function compileFind(run: Uint32Array): Find {
  const words = Math.ceil(run.length / 32);
  const loose = new Uint32Array(words);
  const masks = new Map(Array.from(run, (point) => [point, new Uint32Array(words)]));
  for (const [i, want] of run.entries()) {
    const takers = want === QUESTION ? [loose, ...masks.values()] : [masks.get(want) ?? loose];
    for (const mask of takers) mask[i >>> 5] = (mask[i >>> 5] ?? 0) | (1 << (i & 31));
  }
  const whole = 1 << ((run.length - 1) & 31);
  return (points, from, end) => {
    const state = new Uint32Array(words);
    for (let at = from; at < end; at++) {
      const mask = masks.get(points[at] ?? 0) ?? loose;
      let carry = 1;
      for (let word = 0; word < words; word++) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (mask[word] ?? 0);
        carry = before >>> 31;
      }
      if (((state[words - 1] ?? 0) & whole) !== 0) return at + 1;
    }
    return -1;
  };
}

function codePoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; length++) {
    const point = text.codePointAt(i) ?? 0;
    points[length] = point;
    i += point > 0xffff ? 2 : 1;
  }
  return points.subarray(0, length);
}

function fitsAt(points: Uint32Array, from: number, run: Uint32Array): boolean {
  for (let i = 0; i < run.length; i++) {
    const want = run[i];
    if (want !== QUESTION && want !== points[from + i]) return false;
  }
  return true;
}
