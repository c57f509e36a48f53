import { createHash } from "node:crypto";
import { inspect } from "node:util";
import t from "tap";
import { XaesKey } from "../../../src/envelope/xaes.ts";

const NONCE = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWX");
const PLAINTEXT = Buffer.from("XAES-256-GCM");

// The published vectors of c2sp.org/XAES-256-GCM. The first key has a clear top bit in CMAC's L, the second a set one.
const PUBLISHED = [
  { key: 0x01, ad: "", sealed: "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271" },
  {
    key: 0x03,
    ad: "c2sp.org/XAES-256-GCM",
    sealed: "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
  },
];

for (const { key, ad, sealed } of PUBLISHED) {
  t.test(`published vector, key of 0x0${key}`, (t) => {
    const xaes = new XaesKey(Buffer.alloc(32, key));
    t.equal(xaes.seal(NONCE, PLAINTEXT, Buffer.from(ad)).toString("hex"), sealed);
    t.same(xaes.open(NONCE, Buffer.from(sealed, "hex"), Buffer.from(ad)), PLAINTEXT);
    t.equal(xaes.open(NONCE, Buffer.from(sealed, "hex"), Buffer.from(`${ad}x`)), undefined, "other data");
    t.end();
  });
}

t.test("published accumulated vector, 10 000 iterations", (t) => {
  const ITERATIONS = 10_000;
  // Each round reads key, nonce and two byte strings behind a one-byte length from one SHAKE-128 stream.
  const stream = createHash("shake128", { outputLength: ITERATIONS * (32 + 24 + 2 * 256) }).digest();
  t.equal(stream.subarray(0, 16).toString("hex"), "7f9c2ba4e88f827d616045507605853e");
  let at = 0;
  const take = (length: number) => {
    at += length;
    return stream.subarray(at - length, at);
  };
  const takeFramed = () => take(take(1).readUInt8());
  const hash = createHash("shake128", { outputLength: 32 });
  let opened = 0;
  for (let i = 0; i < ITERATIONS; i += 1) {
    const xaes = new XaesKey(take(32));
    const nonce = take(24);
    const plaintext = takeFramed();
    const ad = takeFramed();
    const sealed = xaes.seal(nonce, plaintext, ad);
    hash.update(sealed);
    if (xaes.open(nonce, sealed, ad)?.equals(plaintext)) opened += 1;
  }
  t.equal(hash.digest("hex"), "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939");
  t.equal(opened, ITERATIONS);
  t.end();
});

t.test("every bit of nonce, ciphertext, tag and associated data counts", (t) => {
  const xaes = new XaesKey(Buffer.alloc(32, 1));
  const ad = Buffer.from("data");
  const sealed = xaes.seal(NONCE, PLAINTEXT, ad);
  const parts = [NONCE, sealed, ad];
  let refused = 0;
  for (const [index, part] of parts.entries()) {
    for (let bit = 0; bit < part.length * 8; bit += 1) {
      const changed = Buffer.from(part);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const [nonce, body, data] = parts.map((p, i) => (i === index ? changed : p)) as [
        Buffer,
        Buffer,
        Buffer,
      ];
      if (xaes.open(nonce, body, data) === undefined) refused += 1;
    }
  }
  t.equal(refused, (NONCE.length + sealed.length + ad.length) * 8);
  for (let length = 0; length < sealed.length; length += 1) {
    t.equal(xaes.open(NONCE, sealed.subarray(0, length), ad), undefined, `truncated to ${length}`);
  }
  t.same(xaes.open(NONCE, sealed, ad), PLAINTEXT, "unchanged it opens");
  t.end();
});

t.test("sizes are fixed", (t) => {
  for (const length of [0, 16, 31, 33]) t.throws(() => new XaesKey(Buffer.alloc(length)), RangeError);
  const xaes = new XaesKey(Buffer.alloc(32));
  for (const length of [0, 12, 23, 25]) {
    t.throws(() => xaes.seal(Buffer.alloc(length), PLAINTEXT, PLAINTEXT), RangeError);
    t.throws(() => xaes.open(Buffer.alloc(length), Buffer.alloc(28), PLAINTEXT), RangeError);
  }
  const empty = xaes.seal(NONCE, Buffer.alloc(0), Buffer.alloc(0));
  t.equal(empty.length, 16);
  t.same(xaes.open(NONCE, empty, Buffer.alloc(0)), Buffer.alloc(0), "an empty message is not a refusal");
  t.end();
});

t.test("the key is copied, and not printed", (t) => {
  const bytes = Buffer.alloc(32, 1);
  const xaes = new XaesKey(bytes);
  bytes.fill(0);
  t.equal(xaes.seal(NONCE, PLAINTEXT, Buffer.alloc(0)).toString("hex"), PUBLISHED[0]?.sealed);
  const printed = inspect(xaes, { showHidden: true, depth: 9 }) + JSON.stringify(xaes) + String(xaes);
  t.notMatch(printed, /01|KeyObject|Buffer/);
  t.end();
});
