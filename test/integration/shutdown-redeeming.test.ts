/** A request that ends while its state is being redeemed: the state is good again, and nothing was sent. */
import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { startRelay } from "../support/relay.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

async function open(t: Test) {
  const redis = await ownRedis(t);
  const relay = await startRelay(t, redis.port);
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const folder = t.testdir({ key: randomBytes(32).toString("hex") });
  const sections = {
    redis: { url: `redis://127.0.0.1:${relay.port}` },
    redemption: { store: "redis" },
    keys: { primary: "k", ring: [{ id: "k", secret: { file: `${folder}/key` } }] },
  };
  const [first, second] = [
    await startGateway(upstream.url, sections),
    await startGateway(upstream.url, sections),
  ];
  t.teardown(() => Promise.all([first.close(0), second.close(0)]));
  // From here on Redis knows the script by its name.
  await first.call(retryOf(stateOf(await first.call(TRANSFER))));
  upstream.arrived.length = 0;
  first.audit.length = 0;
  return { redis, relay, first, second, acts: (): number => upstream.arrived.filter(isRetry).length };
}

/** Sends a retry that Redis does not answer; resolves when its redemption is on its way. */
async function stalled(
  { redis, relay, first }: Awaited<ReturnType<typeof open>>,
  state: string,
  signal?: AbortSignal,
): Promise<{ readonly reply: Promise<number | "cut"> }> {
  redis.pause();
  const arrived = new Promise<void>((resolve) => {
    relay.fate = (chunk) => {
      if (chunk.includes("sg:{")) resolve();
      return "pass";
    };
  });
  const reply = first
    .call(retryOf(state), signal === undefined ? {} : { signal })
    .then(({ status }) => status)
    .catch(() => "cut" as const);
  await arrived;
  return { reply };
}

/** That the state is redeemed in the end, and once. */
async function isGood(t: Test, gateway: TestGateway, state: string, acts: () => number): Promise<void> {
  await until(async () => {
    const { status, json } = await gateway.call(retryOf(state));
    // Until the release has been read, behind what else waits for Redis.
    const reason = json?.error?.data.reason;
    if (reason === "store_unavailable" || reason === "already_redeemed") return false;
    t.equal(status, 200, reason);
    return true;
  });
  t.equal(acts(), 1, "carried out once");
}

t.test("the process ends while Redis stands still", async (t) => {
  const place = await open(t);
  const { redis, first, second, acts } = place;
  const state = stateOf(await first.call(TRANSFER));
  const { reply } = await stalled(place, state);
  await first.close(0);
  redis.resume();
  // By its answer, what the first had sent has been carried out.
  await redis.command("PING");
  t.not(await reply, 200);
  await isGood(t, second, state, acts);
});

t.test("the process ends while the redemption is on its way, and Redis answers", async (t) => {
  const place = await open(t);
  const { redis, first, second, acts } = place;
  const state = stateOf(await first.call(TRANSFER));
  const { reply } = await stalled(place, state);
  const closed = first.close(0);
  // A timer that is set later ends later: by then the grace is over.
  await new Promise((resolve) => setTimeout(resolve, 5));
  redis.resume();
  await closed;
  t.not(await reply, 200);
  t.equal(acts(), 0, "nothing was sent");
  t.match(first.audit.at(-1), { state: "released" });
  await isGood(t, second, state, acts);
});

t.test("the grace is enough: it is carried out", async (t) => {
  const place = await open(t);
  const { redis, first, second, acts } = place;
  const state = stateOf(await first.call(TRANSFER));
  const { reply } = await stalled(place, state);
  const closed = first.close(10_000);
  redis.resume();
  t.equal(await reply, 200);
  await closed;
  t.equal((await second.call(retryOf(state))).json.error.data.reason, "already_redeemed");
  t.equal(acts(), 1);
});

t.test("the client leaves while Redis stands still", async (t) => {
  const place = await open(t);
  const { redis, first, acts } = place;
  const state = stateOf(await first.call(TRANSFER));
  const leaving = new AbortController();
  const { reply } = await stalled(place, state, leaving.signal);
  leaving.abort();
  t.equal(await reply, "cut");
  redis.resume();
  await until(() => first.audit.length === 2);
  t.match(first.audit.at(-1), { outcome: "cancelled", state: "released" });
  t.equal(acts(), 0);
  await isGood(t, first, state, acts);
});
