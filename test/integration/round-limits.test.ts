/** How many rounds a call may take, and how long: judged before the user is asked, by the injected clock. */
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksAlways, asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const START = Date.UTC(2026, 10, 30);

async function open(t: Test, sections: Record<string, unknown>, script = asksAlways) {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, sections, { clock: START });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream };
}

const reason = async (gateway: TestGateway, state: string): Promise<unknown> =>
  (await gateway.call(retryOf(state))).json.error?.data.reason;

t.test("maxRounds: that many questions and not one more; ten retries fit at its least", async (t) => {
  const { gateway, upstream } = await open(t, { roundTrip: { maxRounds: 11 } });
  let state = stateOf(await gateway.call(TRANSFER));
  for (let retry = 1; retry <= 10; retry++) {
    state = stateOf(await gateway.call(retryOf(state)));
    t.equal(gateway.audit.at(-1)?.round, retry + 1);
  }
  const reply = await gateway.call(retryOf(state));
  t.match(reply, { status: 403, json: { error: { code: -32603, data: { reason: "round_limit" } } } });
  t.equal(reply.json.result, undefined, "nothing is asked in vain");
  t.equal(gateway.audit.at(-1)?.cause, "max_rounds");
  t.equal(upstream.arrived.length, 12, "the last answer did reach the server");
  const chains = new Set(gateway.audit.map(({ chain }) => chain));
  t.equal(chains.size, 1, "one call, one chain");
});

t.test("maxRounds counts per call", async (t) => {
  const { gateway } = await open(t, { roundTrip: { maxRounds: 11 } });
  for (let calls = 0; calls < 12; calls++) t.match(stateOf(await gateway.call(TRANSFER)), /^sg1\./);
});

t.test("the state does not grow with the rounds", async (t) => {
  const { gateway } = await open(t, {});
  let state = stateOf(await gateway.call(TRANSFER));
  const { length } = state;
  for (let retry = 1; retry <= 31; retry++) {
    state = stateOf(await gateway.call(retryOf(state)));
    t.ok(state.length - length <= 4, "but for the digits of the number");
  }
  t.equal(await reason(gateway, state), "round_limit", "the default is 32");
});

t.test("a state lives for envelope.ttl, to the second", async (t) => {
  for (const [after, expected] of [
    [59_000, undefined],
    [59_999, undefined],
    [60_000, "invalid_request_state"],
    [3_600_000, "invalid_request_state"],
  ] as const) {
    const { gateway, upstream } = await open(t, { envelope: { ttl: "1m" } }, asksOnce);
    const state = stateOf(await gateway.call(TRANSFER));
    gateway.clock.now += after;
    t.equal(await reason(gateway, state), expected, `${after} ms`);
    t.equal(upstream.arrived.length, expected === undefined ? 2 : 1);
    if (expected !== undefined) t.equal(gateway.audit.at(-1)?.cause, "expired");
  }
});

t.test("maxAge: a state never outlives its call, whatever its ttl", async (t) => {
  const sections = { envelope: { ttl: "1m" }, roundTrip: { maxAge: "90s" } };
  for (const [second, expected] of [
    [29_000, undefined],
    [30_000, "invalid_request_state"],
  ] as const) {
    const { gateway } = await open(t, sections);
    const first = stateOf(await gateway.call(TRANSFER));
    gateway.clock.now += 59_000;
    const later = stateOf(await gateway.call(retryOf(first)));
    // 59 s into a call of at most 90 s: this state lives for 31 s and not for a minute.
    gateway.clock.now += second + 1_000;
    t.equal(await reason(gateway, later), expected, `${second} ms`);
  }
});

t.test("maxAge: where no time is left, nobody is asked", async (t) => {
  const { gateway, upstream } = await open(t, { envelope: { ttl: "1m" }, roundTrip: { maxAge: "1m" } });
  const state = stateOf(await gateway.call(TRANSFER));
  // The server takes so long over its answer that the call's time is over.
  const slow = upstream.script;
  upstream.script = (arrived, response) => {
    gateway.clock.now += 2_000;
    return slow(arrived, response);
  };
  gateway.clock.now += 59_000;
  const reply = await gateway.call(retryOf(state));
  t.match(reply, { status: 403, json: { error: { data: { reason: "round_limit" } } } });
  t.equal(gateway.audit.at(-1)?.cause, "max_age");
});

t.test("a state from a clock that is ahead: to the second, and good when its time comes", async (t) => {
  for (const [sections, ahead, cause] of [
    [{}, 60_000, undefined],
    [{}, 61_000, "not_yet"],
    [{ envelope: { clockSkew: "0s" } }, 0, undefined],
    [{ envelope: { clockSkew: "0s" } }, 1_000, "not_yet"],
    [{ envelope: { clockSkew: "5m" } }, 300_000, undefined],
    [{ envelope: { clockSkew: "5m" } }, 301_000, "not_yet"],
  ] as const) {
    const { gateway, upstream } = await open(t, sections, asksOnce);
    gateway.clock.now += ahead;
    const state = stateOf(await gateway.call(TRANSFER));
    gateway.clock.now -= ahead;
    t.equal(await reason(gateway, state), cause && "invalid_request_state", `${ahead} ms`);
    t.equal(upstream.arrived.length, cause === undefined ? 2 : 1);
    if (cause === undefined) continue;
    t.equal(gateway.audit.at(-1)?.cause, cause);
    gateway.clock.now += ahead;
    t.equal(await reason(gateway, state), undefined);
  }
});
