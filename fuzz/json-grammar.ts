/** JSON texts, most of them sound: values of every kind, in every spelling, with what readers disagree about. */
import type { Random } from "./random.ts";

const KEYS = [
  "a",
  "b",
  "",
  "id",
  "ID",
  "name",
  "__proto__",
  "constructor",
  "0",
  "1",
  "10",
  "\u00e9",
  "\ud83d\ude00",
  "\u2028",
  "k\n",
  '"',
  "\\",
];
const TEXTS = [
  "",
  "x",
  "\ufffd",
  "\ud800",
  "\udc00",
  "\ud800\udc00",
  "\udfff",
  "\udbff",
  "\ud7ff\ue000",
  "\udc00\ud800",
  "/",
  "\u0000",
  "\u007f",
  "\ufeff",
  "\ud83d\ude00",
  "a".repeat(40),
];
const NUMBERS = [
  "0",
  "-0",
  "1",
  "-1",
  "10",
  "1.0",
  "1.10",
  "1e0",
  "1E+2",
  "1e-2",
  "1e400",
  "-1e400",
  "9007199254740993",
  "0.1",
  "123456789012345678901234567890",
  "5e-324",
];
const SPACES = [" ", "\t", "\n", "\r", "\r\n", "  "];
const SHORT = new Map([
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["/", "\\/"],
]);

/** Words of JSON, for mutations. */
export const JSON_WORDS = [
  ...[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "[[",
    "]]",
    '{"a":',
    "[{",
    "}]",
    '""',
    '"a":1',
    ',"a":2',
    "null",
    "true",
    "false",
  ],
  ...[
    "\\u0061",
    "\\ud800",
    "\\udc00",
    "\\ud83d\\ude00",
    "\\u",
    "\\/",
    "\\n",
    "-",
    "0",
    "1",
    ".",
    "e",
    "E+",
    "1e400",
    "\u00e9",
    "\ud83d\ude00",
  ],
  ...["\ufeff", "\u2028", "\u0000", " ", "\t", "\r\n", "//", "/**/", "NaN", "'", "0x1", "__proto__"],
];

/** The text of one value, nested up to `depth` levels. Keys may stand twice and surrogates alone, now and then. */
export function jsonText(random: Random, depth = 5): string {
  const text = space(random) + valueText(random, depth) + space(random);
  return random.oneIn(8) ? nest(random, text, random.below(16)) : text;
}

function nest(random: Random, text: string, levels: number): string {
  let nested = text;
  for (let left = levels; left > 0; left--) {
    nested = random.oneIn(2) ? `[${nested}]` : `{${stringText(random, random.pick(KEYS))}:${nested}}`;
  }
  return nested;
}

function valueText(random: Random, depth: number): string {
  switch (depth > 0 ? random.below(8) : random.below(5)) {
    case 0:
      return random.pick(["true", "false", "null"]);
    case 1:
    case 2:
      return random.pick(NUMBERS);
    case 3:
    case 4:
      return stringText(random, random.pick(TEXTS));
    case 5:
      return `[${listText(random, () => valueText(random, depth - 1))}]`;
    default:
      return objectText(random, depth);
  }
}

function objectText(random: Random, depth: number): string {
  const keys = random.shuffle(KEYS).slice(0, random.oneIn(20) ? KEYS.length : random.below(5));
  if (random.oneIn(12) && keys.length > 0) keys.push(random.pick(keys));
  if (random.oneIn(12)) keys.push(...Array.from({ length: 20 }, (_, i) => `k${i}`));
  const members = keys.map((key) => {
    const value = valueText(random, random.oneIn(3) ? depth - 1 : 0);
    return `${space(random)}${stringText(random, key)}${space(random)}:${space(random)}${value}${space(random)}`;
  });
  return `{${members.length === 0 ? space(random) : members.join(",")}}`;
}

function listText(random: Random, item: () => string): string {
  const items = Array.from({ length: random.below(4) }, () => space(random) + item() + space(random));
  return items.length === 0 ? space(random) : items.join(",");
}

/** One of many spellings of a string. */
export function stringText(random: Random, text: string): string {
  let spelt = "";
  for (const character of text) {
    const short = SHORT.get(character);
    const mayStand = character >= " " && character !== '"' && character !== "\\" && character.isWellFormed();
    if (mayStand && !random.oneIn(4)) spelt += character;
    else if (short !== undefined && random.oneIn(2)) spelt += short;
    else for (let i = 0; i < character.length; i++) spelt += escapeUnit(random, character.charCodeAt(i));
  }
  return `"${spelt}"`;
}

function escapeUnit(random: Random, unit: number): string {
  const digits = unit.toString(16).padStart(4, "0");
  return `\\u${random.oneIn(2) ? digits.toUpperCase() : digits}`;
}

/** White space, seldom. */
export function space(random: Random): string {
  return random.oneIn(6) ? random.pick(SPACES) : "";
}
