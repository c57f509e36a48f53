import { createHash, hkdfSync } from "node:crypto";
import { format, inspect } from "node:util";
import t from "tap";
import { NONCE_BYTES, printToken } from "../../src/envelope/format.ts";
import { open } from "../../src/envelope/open.ts";
import { ephemeralKeyring, type KeyHandle, loadKeyring } from "../../src/keyring.ts";
import { createLog, logError } from "../../src/log.ts";

const secretOf = (fill: number) => Buffer.alloc(32, fill);
const A = { id: "a", secret: secretOf(1) };
const B = { id: "b", secret: secretOf(2) };

// Two secrets, found by search, whose keys share the id 342f519b.
const TWINS = [
  "000000000000000000000000000000000000000000000000000000000000032f",
  "0000000000000000000000000000000000000000000000000000000000014c08",
].map((hex, i) => ({ id: `twin-${i + 1}`, secret: Buffer.from(hex, "hex") }));

t.test("key id: first 4 bytes of SHA-256 over label and derived key", (t) => {
  const derived = Buffer.from(hkdfSync("sha256", A.secret, "", "sealgate/envelope/1/key", 32));
  const digest = createHash("sha256").update("sealgate/envelope/1/key-id").update(derived).digest("hex");
  t.equal(loadKeyring([A], "a").primary.keyId.toString("hex"), digest.slice(0, 8));
  t.end();
});

t.test("a ring finds each of its keys, and seals with the primary only", (t) => {
  const ring = loadKeyring([A, B], "b");
  t.equal(ring.primary.id, "b");
  t.same(
    ring.labels(0).map(({ id, seals }) => ({ id, seals })),
    [
      { id: "a", seals: false },
      { id: "b", seals: true },
    ],
  );
  for (const { keyId, id } of ring.labels(0)) t.equal(ring.find(Buffer.from(keyId, "hex"))?.id, id);
  t.equal(ring.find(Buffer.alloc(4)), undefined);
  t.equal(ring.find(Buffer.alloc(0)), undefined);
  t.equal(ring.find(Buffer.concat([ring.primary.keyId, Buffer.alloc(1)])), undefined);
  t.end();
});

t.test(
  "of a hundred keys only the one that a token names is tried, and none for a key that is not there",
  (t) => {
    const keys = Array.from({ length: 100 }, (_, n) => ({ id: `k${n}`, secret: secretOf(n + 1) }));
    const ring = loadKeyring(keys, "k0");
    const tried: string[] = [];
    const Key = Object.getPrototypeOf(ring.primary) as KeyHandle;
    t.intercept(Key, "open", {
      value(this: KeyHandle) {
        tried.push(this.id);
      },
    });
    const tokenOf = (keyId: Buffer): string =>
      printToken({ keyId, nonce: Buffer.alloc(NONCE_BYTES), body: Buffer.alloc(64) });
    const keyId = Buffer.from(ring.labels(0)[73]?.keyId ?? "", "hex");
    t.throws(() => open(ring, "https://gateway.example/mcp", tokenOf(keyId), 4_096), {
      name: "EnvelopeError",
      fault: "aead",
    });
    t.same(tried, ["k73"]);
    t.throws(() => open(ring, "https://gateway.example/mcp", tokenOf(Buffer.alloc(4)), 4_096), {
      name: "EnvelopeError",
      fault: "unknown_key",
    });
    t.same(tried, ["k73"]);
    t.end();
  },
);

t.test("the label does not enter the key: rings with other labels understand each other", (t) => {
  const nonce = Buffer.alloc(24);
  const sealed = loadKeyring([A], "a").primary.seal(nonce, Buffer.from("x"), "audience");
  const other = loadKeyring([{ id: "renamed", secret: A.secret }], "renamed");
  t.same(other.primary.open(nonce, sealed, "audience"), Buffer.from("x"));
  t.equal(loadKeyring([B], "b").primary.open(nonce, sealed, "audience"), undefined);
  t.end();
});

t.test("nothing a caller holds can change the ring", (t) => {
  const ring = loadKeyring([A], "a");
  const keyId = ring.primary.keyId.toString("hex");
  ring.primary.keyId.fill(0);
  ring.labels(0).pop();
  t.equal(ring.primary.keyId.toString("hex"), keyId);
  t.equal(ring.labels(0).length, 1);
  t.throws(() => Object.assign(ring.primary, { id: "x" }), TypeError);
  t.end();
});

t.test("breaches are all named at once, by label", (t) => {
  const problems = (keys: Parameters<typeof loadKeyring>[0], primary: string): string[] => {
    try {
      loadKeyring(keys, primary);
      return [];
    } catch (error) {
      return (error as Error).message.split("\n");
    }
  };
  t.same(problems([A, B], "a"), []);
  t.same(problems([], "a"), ["the ring has no key", 'the primary "a" is not in the ring']);
  t.same(problems([A, B], "c"), ['the primary "c" is not in the ring ("a", "b")']);
  t.same(problems([A, { id: "b", secret: Buffer.from(A.secret) }], "a"), [
    'key "b" has the same secret as key "a"',
  ]);
  t.same(problems([A, { id: "a", secret: B.secret }], "a"), [
    'key "a" is there more than once; every key needs an id of its own',
  ]);
  t.same(problems(TWINS, "twin-1"), [
    'key "twin-2" has by chance the same key id as key "twin-1"; generate another secret',
  ]);
  for (const twin of TWINS) t.same(problems([twin, A], twin.id), [], "one of the twins alone is fine");
  t.same(
    problems([A, A, { id: "", secret: Buffer.alloc(31) }, { id: "n\nl", secret: Buffer.alloc(0) }], "none"),
    [
      'key "a" is there more than once; every key needs an id of its own',
      'key "a" has the same secret as key "a"',
      "a key has an empty id",
      'key "" has 31 bytes; at least 32 are needed',
      'key "n\\nl" has 0 bytes; at least 32 are needed',
      'the primary "none" is not in the ring ("a", "", "n\\nl")',
    ],
  );
  t.end();
});

t.test("no form of printing shows key material", (t) => {
  const secret = Buffer.from("0123456789-plain-secret-for-this-test");
  const derived = Buffer.from(hkdfSync("sha256", secret, "", "sealgate/envelope/1/key", 32));
  const ring = loadKeyring([{ id: "shown", secret }], "shown");
  const prints = [ring, ring.primary, { ring }, [ring.primary]].flatMap((value) => [
    String(value),
    JSON.stringify(value),
    format("%s %o %O %j", value, value, value, value),
    inspect(value, { showHidden: true, depth: 9, getters: true, customInspect: true }),
    inspect(value, { showHidden: true, depth: 9, getters: true, customInspect: false }),
  ]);
  const lines: string[] = [];
  const log = createLog("debug", { write: (line: string) => void lines.push(line) });
  const error = Object.assign(new Error(`with ${ring}`, { cause: ring.primary }), { ring, code: "X" });
  log.info({ ring, key: ring.primary, keys: [ring.primary], err: error }, `${ring.primary}`);
  prints.push(...lines, format("%o", error), JSON.stringify(logError(error)));
  const text = prints.join("\n");
  t.match(text, "shown");
  t.match(lines.join(), /"key":\{"id":"shown"/);
  for (const bytes of [secret, derived]) {
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      const part = bytes.subarray(at, at + 4);
      const spellings = [
        part.toString("hex"),
        [...part].join(","),
        part.toString("hex").replace(/..\B/g, "$& "),
      ];
      if (spellings.some((spelling) => text.includes(spelling))) t.fail(`bytes from ${at} are printed`);
    }
  }
  t.notOk(text.includes(secret.toString()));
  t.end();
});

t.test("a key that is random is another one each time", (t) => {
  const [one, two] = [ephemeralKeyring(), ephemeralKeyring()];
  t.equal(one.labels(0).length, 1);
  t.not(one.primary.keyId.toString("hex"), two.primary.keyId.toString("hex"));
  t.end();
});

t.test("the next key opens from the start and seals from its time on, to the second", (t) => {
  const ring = loadKeyring([A, B], "a", { id: "b", notBefore: 1_000 });
  const sealers = [0, 999, 999.999, 1_000, 2 ** 40].map((at) => ring.sealer(at).id);
  t.same(sealers, ["a", "a", "a", "b", "b"]);
  t.equal(ring.sealer(Number.NaN).id, "a", "no time is no reason to hurry");
  t.equal(ring.primary.id, "a");
  const seals = (at: number) => ring.labels(at).flatMap(({ id, seals }) => (seals ? [id] : []));
  t.same([seals(999), seals(1_000)], [["a"], ["b"]], "one key seals, never two");
  for (const { keyId } of ring.labels(0))
    t.ok(ring.find(Buffer.from(keyId, "hex")), "both open all the time");
  t.match(
    String(ring),
    /^keyring of key a \(\w{8}\), key b \(\w{8}\); primary key a .*, next key b .* from 1970-01-01T00:16:40\.000Z$/,
  );
  t.end();
});

t.test("rings are equal when their texts are", (t) => {
  const text = (...args: Parameters<typeof loadKeyring>) => String(loadKeyring(...args));
  const next = { id: "b", notBefore: 1_000 };
  t.equal(text([A, B], "a", next), text([A, B], "a", { ...next }));
  const others = [
    text([A, B], "a"),
    text([A, B], "b"),
    text([A], "a"),
    text([{ ...A, secret: secretOf(3) }, B], "a"),
    text([A, B], "a", next),
    text([A, B], "a", { ...next, notBefore: 1_001 }),
  ];
  t.equal(new Set(others).size, others.length);
  t.end();
});

t.test("a next key must be in the ring, and another than the primary", (t) => {
  t.throws(() => loadKeyring([A, B], "a", { id: "c", notBefore: 0 }), {
    message: 'the next key "c" is not in the ring ("a", "b")',
  });
  t.throws(() => loadKeyring([A, B], "a", { id: "a", notBefore: 0 }), {
    message: "the next key is the primary itself",
  });
  t.end();
});
