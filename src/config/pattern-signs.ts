/** Signs of other languages of patterns: regular expressions, and globs of shells. Here they stand for themselves. */

/** What is odd in any text that people select by. */
const EVERYWHERE: readonly (readonly [sign: string, found: RegExp])[] = [
  ["^ at its start", /^\^/],
  ["$ at its end", /\$$/],
  // Behind a word it may be a pattern: `https://login.*`, `notes.*`.
  [".*", /(^|[/:@])\.\*/],
  [".+", /\.\+/],
  ["a backslash", /\\/],
];

/** What no name of a method, tool or prompt has, though a URI, a group or a subject (`auth0|42`) may. */
const IN_NAMES: readonly (readonly [sign: string, found: RegExp])[] = [
  // `*.*` is how globs say "with a dot in it"; `admin.*` in a deny lets admin_delete through.
  [".*", /(?<!\*)\.\*/],
  ["|", /\|/],
  ["parentheses", /[()]/],
  ["brackets", /\[.*\]/],
  ["braces", /\{.*\}/],
  ["! at its start", /^!/],
];

/**
 * The first sign in `pattern` that looks like another language, in words.
 * @param free the text is not a name of MCP, so more characters are usual in it
 */
export function foreignSign(pattern: string, free: boolean): string | undefined {
  const signs = free ? EVERYWHERE : [...EVERYWHERE, ...IN_NAMES];
  return signs.find(([, found]) => found.test(pattern))?.[0];
}
