import fc from "fast-check";
import t from "tap";
import { type Asked, type Claims, EnvelopeError, type EnvelopeFault } from "../../../src/envelope/format.ts";
import { open } from "../../../src/envelope/open.ts";
import { randomPool, seal } from "../../../src/envelope/seal.ts";
import { type Keyring, loadKeyring } from "../../../src/keyring.ts";
import { claimsWith, digestOf } from "./sample.ts";

const AUDIENCE = "https://gateway.example";
const CAP = 1 << 20;
const OLD = { id: "old", secret: Buffer.alloc(32, 1) };
const NEW = { id: "new", secret: Buffer.alloc(32, 2) };
const ring = loadKeyring([OLD, NEW], "new");

function fault(
  token: unknown,
  keys: Keyring = ring,
  audience = AUDIENCE,
  cap = CAP,
): EnvelopeFault | "opens" {
  try {
    open(keys, audience, token as string, cap);
    return "opens";
  } catch (error) {
    if (error instanceof EnvelopeError) return error.fault;
    throw error;
  }
}

const text = fc.string({ unit: "binary", maxLength: 30 });
const name = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
const time = fc.integer({ min: 0, max: 2 ** 32 });
const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((b) => Buffer.from(b).toString("base64url"));
const digest = fc.string().map(digestOf);
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({ key: text, kind: fc.constant("form" as const), schema: name }),
  fc.record({ key: text, kind: fc.constantFrom("url" as const, "sampling" as const, "roots" as const) }),
);
const claimSets: fc.Arbitrary<Claims> = fc
  .record(
    {
      ...{
        jti: id,
        iat: time,
        exp: fc.integer({ min: 1, max: 3600 }),
        round: fc.integer({ min: 1, max: 100 }),
      },
      ...{ chain: id, chainIat: time, route: name, upstream: name, version: name, principal: digest },
      ...{ method: name, target: text, params: digest, requestId: digest, epoch: text },
      asked: fc.uniqueArray(asked, { selector: (a) => a.key, maxLength: 5 }),
      state: fc.string({ unit: "binary", maxLength: 300 }),
    },
    {
      requiredKeys: [
        "jti",
        "iat",
        "exp",
        "round",
        "chain",
        "chainIat",
        "route",
        "upstream",
        "version",
        "principal",
        "method",
        "target",
        "params",
        "requestId",
        "epoch",
        "asked",
      ],
    },
  )
  .map((claims) => ({ ...claims, exp: claims.iat + claims.exp }) as Claims);

t.test("open(seal(x)) is x", (t) => {
  fc.assert(
    fc.property(claimSets, name, (claims, audience) => {
      const token = seal(ring, audience, claims);
      t.match(token, /^sg1\.[A-Za-z0-9_-]+$/);
      const opened = open(ring, audience, token, token.length);
      t.same(opened, claims);
      t.equal(Object.hasOwn(opened, "state"), Object.hasOwn(claims, "state"), "absence is kept");
    }),
    { numRuns: 150 },
  );
  t.end();
});

t.test("one character changed, added or taken is refused, whatever it is (C08)", (t) => {
  const tokens = ["a", "ab", "abc"].map((state) => seal(ring, AUDIENCE, claimsWith({ state })));
  const character = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom("=", "+", "/", " ", "\n", "\t", "\u0000", "-", "_", "A"),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...tokens),
      fc.nat(),
      fc.nat(2),
      character,
      (token, where, remove, insert) => {
        const at = where % (token.length + 1);
        const changed = token.slice(0, at) + insert + token.slice(at + remove);
        if (changed !== token) t.not(fault(changed), "opens");
      },
    ),
    { numRuns: 1000 },
  );
  for (const token of tokens) {
    const last = token.charCodeAt(token.length - 1);
    for (let code = 0; code < 256; code += 1) {
      if (code !== last) t.not(fault(token.slice(0, -1) + String.fromCharCode(code)), "opens");
    }
    for (const tail of ["=", "==", " ", "\n", "\r\n", "\u0000", "."])
      t.equal(fault(token + tail), "encoding");
    t.match(fault(`${token}A`), /^(encoding|aead)$/, "longer, or a spelling of nothing");
    t.equal(fault(token), "opens", "the original opens");
  }
  t.end();
});

t.test("whatever text comes, open throws EnvelopeError only", (t) => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ maxLength: 200 }).map((s) => `sg1.${s}`),
    fc.uint8Array({ maxLength: 300 }).map((b) => `sg1.${Buffer.from(b).toString("base64url")}`),
    fc
      .uint8Array({ maxLength: 300 })
      .map((b) => `sg1.${Buffer.concat([ring.primary.keyId, b]).toString("base64url")}`),
    fc.constantFrom("\ud83d", "sg1.\ud83d", "sg1", "sg1.", "sg1.A", "sg1.=", "__proto__"),
  );
  fc.assert(
    fc.property(texts, (text) => {
      t.not(fault(text), "opens");
    }),
    { numRuns: 500 },
  );
  for (const value of [undefined, null, 12, ["sg1."], { toString: () => "sg1." }, true]) {
    t.equal(fault(value), "shape");
  }
  t.end();
});

t.test("the size cap comes first and counts the whole text", (t) => {
  const token = seal(ring, AUDIENCE, claimsWith());
  t.equal(fault(token, ring, AUDIENCE, token.length), "opens");
  t.equal(fault(token, ring, AUDIENCE, token.length - 1), "size");
  t.equal(fault("x".repeat(CAP + 1)), "size", "before the prefix");
  t.equal(fault(token, ring, AUDIENCE, Number.NaN), "size", "no limit is no permission");
  t.end();
});

t.test("rotation: add everywhere, promote, remove", (t) => {
  const before = loadKeyring([OLD], "old");
  const added = loadKeyring([OLD, NEW], "old");
  const promoted = loadKeyring([OLD, NEW], "new");
  const removed = loadKeyring([NEW], "new");
  const byOld = seal(before, AUDIENCE, claimsWith());
  const byNew = seal(promoted, AUDIENCE, claimsWith());
  for (const keys of [before, added, promoted]) t.equal(fault(byOld, keys), "opens");
  for (const keys of [added, promoted, removed]) t.equal(fault(byNew, keys), "opens");
  t.equal(fault(byOld, removed), "unknown_key");
  t.equal(fault(byNew, before), "unknown_key");
  t.end();
});

t.test("the key that seals is that of the time of sealing", (t) => {
  const keys = loadKeyring([OLD, NEW], "old", { id: "new", notBefore: 2_000 });
  const sealer = (iat: number): string | undefined => {
    const token = seal(keys, AUDIENCE, claimsWith({ iat, exp: iat + 600 }));
    t.equal(fault(token, keys), "opens", "by a ring that has both, at any time");
    return keys.find(Buffer.from(token.slice(4), "base64url").subarray(0, 4))?.id;
  };
  t.same([1_999, 2_000, 2_001].map(sealer), ["old", "new", "new"]);
  t.end();
});

t.test("an audience opens its own only", (t) => {
  const token = seal(ring, AUDIENCE, claimsWith());
  for (const other of [
    `${AUDIENCE}/`,
    AUDIENCE.toUpperCase(),
    "https://gateway.exampl",
    "",
    "\ud83d",
    `${AUDIENCE}\u0000`,
  ]) {
    t.equal(fault(token, ring, other), "aead");
  }
  const replacement = seal(ring, "\ufffd", claimsWith());
  t.equal(fault(replacement, ring, "\ufffd"), "opens");
  t.equal(fault(replacement, ring, "\ud83d"), "aead", "half a pair is not the replacement character");
  t.throws(() => seal(ring, "", claimsWith()), TypeError);
  t.throws(() => seal(ring, "\ud83d", claimsWith()), TypeError);
  t.end();
});

t.test("what could not be read back is never sealed", (t) => {
  const bad: [string, object][] = [
    ["half of a pair", { state: "\ud83d" }],
    ["half of a pair in a target", { target: "\udc00" }],
    ["half of a pair in a question", { asked: [{ key: "\ud83d", kind: "url" }] }],
    ["state undefined", { state: undefined }],
    ["unknown member", { more: 1 }],
    ["exp not after iat", { exp: 1000 }],
    ["fractional time", { iat: 999.5 }],
    ["round 0", { round: 0 }],
    ["no number", { round: Number.NaN }],
    ["principal in clear", { principal: "u-1001" }],
    ["jti of another length", { jti: "AAAA" }],
    [
      "two questions, one key",
      {
        asked: [
          { key: "a", kind: "url" },
          { key: "a", kind: "roots" },
        ],
      },
    ],
    ["a hole in the list", { asked: new Array(1) }],
    ["a question of no known kind", { asked: [{ key: "a", kind: "task" }] }],
    ["a form without its schema", { asked: [{ key: "a", kind: "form" }] }],
  ];
  for (const [name, changes] of bad) {
    const claims = { ...claimsWith(), ...changes } as Claims;
    t.throws(
      () => seal(ring, AUDIENCE, claims),
      { message: "not a valid claim set; nothing was sealed" },
      name,
    );
  }
  t.throws(() => seal(ring, AUDIENCE, claimsWith(), () => Buffer.alloc(12)), TypeError, "short nonce");
  t.end();
});

t.test("nonces: fresh for every seal, each random byte handed out once", (t) => {
  const claims = claimsWith();
  t.equal(new Set(Array.from({ length: 500 }, () => seal(ring, AUDIENCE, claims))).size, 500);

  const fills: number[] = [];
  let next = 0;
  const pool = randomPool((bytes) => {
    fills.push(bytes);
    const slab = Buffer.alloc(bytes);
    for (let at = 0; at + 4 <= bytes; at += 4, next += 1) slab.writeUInt32BE(next, at);
    return slab;
  });
  const words = new Set<number>();
  const held: [Buffer, string][] = [];
  for (let i = 0; i < 1000; i += 1) {
    const bytes = pool(24);
    t.equal(bytes.length, 24);
    for (let at = 0; at < 24; at += 4) words.add(bytes.readUInt32BE(at));
    held.push([bytes, bytes.toString("hex")]);
  }
  t.equal(words.size, 6000, "no byte twice");
  t.ok(
    held.every(([bytes, then]) => bytes.toString("hex") === then),
    "nor is one written again",
  );
  t.equal(pool(5000).length, 5000);
  t.equal(fills.at(-1), 5000, "a large wish goes to the source");
  t.end();
});

t.test("the error says the fault and nothing of the token", (t) => {
  const token = `sg1.${"A".repeat(80)}`;
  try {
    open(ring, AUDIENCE, token, CAP);
    t.fail("opened");
  } catch (error) {
    t.equal(String(error), "EnvelopeError: requestState refused: unknown_key");
  }
  t.end();
});
