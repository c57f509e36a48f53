/**
 * The four string formats that a form may ask for. All checks are linear in the text; no expression comes from a server.
 * Source: MCP 2026-07-28, elicitation, string schemas; JSON Schema validation, section 7.3.
 */

/** Checks by format name. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["email", isEmail],
  ["uri", isUri],
  ["date", isDate],
  ["date-time", isDateTime],
]);

const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:z|([+-])([0-9]{2}):([0-9]{2}))$/i;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
// Every printable ASCII character but space " < > \ ^ ` { | }.
const URI = /^[a-z][a-z0-9+.-]*:[!#-;=?-[\]_a-z~]*$/i;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;
const DOMAIN_LABEL = /^[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u;
// Space, control and format characters have no place in an address that people read.
const NOT_IN_EMAIL = /[\s\p{Cc}\p{Cf}]/u;
const LOCAL_PART = /^[^@",:;<>()[\]\\]+$/;
const MAX_EMAIL = 320;
const MAX_LOCAL = 64;

/** RFC 5321 mailbox with a dot-string before the `@` and a domain name behind it, letters of any script (RFC 6531). */
function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL || NOT_IN_EMAIL.test(text)) return false;
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL || !LOCAL_PART.test(local)) return false;
  if (local.split(".").includes("")) return false;
  return text
    .slice(at + 1)
    .split(".")
    .every((label) => label.length <= 63 && DOMAIN_LABEL.test(label));
}

/** RFC 3986 URI with a scheme. */
function isUri(text: string): boolean {
  return URI.test(text) && !BAD_ESCAPE.test(text);
}

/** RFC 3339 full-date that exists in the calendar. */
function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** RFC 3339 date-time; a leap second only at the end of a UTC day. */
function isDateTime(text: string): boolean {
  if (!isDate(text.slice(0, 10)) || !/^t$/i.test(text.charAt(10))) return false;
  const match = TIME.exec(text.slice(11));
  if (match === null) return false;
  const [, hour = "", minute = "", second = "", sign, offsetHour = "00", offsetMinute = "00"] = match;
  if (hour > "23" || minute > "59" || second > "60" || offsetHour > "23" || offsetMinute > "59") return false;
  if (second !== "60") return true;
  const offset = (sign === "-" ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  return (minutes + 2 * 1440) % 1440 === 1439;
}
