/** Every change of a token is refused, exhaustively: each bit of its bytes and of its text, each cut, each swap of a part. */
import t from "tap";
import { EnvelopeError, type EnvelopeFault } from "../../../src/envelope/format.ts";
import { open } from "../../../src/envelope/open.ts";
import { seal } from "../../../src/envelope/seal.ts";
import { loadKeyring } from "../../../src/keyring.ts";
import { claimsWith } from "./sample.ts";

const AUDIENCE = "https://gateway.example";
const KEYS = [1, 2, 3].map((fill) => ({ id: `k${fill}`, secret: Buffer.alloc(32, fill) }));
const ring = loadKeyring(KEYS, "k1");
// One for each length of the last group of base64url.
const TOKENS = ["a", "ab", "abc"].map((state) => seal(ring, AUDIENCE, claimsWith({ state })));

const bytesOf = (token: string): Buffer => Buffer.from(token.slice(4), "base64url");
const tokenOf = (bytes: Buffer): string => `sg1.${bytes.toString("base64url")}`;

function fault(token: string): EnvelopeFault | "opens" {
  try {
    open(ring, AUDIENCE, token, 1 << 20);
    return "opens";
  } catch (error) {
    if (error instanceof EnvelopeError) return error.fault;
    throw error;
  }
}

/** How often each outcome was found. */
function tally(tokens: Iterable<string>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const token of tokens) {
    const outcome = fault(token);
    found[outcome] = (found[outcome] ?? 0) + 1;
  }
  return found;
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return copy;
}

const indexes = (length: number): number[] => [...Array(length).keys()];

for (const token of TOKENS) {
  const bytes = bytesOf(token);
  t.test(`${token.length} characters: every bit of the bytes`, async (t) => {
    const found = tally(indexes(bytes.length * 8).map((bit) => tokenOf(flipped(bytes, bit))));
    t.same(found, { unknown_key: 32, aead: (bytes.length - 4) * 8 });
    t.equal(fault(token), "opens");
  });

  t.test(`${token.length} characters: every bit of the text`, async (t) => {
    const text = Buffer.from(token, "latin1");
    const found = tally(indexes(text.length * 8).map((bit) => flipped(text, bit).toString("latin1")));
    t.equal(found["opens"], undefined);
    t.equal(found["prefix"], 32);
    t.equal(
      Object.values(found).reduce((sum, count) => sum + count, 0),
      text.length * 8,
    );
    t.same(Object.keys(found).sort(), ["aead", "encoding", "prefix", "unknown_key"]);
  });

  t.test(
    `${token.length} characters: every cut, of text and of bytes, at either end and inside`,
    async (t) => {
      const ends = indexes(token.length).flatMap((at) => [
        token.slice(0, at),
        at === 0 ? "" : token.slice(at),
      ]);
      const bodies = indexes(bytes.length).flatMap((at) => [
        bytes.subarray(0, at),
        bytes.subarray(at + 1),
        Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
        Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at)]),
      ]);
      const found = tally([...ends, ...bodies.map(tokenOf)]);
      t.equal(found["opens"], undefined);
      t.equal(
        Object.values(found).reduce((sum, count) => sum + count, 0),
        2 * token.length + 4 * bytes.length,
      );
    },
  );

  t.test(`${token.length} characters: a tag that is shorter than 16 bytes`, async (t) => {
    for (const length of indexes(16)) {
      const short = bytes.subarray(0, bytes.length - 16 + length);
      t.equal(fault(tokenOf(short)), "aead", `${length} bytes`);
      // Filled up again with what a careless reader might take for nothing.
      t.equal(fault(tokenOf(Buffer.concat([short, Buffer.alloc(16 - length)]))), "aead");
    }
  });

  t.test(`${token.length} characters: every second spelling of its last character`, async (t) => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spellings = [...alphabet].map((last) => token.slice(0, -1) + last);
    const same = spellings.filter((other) => bytesOf(other).equals(bytes));
    t.equal(same.length, { 2: 16, 3: 4, 0: 1 }[(token.length - 4) % 4]);
    t.same(tally(same), same.length === 1 ? { opens: 1 } : { opens: 1, encoding: same.length - 1 });
    t.equal(tally(spellings)["opens"], 1);
  });
}

t.test("long tokens, longer and shorter ones in turn", async (t) => {
  for (const length of [5_000, 0, 5_000, 70_000, 1]) {
    const bytes = bytesOf(seal(ring, AUDIENCE, claimsWith({ state: "x".repeat(length) })));
    for (const bit of [4 * 8, 28 * 8, (bytes.length - 17) * 8, bytes.length * 8 - 1]) {
      t.equal(fault(tokenOf(flipped(bytes, bit))), "aead");
    }
    t.equal(fault(tokenOf(bytes)), "opens");
  }
});

t.test("key id, nonce, ciphertext and tag of two tokens, in every mixture", async (t) => {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = [1, 2].map((by) =>
    bytesOf(seal(loadKeyring(KEYS, `k${by}`), AUDIENCE, claimsWith({ state: "x" }))),
  );
  t.equal(first.length, second.length);
  const cuts = [0, 4, 28, first.length - 16, first.length];
  for (const mixture of indexes(16)) {
    const parts = indexes(4).map((part) =>
      (mixture & (1 << part) ? second : first).subarray(cuts[part] ?? 0, cuts[part + 1]),
    );
    t.equal(
      fault(tokenOf(Buffer.concat(parts))),
      mixture === 0 || mixture === 15 ? "opens" : "aead",
      `${mixture}`,
    );
  }
});

t.test("the key id of every other key of the ring", async (t) => {
  for (const { keyId, seals } of ring.labels(0)) {
    for (const token of TOKENS) {
      const swapped = Buffer.concat([Buffer.from(keyId, "hex"), bytesOf(token).subarray(4)]);
      t.equal(fault(tokenOf(swapped)), seals ? "opens" : "aead");
    }
  }
});
