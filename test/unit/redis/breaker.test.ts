import t from "tap";
import { Breaker } from "../../../src/redis/breaker.ts";

t.test("three misses in a row open it, and only the third says so", async (t) => {
  const breaker = new Breaker();
  t.same([breaker.miss(), breaker.open, breaker.miss(), breaker.open], [false, false, false, false]);
  t.same([breaker.miss(), breaker.open], [true, true]);
  t.same([breaker.miss(), breaker.open], [false, true], "it is open already");
});

t.test("an answer closes it, and misses count anew", async (t) => {
  const breaker = new Breaker();
  breaker.miss();
  breaker.miss();
  breaker.reset();
  t.same([breaker.miss(), breaker.miss(), breaker.open], [false, false, false], "not in a row");
  t.ok(breaker.miss());
  breaker.reset();
  t.notOk(breaker.open);
});
