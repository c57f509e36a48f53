/** A state in forms that the server has not written: other texts, and other spellings of the same bytes. Pure. */

/** One form, its name the beginning of a sentence. */
export interface Form {
  readonly name: string;
  readonly state: unknown;
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64 = `${BASE64URL.slice(0, 62)}+/`;
/** Parts of a state, joined by dots, that are looked at one by one. */
const MAX_PARTS = 6;
/** Shorter parts are marks of a version rather than bytes. */
const LEAST_BYTES = 8;

/** Each once, and none that a server itself has written. */
function distinct(forms: readonly Form[], written: readonly string[]): Form[] {
  const seen = new Set<unknown>(written);
  return forms.filter(({ state }) => {
    if (seen.has(state)) return false;
    seen.add(state);
    return true;
  });
}

/** A character of the same kind in place of the one at an offset, so that only its value is wrong. */
function changedAt(state: string, at: number): string {
  const old = state[at] ?? "";
  const kinds = ["0123456789", "abcdef", "ghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const kind = kinds.find((one) => one.includes(old)) ?? "A";
  // Far from the old one, so that it is not in unused bits alone.
  const other = kind[(kind.indexOf(old) + Math.ceil(kind.length / 2)) % kind.length] ?? "A";
  return state.slice(0, at) + other + state.slice(at + 1);
}

const isBytes = (part: string): boolean =>
  part.length >= LEAST_BYTES && /^(?:[\w-]+|[A-Za-z0-9+/]+)={0,2}$/.test(part);
const isHex = (part: string): boolean => /^[0-9a-f-]+$|^[0-9A-F-]+$/.test(part) && /[a-f]/i.test(part);

/** A text without the padding of base64. Linear in it: it is the server's. */
export function unpadded(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "=") end -= 1;
  return text.slice(0, end);
}

/** The offset of the last character that is no padding and has no unused bits. */
const lastAt = (state: string): number => Math.max(0, unpadded(state).length - 2);

/** Texts and values that are not `state`, and near it. */
export function tamperings(state: string): Form[] {
  const parts = state.split(".").slice(0, MAX_PARTS);
  const middles = parts.map((part, i) => {
    const start = parts.slice(0, i).reduce((sum, one) => sum + one.length + 1, 0);
    return {
      name: `a state with a character of part ${i + 1} changed`,
      state: changedAt(state, start + Math.floor(part.length / 2)),
    };
  });
  const forms: Form[] = [
    { name: "a state with its first character changed", state: changedAt(state, 0) },
    {
      name: "a state with a character in the middle changed",
      state: changedAt(state, Math.floor(state.length / 2)),
    },
    { name: "a state with a character at the end changed", state: changedAt(state, lastAt(state)) },
    ...(parts.length > 1 ? middles : []),
    { name: "a state cut by four characters", state: state.slice(0, -4) },
    { name: "half a state", state: state.slice(0, Math.ceil(state.length / 2)) },
    { name: "a state without its last part", state: state.slice(0, Math.max(0, state.lastIndexOf("."))) },
    { name: "a state lengthened by a part", state: `${state}.AAAA` },
    { name: "a state lengthened by four characters", state: `${state}AAAA` },
    { name: "an empty state", state: "" },
  ];
  return distinct(forms, [state]);
}

/** Values in which a state may be found, and which are no text. */
export function otherTypes(state: string): Form[] {
  return [
    { name: "a number for a state", state: 7 },
    { name: "`true` for a state", state: true },
    { name: "a state in a list", state: [state] },
    { name: "a state in an object", state: { requestState: state } },
  ];
}

/** Pieces of two states joined into one. */
export function swapped(one: string, other: string): Form[] {
  const [a, b] = [one.split("."), other.split(".")];
  const half = Math.floor(Math.min(one.length, other.length) / 2);
  const ofParts =
    a.length === b.length && a.length > 1
      ? a.slice(0, MAX_PARTS).map((_, i) => ({
          name: `a state with part ${i + 1} of another state`,
          state: a.with(i, b[i] ?? "").join("."),
        }))
      : [];
  const forms = [
    ...ofParts,
    { name: "half of a state and half of another", state: one.slice(0, half) + other.slice(half) },
  ];
  return distinct(forms, [one, other]);
}

/** What nobody has made. */
export const INVENTED_STATES: readonly Form[] = [
  { name: "an invented text", state: "sealgate-review" },
  { name: "an invented object in JSON", state: '{"confirmed":true,"step":2}' },
  {
    name: "an invented object in base64",
    state: Buffer.from('{"confirmed":true,"step":2}').toString("base64url"),
  },
  {
    name: "an invented token without a signature",
    state: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"exp":9999999999}').toString("base64url")}.`,
  },
];

/** Other spellings of what a lenient reader takes for the same bytes. */
export function spellings(state: string): Form[] {
  const parts = state.split(".");
  const at = parts.findLastIndex(isBytes);
  const part = parts[at] ?? "";
  const withPart = (changed: string): string => parts.with(at, changed).join(".");
  const bare = unpadded(part);
  const ofBytes: Form[] =
    at === -1
      ? []
      : [
          ...otherBits(bare).map((changed) => ({
            name: "a state with unused bits of its last character set",
            state: withPart(changed + part.slice(bare.length)),
          })),
          part === bare
            ? {
                name: "a state with padding added",
                state: withPart(bare + "=".repeat((4 - (bare.length % 4)) % 4 || 1)),
              }
            : { name: "a state with its padding taken away", state: withPart(bare) },
          { name: "a state in the other alphabet", state: withPart(otherAlphabet(part)) },
          {
            name: "a state with a line break inside",
            state: withPart(`${bare.slice(0, 4)}\n${part.slice(4)}`),
          },
        ];
  const [first = ""] = parts;
  const cases: Form[] = [
    ...(parts.length > 1 && first.length < LEAST_BYTES ? [parts.with(0, otherCase(first)).join(".")] : []),
    ...(at !== -1 && isHex(part) ? [withPart(otherCase(part))] : []),
  ].map((changed) => ({ name: "a state in other case", state: changed }));
  const forms = [
    ...ofBytes,
    ...cases,
    { name: "a state with a space before it", state: ` ${state}` },
    { name: "a state with a space behind it", state: `${state} ` },
    { name: "a state with a line break behind it", state: `${state}\n` },
  ];
  return distinct(forms, [state]);
}

const otherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();

const otherAlphabet = (text: string): string =>
  /[-_]/.test(text)
    ? text.replaceAll("-", "+").replaceAll("_", "/")
    : text.replaceAll("+", "-").replaceAll("/", "_");

/** The same base64 with the lowest unused bit of the last character turned; none where all bits are used. */
function otherBits(bare: string): string[] {
  if (bare.length % 4 < 2) return [];
  const alphabet = /[+/]/.test(bare) ? BASE64 : BASE64URL;
  const value = alphabet.indexOf(bare.at(-1) ?? "");
  return value === -1 ? [] : [bare.slice(0, -1) + (alphabet[value ^ 1] ?? "")];
}
