/**
 * Scripts of names. Source: Unicode Technical Standard 39, section 5 (mixed-script detection, the highly restrictive
 * profile).
 */

/** Scripts that names are written in; those of one language that are used together come as one entry. */
const SCRIPTS: readonly (readonly [name: string, letters: RegExp])[] = [
  "Latin", "Cyrillic", "Greek", "Armenian", "Hebrew", "Arabic", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala",
  "Thai", "Lao", "Tibetan", "Myanmar", "Georgian", "Hangul", "Ethiopic", "Cherokee", "Khmer", "Mongolian", "Hiragana", "Katakana", "Bopomofo", "Han", "Coptic", "Thaana", "Syriac",
].map((name) => [name, new RegExp(`\\p{Script_Extensions=${name}}`, "u")] as const); // biome-ignore format: one list
const COMMON = /^[\p{Script=Common}\p{Script=Inherited}]$/u;

/** Sets of scripts that are written together: Japanese, Korean and Chinese, each with Latin. */
const TOGETHER: readonly ReadonlySet<string>[] = [
  new Set(["Latin", "Han", "Hiragana", "Katakana"]),
  new Set(["Latin", "Han", "Hangul"]),
  new Set(["Latin", "Han", "Bopomofo"]),
];

/**
 * Whether a label of a host, in Unicode, mixes scripts that no language writes together. Letters of rare scripts
 * stand alone.
 */
export function isMixed(label: string): boolean {
  // Sets of scripts that could have written the whole label so far.
  let possible: ReadonlySet<string> | undefined;
  const seen = new Set<string>();
  for (const character of label) {
    if (COMMON.test(character)) continue;
    const scripts = SCRIPTS.filter(([, letters]) => letters.test(character)).map(([name]) => name);
    const own: ReadonlySet<string> = new Set(scripts.length === 0 ? ["other"] : scripts);
    possible = possible === undefined ? own : new Set(Array.from(possible).filter((name) => own.has(name)));
    for (const name of scripts.length === 0 ? ["other"] : scripts) seen.add(name);
  }
  if (possible === undefined || possible.size > 0) return false;
  return !TOGETHER.some((set) => Array.from(seen).every((name) => set.has(name)));
}
