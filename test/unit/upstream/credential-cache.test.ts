/** The cache of made credentials: one is made at a time, none outlives its time, a refusal is remembered for a moment. */
import t from "tap";
import { Refusal, type RefusalCode } from "../../../src/errors.ts";
import { CredentialCache } from "../../../src/upstream/credential-cache.ts";
import type { Credential } from "../../../src/upstream/credentials.ts";

const credential = (value: string): Credential => ({ header: "authorization", value });

t.test("kept until its time, and not a moment longer", async (t) => {
  let now = 1_000;
  const cache = new CredentialCache(4, () => now);
  const one = credential("one");
  t.equal(await cache.make("a", async () => ({ credential: one, until: 2_000 })), one);
  t.equal(cache.get("a"), one);
  t.equal(cache.get("b"), undefined);
  now = 1_999;
  t.equal(cache.get("a"), one);
  now = 2_000;
  t.equal(cache.get("a"), undefined);
  t.equal(cache.size, 0);
});

t.test("a clock that goes backwards makes it old", async (t) => {
  let now = 1_000_000;
  const cache = new CredentialCache(4, () => now);
  await cache.make("a", async () => ({ credential: credential("x"), until: 1_000_500 }));
  now = 999_999;
  t.equal(cache.get("a"), undefined);
});

t.test("what is past already goes to those who wait, and is not kept", async (t) => {
  const cache = new CredentialCache(4, () => 1_000);
  const one = credential("one");
  t.equal(await cache.make("a", async () => ({ credential: one, until: 1_000 })), one);
  t.equal(cache.get("a"), undefined);
});

t.test("many who wait for one name cause one to be made; another name has its own", async (t) => {
  const cache = new CredentialCache(4, () => 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  let made = 0;
  const make = async () => {
    made += 1;
    await promise;
    return { credential: credential(String(made)), until: 10 };
  };
  const all = [...Array(50)].map(() => cache.make("a", make));
  const other = cache.make("b", make);
  t.equal(made, 2);
  resolve();
  t.equal(new Set(await Promise.all(all)).size, 1);
  t.not(await other, await all[0]);
});

t.test(
  "a fault is not kept; a refusal is for five seconds, an outage for one, for that name alone",
  async (t) => {
    let now = 0;
    const cache = new CredentialCache(4, () => now);
    const failing = (code: RefusalCode) => async () => {
      throw new Refusal(code, "x");
    };
    await t.rejects(cache.make("a", failing("credential_fault")));
    t.equal(cache.get("a"), undefined);
    for (const [code, ms] of [
      ["credential_refused", 5_000],
      ["credential_unavailable", 1_000],
    ] as const) {
      const from = now;
      await t.rejects(cache.make("a", failing(code)));
      t.throws(() => cache.get("a"), { code });
      t.equal(cache.get("b"), undefined, "nobody else");
      now = from + ms - 1;
      t.throws(() => cache.get("a"));
      now = from + ms;
      t.equal(cache.get("a"), undefined);
    }
    t.equal((await cache.make("a", async () => ({ credential: credential("x"), until: 9_000 }))).value, "x");
    t.equal(cache.get("a")?.value, "x");
  },
);

t.test("bounded: the one that was used least recently goes", async (t) => {
  const cache = new CredentialCache(2, () => 0);
  for (const name of ["a", "b"])
    await cache.make(name, async () => ({ credential: credential(name), until: 9 }));
  cache.get("a");
  await cache.make("c", async () => ({ credential: credential("c"), until: 9 }));
  t.same(
    ["a", "b", "c"].map((name) => cache.get(name)?.value),
    ["a", undefined, "c"],
  );
});

t.test("dropped is dropped, and not what has taken its place", async (t) => {
  const cache = new CredentialCache(4, () => 0);
  const [old, fresh] = [credential("old"), credential("fresh")];
  await cache.make("a", async () => ({ credential: old, until: 9 }));
  t.equal(cache.drop(old), true);
  t.equal(cache.get("a"), undefined);
  t.equal(cache.drop(old), false);
  await cache.make("a", async () => ({ credential: fresh, until: 9 }));
  t.equal(cache.drop(old), false);
  t.equal(cache.get("a"), fresh);
  t.equal(cache.drop(credential("fresh")), false, "one that was never handed out here");
});
