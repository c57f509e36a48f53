/**
 * Texts of servers as reports show them: what nobody can see, what turns the direction of a text and what a terminal obeys is
 * written out by its number (`{U+202E}`), and what is too long is cut and says so. Pure; linear in what is shown. Sources: Unicode
 * Standard Annexes 9 (direction) and 44 (categories); ECMA-48 (control functions).
 */

/** Characters of a name, of a sentence, and of one message that a report shows; the JSON report has all that the record has. */
export const MAX_NAME = 120;
export const MAX_SENTENCE = 2_000;
export const MAX_MESSAGE = 12_000;
/** Deeper than this, indents would take more room than what they indent. */
const MAX_INDENTED_DEPTH = 24;

/** Drawn as nothing, obeyed, broken, or one mark too many on a letter; and what an escape itself begins with. */
const UNSHOWN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffc]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}|\{(?=U\+)/gu;

const numbered = (character: string): string =>
  `{U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}}`;

/** A text on one line, every character of it visible. @param most characters (UTF-16 units) of it that are shown */
export function shown(text: string, most: number = MAX_SENTENCE): string {
  const [head, rest] = cut(text, most);
  return `${head.replace(UNSHOWN, numbered)}${rest}`;
}

/** As `shown`, for places where there is no room to say how much is missing. */
export function briefly(text: string, most: number): string {
  const [head, rest] = cut(text, most);
  return `${head.replace(UNSHOWN, numbered)}${rest === "" ? "" : "…"}`;
}

/** A JSON value over several lines, each as of `shown`. @param value anything that `JSON.parse` can give */
export function shownJson(value: unknown, most: number = MAX_MESSAGE): string {
  const indent = isDeep(value, MAX_INDENTED_DEPTH) ? undefined : 2;
  let text: string;
  try {
    text = JSON.stringify(value, undefined, indent) ?? "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "(nested too deep to be shown)";
  }
  const [head, rest] = cut(text, most);
  const lines = head.split("\n").map((line) => line.replace(UNSHOWN, numbered));
  return `${lines.join("\n")}${rest}`;
}

function cut(text: string, most: number): readonly [string, string] {
  if (text.length <= most) return [text, ""];
  // Not through the middle of a character.
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? "") ? most - 1 : most;
  return [text.slice(0, end), `… (${text.length} characters in all)`];
}

function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1));
}

/** For the text and the quoted attributes of HTML and XML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Letters from here on are mostly drawn twice as wide as others, where all are drawn alike. */
const FIRST_WIDE = 0x1100;

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2;
  return width;
}

/** Lines of at most so many columns, broken at blanks, else where they end. @param text of one line */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  const end = (): void => {
    lines.push(line);
    line = "";
    width = 0;
  };
  for (const word of text.split(" ")) {
    const wide = widthOf(word);
    if (line !== "" && width + 1 + wide > columns) end();
    const blank = line === "" ? "" : " ";
    if (width + blank.length + wide <= columns) {
      line += blank + word;
      width += blank.length + wide;
      continue;
    }
    for (const character of word) {
      const one = widthOf(character);
      if (width + one > columns) end();
      line += character;
      width += one;
    }
  }
  end();
  return lines;
}
