/** Envelopes from clients: nothing opens but the very texts that were sealed, and nothing but an EnvelopeError is thrown. */
import { type Claims, EnvelopeError, PREFIX } from "../../src/envelope/format.ts";
import { open } from "../../src/envelope/open.ts";
import { seal } from "../../src/envelope/seal.ts";
import { loadKeyring } from "../../src/keyring.ts";
import type { Random } from "../random.ts";
import { Random as Fixed } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";
import { CLAIM_SETS } from "./claims.ts";

const AUDIENCE = "https://gateway.example";
const MAX_BYTES = 4096;
const KEYS = [1, 2].map((byte) => ({ id: `key-${byte}`, secret: Buffer.alloc(32, byte) }));
const RING = loadKeyring(KEYS, "key-1");
const OTHERS = loadKeyring([{ id: "foreign", secret: Buffer.alloc(32, 3) }], "foreign");
const random = new Fixed(7);

const sealAll = (ring: typeof RING, audience: string): string[] =>
  CLAIM_SETS.map((claims) => seal(ring, audience, claims as Claims, (bytes) => random.bytes(bytes)));

/** What was sealed for us, by either key; and what was sealed by or for others. */
const SEALED = new Set([...sealAll(RING, AUDIENCE), ...sealAll(loadKeyring(KEYS, "key-2"), AUDIENCE)]);
const FOREIGN = [...sealAll(OTHERS, AUDIENCE), ...sealAll(RING, `${AUDIENCE}/`)];
const TOKENS = [...SEALED, ...FOREIGN];

export const envelope: Target = {
  name: "envelope",
  promise: "no text opens but those that were sealed, each in one spelling",
  seeds: TOKENS.map((token) => Buffer.from(token)),
  dictionary: [
    PREFIX,
    "sg1",
    "sg2.",
    ".",
    "=",
    "==",
    "-",
    "_",
    "+",
    "/",
    "A",
    "AAAA",
    " ",
    "\n",
    "\u0000",
    "\u00e9",
  ],
  generate: (random) => Buffer.from(tokenText(random)),
  check(input) {
    const token = input.toString("utf8");
    const opened = attempt(() => open(RING, AUDIENCE, token, MAX_BYTES), EnvelopeError);
    same("value" in opened, SEALED.has(token), "opens");
    if (!SEALED.has(token)) return;
    for (const [ring, audience] of [
      [OTHERS, AUDIENCE],
      [RING, `${AUDIENCE}/`],
    ] as const) {
      same(
        "error" in attempt(() => open(ring, audience, token, MAX_BYTES), EnvelopeError),
        true,
        "refused elsewhere",
      );
    }
  },
};

/** A token with a change in its bytes, or put together from parts of two. */
function tokenText(random: Random): string {
  const bytesOf = (token: string): Buffer => Buffer.from(token.slice(PREFIX.length), "base64url");
  const bytes = bytesOf(random.pick(TOKENS));
  const other = bytesOf(random.pick(TOKENS));
  const at = random.pick([0, 4, 28, bytes.length - 16, random.below(bytes.length)]);
  switch (random.below(5)) {
    case 0:
      return PREFIX + Buffer.concat([bytes.subarray(0, at), other.subarray(at)]).toString("base64url");
    case 1:
      bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << random.below(8));
      return PREFIX + bytes.toString("base64url");
    case 2:
      return PREFIX + bytes.subarray(0, at).toString("base64url");
    case 3:
      return PREFIX + Buffer.concat([bytes, random.bytes(1 + random.below(20))]).toString("base64url");
    default:
      return (
        random.pick([PREFIX, "", "sg1", "SG1."]) +
        random.pick([bytes.toString("base64"), bytes.toString("hex"), bytes.toString("base64url")])
      );
  }
}
