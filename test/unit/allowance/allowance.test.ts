import t from "tap";
import { Allowances } from "../../../src/allowance/allowance.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";

const exp = Math.floor(Date.now() / 1000) + 600;
const HOUR = 3_600_000;

t.test("nothing is kept for a route without limits", async (t) => {
  const all = new Allowances(undefined, Date.now);
  t.equal(all.of({}, "/mcp", ANONYMOUS, "192.0.2.1"), undefined);
});

t.test("a request is counted once, however often it is let in", async (t) => {
  const all = new Allowances(undefined, Date.now);
  const limits = { requests: { points: 2, per: HOUR } };
  const one = () => all.of(limits, "/mcp", ANONYMOUS, "192.0.2.1");
  const first = one();
  await first?.admit("request", true);
  await first?.admit("request", true);
  first?.settle({ outcome: "complete" });
  await one()?.admit("request", true);
  await t.rejects(one()?.admit("request", true) ?? Promise.resolve(), { code: "rate_limited" });
});

t.test("what a retry comes to decides whether it counts", async (t) => {
  const counts = async (draft: Parameters<NonNullable<ReturnType<Allowances["of"]>>["settle"]>[0]) => {
    const all = new Allowances(undefined, Date.now);
    const one = () => all.of({ requests: { points: 1, per: HOUR } }, "/mcp", ANONYMOUS, "192.0.2.1");
    const retry = one();
    await retry?.admit("retry", true);
    retry?.settle(draft);
    return (await one()
      ?.admit("request", true)
      .then(
        () => false,
        () => true,
      )) as boolean;
  };
  for (const [draft, expected] of [
    [{ outcome: "complete", state: "redeemed" }, false],
    [{ outcome: "refused", code: "upstream_fault", state: "redeemed" }, false],
    [{ outcome: "refused", code: "upstream_unreachable", state: "released" }, false],
    [{ outcome: "refused", code: "store_unavailable", state: "opened" }, false],
    [{ outcome: "refused", code: "shutting_down" }, false],
    [{ outcome: "refused", code: "too_many_requests" }, false],
    [{ outcome: "refused", code: "approval_pending", state: "opened" }, false],
    [{ outcome: "refused", code: "already_redeemed", state: "already_redeemed" }, true],
    [{ outcome: "refused", code: "invalid_request_state", state: "rejected" }, true],
    [{ outcome: "refused", code: "invalid_input_responses", state: "opened" }, true],
    [{ outcome: "complete", state: "repeated" }, true],
    [{ outcome: "cancelled", state: "opened" }, true],
    [{ outcome: "cancelled", state: "redeemed" }, false],
  ] as const)
    t.equal(await counts(draft), expected, JSON.stringify(draft));
});

t.test(
  "who waits for the approval of others, and asks more often than the limit, is told to stop asking",
  async (t) => {
    const all = new Allowances(undefined, Date.now);
    const one = () => all.of({ requests: { points: 3, per: HOUR } }, "/mcp", ANONYMOUS, "192.0.2.1");
    const wait = async (): Promise<void> => {
      const retry = one();
      await retry?.admit("retry", true);
      retry?.settle({ outcome: "refused", code: "approval_pending", state: "opened" });
    };
    for (let i = 0; i < 3; i++) await wait();
    await t.rejects(wait(), { code: "rate_limited", detail: "caller_retries" });
    await one()?.admit("request", true);
    t.pass("other calls go on");
  },
);

t.test("who has gone before being counted leaves nothing behind", async (t) => {
  const all = new Allowances(undefined, Date.now);
  const limits = { openRounds: 2, concurrent: 1 };
  const gone = all.of(limits, "/mcp", ANONYMOUS, "192.0.2.1");
  const slot = gone?.enter("request");
  t.equal(all.places.size, 1);
  slot?.leave();
  slot?.leave();
  gone?.end();
  await gone?.admit("request", true);
  t.equal(all.places.size, 0);
  t.equal(all.counts.rounds.watched, 0);
  const here = all.of(limits, "/mcp", ANONYMOUS, "192.0.2.1");
  await here?.admit("request", true);
  t.equal(all.counts.rounds.watched, 1);
  here?.openRound({ chain: "x", exp }, true);
  here?.end();
  t.equal(all.counts.rounds.watched, 0);
});

t.test("places are given back to the bound of their kind", async (t) => {
  const all = new Allowances(undefined, Date.now);
  const one = (address: string) => all.of({ concurrent: 2, streams: 1 }, "/mcp", ANONYMOUS, address);
  const a = one("192.0.2.1");
  const slots = [a?.enter("request"), one("192.0.2.1")?.enter("request")];
  t.throws(() => a?.enter("request"), { code: "concurrency_limited" });
  t.ok(a?.enter("body"), "bodies that are read have as many places");
  t.ok(a?.enter("stream"));
  t.throws(() => a?.enter("stream"), { code: "streams_limited" });
  t.ok(one("192.0.2.2")?.enter("request"), "another caller");
  slots[0]?.leave();
  slots[0]?.leave();
  t.ok(a?.enter("request"));
  t.throws(() => a?.enter("request"), { code: "concurrency_limited" }, "leaving twice frees one");
});
