/** Numbers in JSON text by their exact value, without rounding to doubles and without big integers. */

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
/** Whole numbers as ids and tokens are written: without a point, an exponent or zeros in front. */
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const MAX_EXPONENT_DIGITS = 15;

/** A number of a parsed JSON text, as it was written. */
export class JsonNumber {
  readonly text: string;

  /** @param text a JSON number */
  constructor(text: string) {
    this.text = text;
  }
}

/** `JSON.parse` that loses no digit: every number is a `JsonNumber`. Throws SyntaxError. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? new JsonNumber(context?.source ?? String(value)) : value,
  );
}

/** The JSON text of a number, whether parsed or kept; undefined for every other value, and for what JSON has no text for. */
export function numberText(value: unknown): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : undefined;
}

/** Whether a JSON number text means a whole number: `1`, `1.0` and `10e-1` do. False for a text that is no number. */
export function isWhole(text: string): boolean {
  const number = parts(text);
  return number !== undefined && (number.sign === 0 || number.magnitude >= number.digits.length);
}

/** Whether a JSON number text is written as a whole number: `1`, and neither `1.0` nor `10e-1`. */
export const isPlainInteger = (text: string): boolean => INTEGER.test(text);

/** Whether two JSON number texts mean the same number: `1`, `1.0` and `10e-1` do. Texts that are no number equal only themselves. */
export function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  // Where an exponent is past any use, its last digits are not known, so that it can only equal itself.
  const magnitudes = [parts(a)?.magnitude, parts(b)?.magnitude];
  return magnitudes.every(Number.isFinite) && compareNumbers(a, b) === 0;
}

/**
 * The order of two JSON number texts by their exact value: below 0, 0 or above 0 as in a sort; NaN where one is no number.
 * Linear in the texts, whatever the exponents say: those past any use count as infinite.
 */
export function compareNumbers(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  if (left === undefined || right === undefined) return Number.NaN;
  if (left.sign !== right.sign) return left.sign - right.sign;
  const byDigits = left.digits < right.digits ? -1 : left.digits > right.digits ? 1 : 0;
  return (left.magnitude - right.magnitude || byDigits) * left.sign;
}

/** A number taken apart: 0.`digits` times ten to the `magnitude`, without zeros at either end, so that digits order as texts. */
interface Parts {
  /** 0 for zero, which has no digits. */
  readonly sign: -1 | 0 | 1;
  readonly magnitude: number;
  readonly digits: string;
}

function parts(text: string): Parts | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let first = 0;
  while (first < digits.length && digits[first] === "0") first++;
  if (first === digits.length) return { sign: 0, magnitude: 0, digits: "" };
  let last = digits.length;
  while (digits[last - 1] === "0") last--;
  const shift = exponent.length <= MAX_EXPONENT_DIGITS ? Number(exponent) : hugeExponent(exponent);
  return {
    sign: sign === "-" ? -1 : 1,
    magnitude: shift + whole.length - first,
    digits: digits.slice(first, last),
  };
}

/** Leading zeros make no exponent large. */
function hugeExponent(text: string): number {
  const digits = text.replace(/^[+-]?0*/, "");
  const sign = text.startsWith("-") ? -1 : 1;
  return sign * (digits.length < MAX_EXPONENT_DIGITS ? Number(digits || "0") : Number.POSITIVE_INFINITY);
}
