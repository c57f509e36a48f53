import t from "tap";
import { TokenCache, tokenDigest } from "../../../src/principal/token-cache.ts";

const entry = (expires: number) => ({ expires });

t.test("an entry ends with its token", async (t) => {
  const cache = new TokenCache(4);
  cache.set("a", entry(1_000));
  t.ok(cache.get("a", 999));
  t.equal(cache.get("a", 1_000), undefined);
  t.equal(cache.size, 0, "and makes room");
  t.equal(cache.get("b", 0), undefined);
});

t.test("the least recently used goes first", async (t) => {
  const cache = new TokenCache(2);
  cache.set("a", entry(9));
  cache.set("b", entry(9));
  cache.get("a", 0);
  cache.set("c", entry(9));
  t.same(
    ["a", "b", "c"].map((name) => cache.get(name, 0) !== undefined),
    [true, false, true],
  );
  cache.set("c", entry(10));
  t.equal(cache.size, 2);
});

t.test("the digest tells tokens and resources apart", async (t) => {
  const resource = (url: string, ...audiences: string[]) => ({ url, audiences, metadataUrl: "" });
  const digests = [
    tokenDigest("t", { ...resource("u"), audiences: undefined }),
    tokenDigest("t", resource("u")),
    tokenDigest("t", resource("u", "u")),
    tokenDigest("t", resource("v", "u")),
    tokenDigest("t", resource("u", "a", "b")),
    tokenDigest("t", resource("u", "a,b")),
    tokenDigest("t", resource("u", 'a","b')),
    tokenDigest("x", resource("u", "u")),
  ];
  t.equal(new Set(digests).size, digests.length);
});
