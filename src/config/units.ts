/**
 * Durations, sizes and times as operators write them. A bare number is refused everywhere: nobody can see whether
 * `600` means seconds or milliseconds, or kilobytes or bytes.
 */

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };

/** The text of a duration: a whole number and one unit, no blanks. As an ECMA-262 pattern for the JSON Schema. */
export const DURATION_PATTERN = "^(0|[1-9][0-9]{0,11})(ms|s|m|h)$";
/** The text of a size: a whole number and one binary unit. */
export const SIZE_PATTERN = "^(0|[1-9][0-9]{0,11})(B|KiB|MiB|GiB)$";

/** The text of a time: RFC 3339 section 5.6, in whole seconds. */
export const INSTANT_PATTERN =
  "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})$";

const INSTANT = new RegExp(INSTANT_PATTERN);
const DURATION = new RegExp(DURATION_PATTERN);
const SIZE = new RegExp(SIZE_PATTERN);

function measure(text: string, pattern: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  const [, digits, unit] = pattern.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const amount = Number(digits) * (units[unit] ?? Number.NaN);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

function print(amount: number, units: Readonly<Record<string, number>>): string {
  if (amount === 0) return `0${"B" in units ? "B" : "s"}`;
  const fitting = Object.entries(units).filter(([, factor]) => amount % factor === 0 && amount >= factor);
  const [unit, factor] = fitting.at(-1) ?? Object.entries(units)[0] ?? ["", 1];
  return `${amount / factor}${unit}`;
}

/** `500ms`, `10s`, `5m`, `1h` → milliseconds; `undefined` for any other text. Never throws. */
export function parseDuration(text: string): number | undefined {
  return measure(text, DURATION, DURATION_MS);
}

/** `512B`, `16KiB`, `4MiB`, `1GiB` → bytes; `undefined` for any other text. Never throws. */
export function parseSize(text: string): number | undefined {
  return measure(text, SIZE, SIZE_BYTES);
}

/** Milliseconds → the shortest text that `parseDuration` reads back to the same number. */
export function printDuration(ms: number): string {
  return print(ms, DURATION_MS);
}

/** Bytes → the shortest text that `parseSize` reads back to the same number. */
export function printSize(bytes: number): string {
  return print(bytes, SIZE_BYTES);
}

/** `2026-12-01T09:00:00Z` → unix seconds; `undefined` for any other text, and for a day or time that does not exist. Never throws. */
export function parseInstant(text: string): number | undefined {
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  const local = text.slice(0, 19);
  // The same clock time read back, since `Date` takes the 30th of February for the 2nd of March.
  const day = Date.parse(`${local}Z`);
  if (Number.isNaN(ms) || Number.isNaN(day) || new Date(day).toISOString().slice(0, 19) !== local)
    return undefined;
  return ms / 1000;
}
