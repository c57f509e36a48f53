/**
 * Names that a server chose, written into YAML: always in double quotes, on one line, and with everything escaped that does not
 * show as itself. What looks right in an editor is then what the gateway compares with. YAML 1.2 section 5.7.
 */

/** Letters without marks on them, digits, punctuation, signs, and the plain blank; all else is escaped. */
const SHOWN = /^[\p{L}\p{N}\p{P}\p{S} ]$/u;
/** Letters that show as nothing (Hangul fillers, braille blank), though Unicode counts them as letters or signs. */
const BLANK = /^[\u115f\u1160\u3164\uffa0\u2800]$/u;

/**
 * @param text untrusted, without halves of surrogate pairs
 * @returns a YAML scalar that stands on one line, in a setting as well as in a comment
 */
export function quote(text: string): string {
  let out = "";
  for (const character of text) {
    if (character === '"' || character === "\\") out += `\\${character}`;
    else if (SHOWN.test(character) && !BLANK.test(character)) out += character;
    else out += escaped(character.codePointAt(0) ?? 0);
  }
  return `"${out}"`;
}

function escaped(point: number): string {
  const digits = point.toString(16);
  return point > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}
