import t from "tap";
import { layOut } from "../../../src/redemption/layout.ts";
import { MAX_LEEWAY_SECONDS } from "../../../src/redemption/store.ts";
import { slotOf } from "../../../src/redis/slots.ts";

const jtiOf = (first: number) => Buffer.concat([Buffer.of(first), Buffer.alloc(15, 7)]).toString("base64url");

t.test("a bucket is the first byte of a jti, and a mark is never shorter than its state", async (t) => {
  const { place } = layOut("sg:", false);
  for (const first of [0, 1, 15, 16, 200, 255]) {
    const jti = jtiOf(first);
    const hex = first.toString(16).padStart(2, "0");
    t.match(place({ jti, exp: 1_800_000_000 }), { key: `sg:{${hex}}:30000000` });
  }
  for (const exp of [0, 1, 59, 60, 61, 1_800_000_000, 1_800_000_001, 1_800_000_059]) {
    const { until } = place({ jti: "a", exp });
    const needed = (exp + MAX_LEEWAY_SECONDS) * 1000;
    t.ok(until >= needed && until < needed + 60_000, String(exp));
  }
});

t.test("one epoch on one server, 256 in a Cluster, each in the slot of its marks", async (t) => {
  t.same(layOut("sg:", false).epochs, ["sg:epoch"]);
  t.equal(layOut("sg:", false).epochOf("any"), "sg:epoch");
  const layout = layOut("sg:", true);
  t.equal(new Set(layout.epochs).size, 256);
  for (let first = 0; first < 256; first++) {
    const jti = jtiOf(first);
    const epoch = layout.epochOf(jti);
    t.ok(layout.epochs.includes(epoch));
    t.equal(slotOf(epoch), slotOf(layout.place({ jti, exp: 1_800_000_000 }).key));
  }
  t.ok(new Set(layout.epochs.map(slotOf)).size > 250, "they are spread over the slots");
});

t.test("a text that is no jti has a place all the same", async (t) => {
  for (const jti of ["", "é", "{a}", "🦭", "\0"]) {
    const { key } = layOut("sg:", true).place({ jti, exp: 60 });
    t.match(key, /^sg:\{[0-9a-f]{2}\}:1$/, jti);
  }
});
