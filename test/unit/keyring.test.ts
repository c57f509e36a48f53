import { createHash, hkdfSync } from "node:crypto";
import { format, inspect } from "node:util";
import t from "tap";
import { decodeSecret, ephemeralKeyring, generateSecret, loadKeyring } from "../../src/keyring.ts";

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
    ring.labels().map(({ id, primary }) => ({ id, primary })),
    [
      { id: "a", primary: false },
      { id: "b", primary: true },
    ],
  );
  for (const { keyId, id } of ring.labels()) t.equal(ring.find(Buffer.from(keyId, "hex"))?.id, id);
  t.equal(ring.find(Buffer.alloc(4)), undefined);
  t.equal(ring.find(Buffer.alloc(0)), undefined);
  t.equal(ring.find(Buffer.concat([ring.primary.keyId, Buffer.alloc(1)])), undefined);
  t.end();
});

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
  ring.labels().pop();
  t.equal(ring.primary.keyId.toString("hex"), keyId);
  t.equal(ring.labels().length, 1);
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
  const text = prints.join("\n");
  t.match(text, "shown");
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

t.test("decodeSecret", (t) => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));
  const hex = bytes.toString("hex");
  const base64url = bytes.toString("base64url");
  const good: [string, Buffer, Buffer][] = [
    ["hexadecimal", Buffer.from(hex), bytes],
    ["hexadecimal, upper case", Buffer.from(hex.toUpperCase()), bytes],
    ["hexadecimal with a line end", Buffer.from(`${hex}\n`), bytes],
    ["hexadecimal with a DOS line end", Buffer.from(`${hex}\r\n`), bytes],
    ["an odd number of digits is text", Buffer.from(`${hex}0`), Buffer.from(`${hex}0`)],
    ["base64url", Buffer.from(base64url), bytes],
    ["base64url with line ends", Buffer.from(`${base64url}\n\n`), bytes],
    [
      "base64 with padding is text",
      Buffer.from(bytes.toString("base64")),
      Buffer.from(bytes.toString("base64")),
    ],
    [
      "base64url of another spelling is text",
      Buffer.from(`${base64url.slice(0, -1)}B`),
      Buffer.from(`${base64url.slice(0, -1)}B`),
    ],
    ["a passphrase", Buffer.from(`${"correct horse ".repeat(3)}\n`), Buffer.from("correct horse ".repeat(3))],
    ["a passphrase in another script", Buffer.from(`${"ключ".repeat(8)}\n`), Buffer.from("ключ".repeat(8))],
    ["binary", bytes, bytes],
    [
      "binary that ends in a line end",
      Buffer.concat([bytes.subarray(1), Buffer.from("\n")]),
      Buffer.concat([bytes.subarray(1), Buffer.from("\n")]),
    ],
    ["zeros", Buffer.alloc(32), Buffer.alloc(32)],
  ];
  for (const [name, file, secret] of good) t.same(decodeSecret(file), secret, name);

  const bad: [string, Buffer][] = [
    ["empty", Buffer.alloc(0)],
    ["line ends only", Buffer.from("\n".repeat(40))],
    ["31 bytes", Buffer.alloc(31, 0xff)],
    ["31 characters and a line end", Buffer.from(`${"p".repeat(31)}\n`)],
    ["16 bytes in 32 hexadecimal digits", Buffer.from(hex.slice(0, 32))],
    ["63 hexadecimal digits", Buffer.from(hex.slice(0, 63))],
  ];
  for (const [name, file] of bad) {
    try {
      decodeSecret(file);
      t.fail(name);
    } catch (error) {
      t.match((error as Error).message, /at least 32 bytes are needed/, name);
      t.notMatch((error as Error).message, /fffefd|pppp/);
    }
  }
  t.end();
});

t.test("decodeSecret returns bytes of its own", (t) => {
  const file = Buffer.alloc(32, 0xee);
  const secret = decodeSecret(file);
  file.fill(0);
  t.same(secret, Buffer.alloc(32, 0xee));
  t.end();
});

t.test("new secrets", (t) => {
  t.match(generateSecret(), /^[A-Za-z0-9_-]{43}$/);
  t.not(generateSecret(), generateSecret());
  t.same(decodeSecret(Buffer.from(`${generateSecret((n) => Buffer.alloc(n, 7))}\n`)), Buffer.alloc(32, 7));
  const [one, two] = [ephemeralKeyring(), ephemeralKeyring()];
  t.equal(one.labels().length, 1);
  t.not(one.primary.keyId.toString("hex"), two.primary.keyId.toString("hex"));
  t.end();
});
