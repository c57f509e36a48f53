/** Numbers in JSON text compared by their exact value, without rounding to doubles and without big integers. */

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const MAX_EXPONENT_DIGITS = 15;

/** Whether two JSON number texts mean the same number: `1`, `1.0` and `10e-1` do. Texts that are no number equal only themselves. */
export function sameNumber(a: string, b: string): boolean {
  return normal(a) === normal(b);
}

/** Sign, digits without zeros at either end, power of ten. Linear in the text, whatever the exponent says. */
function normal(text: string): string {
  const match = NUMBER.exec(text);
  if (match === null) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let first = 0;
  while (first < digits.length && digits[first] === "0") first++;
  if (first === digits.length) return "0";
  let last = digits.length;
  while (digits[last - 1] === "0") last--;
  // An exponent past any use stays as it is spelled, so that it can only equal itself.
  if (exponent.length > MAX_EXPONENT_DIGITS) return text;
  return `${sign}${digits.slice(first, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
}
