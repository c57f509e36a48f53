/**
 * Numbers out of a JSON text that keep the text they were written in, so that nothing is rounded on the way to a
 * comparison.
 */

/** A number as it stood in a JSON text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value with every number as a `JsonNumber`. Throws SyntaxError. */
export function parseExact(text: string): unknown {
  // The third argument has the text of a primitive (ECMAScript, JSON.parse source text access).
  const keep = (_key: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === "number" && source !== undefined ? new JsonNumber(source) : value;
  return JSON.parse(text, keep);
}

/** The text of a number of either kind; undefined for all else. */
export function numberText(value: unknown): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === "number" ? String(value) : undefined;
}

const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** Whether a JSON number text means a whole number: `1.0` and `10e-1` do. Linear in the text. */
export function isWhole(text: string): boolean {
  const match = NUMBER.exec(text);
  if (match === null) return false;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let last = digits.length;
  while (last > 0 && digits[last - 1] === "0") last--;
  return last === 0 || Number(exponent) >= last - whole.length;
}
