import t from "tap";
import { createLimits } from "../../src/limits.ts";

t.test("slots are taken to the bound and given back once", async (t) => {
  const limits = createLimits({ inFlight: 2, streams: 1 });
  const first = limits.enter("request");
  const second = limits.enter("request");
  t.throws(() => limits.enter("request"), { code: "too_many_requests" });
  t.equal(limits.inFlight, 2, "a refused one takes no slot");
  first.leave();
  first.leave();
  t.equal(limits.inFlight, 1);
  const third = limits.enter("request");
  t.throws(() => limits.enter("request"), { code: "too_many_requests" }, "leaving twice frees one");
  for (const slot of [second, third]) slot.leave();
  t.equal(limits.inFlight, 0);
});

t.test("requests and streams have bounds of their own", async (t) => {
  const limits = createLimits({ inFlight: 1, streams: 1 });
  limits.enter("request");
  const stream = limits.enter("stream");
  t.throws(() => limits.enter("stream"), { code: "too_many_streams" });
  t.same([limits.inFlight, limits.streams], [1, 1]);
  stream.leave();
  t.same([limits.inFlight, limits.streams], [1, 0]);
});
