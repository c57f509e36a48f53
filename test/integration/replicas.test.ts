/** Two processes and one Redis: a state is redeemed once, wherever it was sealed and wherever it comes back. */
import { Redis } from "ioredis";
import t from "tap";
import { exchange, type Message, mirrored, type Reply } from "../support/gateway.ts";
import { type GatewayProcess, startProcess } from "../support/process.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, INNER, isRetry, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const PASSWORD = "correct-horse-4711";
const RETRIES = 50;

const redis = await ownRedis(t, ["--requirepass", PASSWORD]);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const folder = t.testdir({ key: "k".repeat(43), password: `${PASSWORD}\n` });
const sections = {
  keys: { primary: "k", ring: [{ id: "k", secret: { file: `${folder}/key` } }] },
  redis: { url: redis.url, password: { file: `${folder}/password` } },
  redemption: { store: "redis" },
  admin: { listen: "127.0.0.1:0", readiness: { store: "required" } },
  routes: [{ path: "/mcp", upstream: { url: upstream.url } }],
};
const [a, b] = await Promise.all([1, 2].map(() => startProcess(t, sections, { replicas: 2 })));
if (a === undefined || b === undefined) throw new Error("no replicas");

const ready = async (gateway: GatewayProcess): Promise<boolean> =>
  (await exchange(gateway.adminUrl ?? "", { path: "/readyz", method: "GET" })).status === 200;
const bothReady = () => until(async () => (await ready(a)) && (await ready(b)));
let nextId = 1;
const call = (gateway: GatewayProcess, message: Message): Promise<Reply> =>
  exchange(gateway.url, { headers: mirrored(message), body: textOf(String(nextId++), message) });
const ups = (): number => upstream.arrived.filter(isRetry).length;
const reasonOf = ({ json }: Reply): unknown => json.error?.data.reason;

t.before(bothReady);

t.test("a state sealed by one is redeemed on the other, and then on neither", async (t) => {
  const state = stateOf(await call(a, TRANSFER));
  t.match(await call(b, retryOf(state)), { status: 200, json: { result: JSON.parse(DONE) } });
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
  const before = ups();
  for (const gateway of [a, b]) t.equal(reasonOf(await call(gateway, retryOf(state))), "already_redeemed");
  t.equal(ups(), before);
});

t.test(`${RETRIES} redemptions at once over both: exactly one reaches the upstream`, async (t) => {
  const state = stateOf(await call(a, TRANSFER));
  const before = ups();
  const replies = await Promise.all(
    Array.from({ length: RETRIES }, (_, index) => call(index % 2 === 0 ? a : b, retryOf(state))),
  );
  t.equal(ups(), before + 1);
  t.equal(replies.filter(({ json }) => json.result !== undefined).length, 1);
  t.equal(replies.filter((reply) => reasonOf(reply) === "already_redeemed").length, RETRIES - 1);
});

t.test("after FLUSHALL no state of before is good, on either; states of after are", async (t) => {
  const unspent = stateOf(await call(a, TRANSFER));
  const spent = stateOf(await call(b, TRANSFER));
  await call(a, retryOf(spent));
  const before = ups();
  await flush();
  for (const state of [unspent, spent]) {
    for (const gateway of [a, b, a]) {
      const reply = await call(gateway, retryOf(state));
      t.match(reply, { status: 400, json: { error: { code: -32602 } } });
      t.equal(reasonOf(reply), "outcome_unknown");
    }
  }
  t.equal(ups(), before);
  // Both seal under the new epoch once they have read it: at once where they redeemed, within a second elsewhere.
  await until(async () => reasonOf(await call(b, retryOf(stateOf(await call(a, TRANSFER))))) === undefined);
  await until(async () => reasonOf(await call(a, retryOf(stateOf(await call(b, TRANSFER))))) === undefined);
});

t.test("Redis away: 503 and nothing spent, everything else works; Redis back: it is redeemed", async (t) => {
  const state = stateOf(await call(a, TRANSFER));
  const before = ups();
  redis.pause();
  const replies = await Promise.all([a, b].map((gateway) => call(gateway, retryOf(state))));
  for (const reply of replies) {
    t.match(reply, { status: 503, headers: { "retry-after": "2" } });
    t.equal(reasonOf(reply), "store_unavailable");
    t.notMatch(reply.body, /127\.0\.0\.1|ECONN|redis/i);
  }
  t.equal(ups(), before);
  t.equal((await call(a, { method: "tools/list" })).status, 200, "what needs no store works");
  t.match(stateOf(await call(a, TRANSFER)), /^sg1\./, "sealing goes on under the last known epoch");
  redis.resume();
  await bothReady();
  await until(async () => (await call(b, retryOf(state))).status === 200);
  t.equal(ups(), before + 1);
  t.equal(reasonOf(await call(a, retryOf(state))), "already_redeemed");
});

t.test("Redis stopped and started empty: 503, then outcome unknown, never a second run", async (t) => {
  const state = stateOf(await call(a, TRANSFER));
  const before = ups();
  await redis.stop();
  for (const gateway of [a, b]) t.equal(reasonOf(await call(gateway, retryOf(state))), "store_unavailable");
  await redis.start();
  await bothReady();
  for (const gateway of [a, b]) t.equal(reasonOf(await call(gateway, retryOf(state))), "outcome_unknown");
  t.equal(ups(), before);
  await until(async () => reasonOf(await call(b, retryOf(stateOf(await call(a, TRANSFER))))) === undefined);
});

t.test("neither wrote the password, a state or a secret anywhere", async (t) => {
  const written = JSON.stringify([a.lines, b.lines]);
  for (const secret of [PASSWORD, INNER, "k".repeat(43), "sg1."]) t.notOk(written.includes(secret), secret);
});

/** FLUSHALL with the password, which `redis.command` does not send. */
async function flush(): Promise<void> {
  const client = new Redis({ host: "127.0.0.1", port: redis.port, password: PASSWORD });
  await client.flushall();
  client.disconnect();
}
