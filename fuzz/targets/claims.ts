/** The payload of an envelope, after the tag has passed: only the one text of a claim set is read. */
import { decodeClaims, encodeClaims } from "../../src/envelope/claims.ts";
import type { Claims } from "../../src/envelope/format.ts";
import { JsonError, scan } from "../../src/json/scan.ts";
import { JSON_WORDS, jsonText, stringText } from "../json-grammar.ts";
import type { Random } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const DIGEST = "A".repeat(43);
const BASE = {
  jti: ID,
  iat: 1_700_000_000,
  exp: 1_700_000_600,
  round: 1,
  chain: ID,
  chainIat: 1_700_000_000,
  route: "/mcp",
  upstream: "http://127.0.0.1:1/mcp",
  version: "2026-07-28",
  principal: DIGEST,
  method: "tools/call",
  target: "x",
  params: DIGEST,
  requestId: DIGEST,
  asked: [],
  epoch: "e",
};

/** Sound claim sets of every shape. */
export const CLAIM_SETS: readonly Claims[] = [
  BASE,
  { ...BASE, state: "" },
  { ...BASE, state: 'U1 \u00e9 \ud83d\ude00 " \\ \n \u2028' },
  { ...BASE, target: "", epoch: "", round: 2, asked: [{ key: "q", kind: "url" }] },
  {
    ...BASE,
    asked: [
      { key: "", kind: "roots" },
      { key: "f", kind: "form", schema: '{"type":"object"}' },
      { key: "s", kind: "sampling" },
    ],
  },
];

const TEXTS = CLAIM_SETS.map((claims) => JSON.stringify(claims));

export const claims: Target = {
  name: "claims",
  promise:
    "a payload is read only if it is what its claims are printed as, and then no two readers differ about it",
  seeds: TEXTS.map((text) => Buffer.from(text)),
  dictionary: [
    ...JSON_WORDS,
    ...Object.keys(BASE).map((name) => `"${name}":`),
    '"state":"x"',
    ',"state":null',
    '"asked":[]',
    '{"key":"q","kind":"url"}',
    ',"kind":"form","schema":"{}"',
    "1.0",
    "1e3",
    ID,
    DIGEST,
  ],
  generate(random) {
    const value = JSON.parse(random.pick(TEXTS)) as Record<string, unknown>;
    const name = random.pick([...Object.keys(BASE), "state", "other"]);
    if (random.oneIn(3)) delete value[name];
    else
      value[name] = random.pick([
        BASE.iat,
        BASE.exp,
        null,
        0,
        -1,
        1,
        1.5,
        1e21,
        "",
        "x",
        ID,
        DIGEST,
        [],
        [{}],
        {},
        "\u0000",
        "\u00e9",
      ]);
    const text = random.oneIn(2) ? JSON.stringify(value) : respell(random, value);
    return Buffer.from(random.oneIn(4) ? text.replace(/:[^,]*/, `:${jsonText(random, 2)}`) : text);
  },
  check(input) {
    const read = decodeClaims(input);
    const parsed = attempt(() => JSON.parse(input.toString("utf8")) as Claims, SyntaxError);
    if (read === undefined) {
      // What is sound is never refused: its own print is read back.
      const printed = "value" in parsed ? attempt(() => encodeClaims(parsed.value), TypeError) : undefined;
      if (printed !== undefined && "value" in printed)
        same(printed.value.equals(input), false, "a sound payload is refused");
      return;
    }
    same(read.exp > read.iat && read.round >= 1 && read.iat >= 0, true, "times and rounds in their order");
    same(encodeClaims(read).toString("latin1"), input.toString("latin1"), "printed again");
    same(
      "value" in attempt(() => scan(input, { bytes: 1 << 16, depth: 8 }), JsonError),
      true,
      "the scanner takes it too",
    );
    same(
      JSON.stringify(read),
      JSON.stringify("value" in parsed ? parsed.value : undefined),
      "what JSON.parse reads",
    );
  },
};

/** The same claims with the strings in any spelling. */
function respell(random: Random, value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value).map(([name, one]) => {
    const text = typeof one === "string" && random.oneIn(4) ? stringText(random, one) : JSON.stringify(one);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(",")}}`;
}
