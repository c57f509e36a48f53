/** Two readers of one page: whatever an authentic payload holds, they find the same claims or both refuse. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import { EnvelopeError } from "../../src/envelope/format.ts";
import { open } from "../../src/envelope/open.ts";
import { loadKeyring } from "../../src/keyring.ts";
import { vectors } from "./generate.ts";
import { read } from "./reader.ts";
import { sealBytes } from "./reference.ts";

const SECRET = "5a".repeat(32);
const AUDIENCE = "https://gateway.example";
const CAP = 1 << 20;
const ring = loadKeyring([{ id: "k", secret: Buffer.from(SECRET, "hex") }], "k");

function product(token: string): object {
  try {
    return { claims: open(ring, AUDIENCE, token, CAP) };
  } catch (error) {
    if (error instanceof EnvelopeError) return { failure: error.fault };
    throw error;
  }
}

/** Reads with both; throws where they differ. */
function agree(payload: Buffer): "opens" | "refused" {
  const { bytes } = sealBytes("differential", { secret: SECRET, audience: AUDIENCE, payload });
  const token = `sg1.${bytes.toString("base64url")}`;
  const ours = product(token);
  const theirs = read(token, { keys: [{ secret: SECRET }], audience: AUDIENCE, maxTokenBytes: CAP });
  if (!isDeepStrictEqual(ours, theirs)) {
    throw new Error(JSON.stringify({ payload: payload.toString("latin1"), ours, theirs }));
  }
  return "claims" in ours ? "opens" : "refused";
}

const honest = vectors().flatMap(({ claims }) => (claims === undefined ? [] : [JSON.stringify(claims)]));
/** What JSON and this format are made of, and what they are not. */
const PIECES = [
  ...['"', "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "\t", "0", "1", "-1", "1.0", "1e3", "null", "true"],
  ...[
    "\\u0000",
    "\\u001f",
    "\\u001F",
    "\\u0041",
    "\\b",
    "\\/",
    "\\n",
    "\\x",
    "\\ud83d",
    "\u0000",
    "\u007f",
    "\u2028",
  ],
  ...[
    '"state":"x"',
    ',"state":""',
    ',"state":null',
    '"jti":',
    '"key":"k","kind":"url"',
    '"schema":"s"',
    "é",
    "🔐",
  ],
  ...[
    '"asked":[]',
    '{"key":"a","kind":"roots"}',
    "253402300799",
    "253402300800",
    "9007199254740992",
    "__proto__",
    '"approval":{"policies":["a"],"shown":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","given":true},',
    '"given":false',
  ],
];

t.test("honest payloads open for both", async (t) => {
  t.ok(honest.length > 10);
  for (const text of honest) t.equal(agree(Buffer.from(text)), "opens");
});

t.test("changed in one to three places", async (t) => {
  const change = fc.tuple(
    fc.nat(),
    fc.nat(12),
    fc.oneof(fc.constantFrom("", ...PIECES), fc.string({ maxLength: 3 })),
  );
  const seen = { opens: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...honest),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (text, changes) => {
        let changed = text;
        for (const [where, remove, insert] of changes) {
          const at = where % (changed.length + 1);
          changed = changed.slice(0, at) + insert + changed.slice(at + remove);
        }
        seen[agree(Buffer.from(changed))] += 1;
      },
    ),
    { numRuns: 3_000 },
  );
  t.ok(seen.opens > 20 && seen.refused > 1_000, JSON.stringify(seen));
});

t.test("one byte of any value anywhere", async () => {
  fc.assert(
    fc.property(fc.constantFrom(...honest), fc.nat(), fc.nat(255), (text, where, byte) => {
      const bytes = Buffer.from(text);
      bytes.writeUInt8(byte, where % bytes.length);
      agree(bytes);
    }),
    { numRuns: 2_000 },
  );
});
