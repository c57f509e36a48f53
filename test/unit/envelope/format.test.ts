import fc from "fast-check";
import t from "tap";
import { decodeClaims, encodeClaims, isClaims } from "../../../src/envelope/claims.ts";
import {
  associatedData,
  EnvelopeError,
  isAudience,
  parseToken,
  printToken,
  tokenBytesFor,
} from "../../../src/envelope/format.ts";
import { open } from "../../../src/envelope/open.ts";
import { seal } from "../../../src/envelope/seal.ts";
import { ephemeralKeyring } from "../../../src/keyring.ts";
import { claimsWith } from "./sample.ts";

t.test("parts print and parse to themselves", (t) => {
  const bytes = (size: number) =>
    fc.uint8Array({ minLength: size, maxLength: size }).map((b) => Buffer.from(b));
  const bodies = fc.uint8Array({ minLength: 17, maxLength: 90 }).map((b) => Buffer.from(b));
  fc.assert(
    fc.property(bytes(4), bytes(24), bodies, (keyId, nonce, body) => {
      t.same(parseToken(printToken({ keyId, nonce, body }), 400), { keyId, nonce, body });
    }),
  );
  t.end();
});

t.test("the shortest envelope holds one byte of ciphertext", (t) => {
  const of = (size: number) => `sg1.${Buffer.alloc(size).toString("base64url")}`;
  t.equal(parseToken(of(45), 100).body.length, 17);
  for (const size of [0, 1, 4, 28, 43, 44])
    t.throws(() => parseToken(of(size), 100), new EnvelopeError("encoding"));
  t.end();
});

t.test("associated data keeps its parts apart (C09)", (t) => {
  const keyId = Buffer.from("00112233", "hex");
  t.equal(
    associatedData(keyId, "aé").toString("hex"),
    `00000004${Buffer.from("sg1.").toString("hex")}0000000400112233${"00000003"}61c3a9`,
  );
  const pair = fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.string({ unit: "binary", maxLength: 6 }));
  fc.assert(
    fc.property(pair, pair, ([k1, a1], [k2, a2]) => {
      const same = Buffer.compare(k1, k2) === 0 && a1 === a2;
      t.equal(associatedData(k1, a1).equals(associatedData(k2, a2)), same);
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test("audiences", (t) => {
  for (const good of ["a", "https://gateway.example", "☂"]) t.ok(isAudience(good));
  for (const bad of ["", "\ud83d", undefined, 1]) t.notOk(isAudience(bad));
  t.end();
});

t.test("a claim set has one text", (t) => {
  const { state, ...rest } = claimsWith({ state: "s" });
  const first = encodeClaims(claimsWith({ state: "s" }));
  const turned = Object.fromEntries(Object.entries(rest).reverse()) as typeof rest;
  t.same(encodeClaims({ state: state ?? "", ...turned }), first, "whatever the order of members");
  t.equal(decodeClaims(Buffer.from(` ${first}`)), undefined);
  t.same(decodeClaims(first), claimsWith({ state: "s" }));
  t.end();
});

t.test("prototypes are no members", (t) => {
  t.notOk(isClaims(Object.create(claimsWith())));
  t.notOk(isClaims(JSON.parse(`{"__proto__":${JSON.stringify(claimsWith())}}`)));
  t.notOk(isClaims({ ...claimsWith(), constructor: 1 }));
  t.notOk(isClaims([]));
  t.notOk(isClaims(null));
  t.end();
});

t.test("tokenBytesFor holds the worst state and schemas of their sizes", (t) => {
  const ring = ephemeralKeyring();
  for (const [stateBytes, schemaBytes] of [
    [0, 1],
    [1, 1_000],
    [1_000, 65_536],
  ] as const) {
    const cap = tokenBytesFor(stateBytes, schemaBytes);
    const token = seal(
      ring,
      "a",
      claimsWith({
        state: "\u0000".repeat(stateBytes),
        // A JSON text has no control characters but line ends and tabs: at worst two bytes for each.
        asked: [{ key: "k", kind: "form", schema: '"'.repeat(schemaBytes) }],
        target: "x".repeat(31_000),
      }),
    );
    t.ok(token.length <= cap, `${token.length} of ${cap}`);
    t.equal(open(ring, "a", token, cap).state?.length, stateBytes);
  }
  t.end();
});
