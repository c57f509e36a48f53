/** Arbitrary JSON values as models, and many spellings of each: what the property tests of `json/` feed on. */
import fc from "fast-check";

export type Model =
  | { readonly kind: "literal"; readonly text: "true" | "false" | "null" }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly Model[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Model])[] };

const keyText = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "é",
    "ключ",
    "",
    "__proto__",
    "constructor",
    "toString",
    "0",
    "😀",
    '"',
    "\\",
    "\n",
    "\u2028",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);

const stringText = fc.oneof(
  keyText,
  // Any code units at all, so unpaired surrogates too.
  fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd7ff, max: 0xe000 })), {
      maxLength: 6,
    })
    .map((units) => String.fromCharCode(...units)),
);

const numberText = fc.oneof(
  fc.constantFrom("0", "-0", "1", "1.0", "1e0", "1E+0", "10e-1", "1e400", "1e401", "9007199254740993", "0.1"),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
);

/** Any JSON value; strings may hold unpaired surrogates, keys never do. */
export const model: fc.Arbitrary<Model> = fc.letrec<{ value: Model }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("true", "false", "null").map((text) => ({ kind: "literal" as const, text })),
    numberText.map((text) => ({ kind: "number" as const, text })),
    stringText.map((value) => ({ kind: "string" as const, value })),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => ({ kind: "array" as const, items })),
    members(tie("value")).map((list) => ({ kind: "object" as const, members: list })),
  ),
})).value as fc.Arbitrary<Model>;

/** Members with keys that differ; now and then more than the scanner compares pair by pair. */
export function members<T>(value: fc.Arbitrary<T>): fc.Arbitrary<[string, T][]> {
  const member = fc.tuple(
    keyText.filter((key) => key.isWellFormed()),
    value,
  );
  return fc.uniqueArray(member, { selector: ([key]) => key, maxLength: 6 });
}

/** A source of small choices out of one seed, so that a failing case shrinks and repeats. */
export function chooser(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 16) % below;
  };
}

/** One of many texts of a value: whitespace, escapes and the order of members are chosen. */
export function spell(value: Model, choose: (below: number) => number): string {
  const space = () => (choose(3) === 0 ? (["", " ", "\t", "\r\n", " \n "][choose(5)] ?? "") : "");
  const inner = (): string => {
    switch (value.kind) {
      case "literal":
      case "number":
        return value.text;
      case "string":
        return spellString(value.value, choose);
      case "array":
        return `[${space()}${value.items.map((item) => spell(item, choose)).join(",")}]`;
      case "object": {
        const list = value.members.map(([key, item]) => {
          return `${space()}${spellString(key, choose)}${space()}:${spell(item, choose)}`;
        });
        for (let i = list.length - 1; i > 0; i--) {
          const j = choose(i + 1);
          [list[i], list[j]] = [list[j] as string, list[i] as string];
        }
        return `{${space()}${list.join(",")}}`;
      }
    }
  };
  return `${space()}${inner()}${space()}`;
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function spellString(text: string, choose: (below: number) => number): string {
  let spelled = "";
  for (const char of text) {
    const short = Object.hasOwn(SHORT, char) ? SHORT[char] : undefined;
    const mustEscape = char < " " || char === '"' || char === "\\" || !char.isWellFormed();
    if (!mustEscape && choose(4) !== 0) spelled += char;
    else if (short !== undefined && choose(2) === 0) spelled += short;
    else for (let i = 0; i < char.length; i++) spelled += escapeUnit(char.charCodeAt(i), choose(2) === 0);
  }
  return `"${spelled}"`;
}

function escapeUnit(unit: number, upper: boolean): string {
  const hex = unit.toString(16).padStart(4, "0");
  return `\\u${upper ? hex.toUpperCase() : hex}`;
}

/** The canonical text of a model, by the plain recursive definition. */
export function reference(value: Model): string {
  switch (value.kind) {
    case "literal":
    case "number":
      return value.text;
    case "string":
      return JSON.stringify(value.value);
    case "array":
      return `[${value.items.map(reference).join(",")}]`;
    case "object": {
      const sorted = value.members.toSorted(([a], [b]) => (a < b ? -1 : 1));
      return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${reference(item)}`).join(",")}}`;
    }
  }
}
