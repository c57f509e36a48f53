/**
 * A rolling update with the manifests' order of things, on processes: a new pod is ready before an old one goes; the old one
 * leaves the endpoints while requests run on it, gets the signal after preStop, and drains. No round is lost.
 */
import t from "tap";
import { type Message, meta } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { openStream } from "../support/open-stream.ts";
import { CONTAINER, type Pod, startPod } from "../support/pod.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";
import { type Sender, startTraffic } from "./traffic.ts";

const PASSWORD = "correct-horse-4711";
const KEYS = { first: "k".repeat(43) };
const SLOW: Message = { method: "tools/call", params: { name: "slow", arguments: {} } };
const PROGRESS =
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';

const held = holding();
/** `slow` waits for the test, everything else asks once and acts. */
const script: Script = (arrived, response) =>
  arrived.json?.params?.name === "slow" ? held.script(arrived, response) : asksOnce(arrived, response);
const redis = { ...(await ownRedis(t, ["--requirepass", PASSWORD])), password: PASSWORD };
const upstream = await startUpstream(script);
const issuer = await startIssuer();
t.teardown(() => upstream.close());
t.teardown(() => issuer.close());

let nextId = 1;
const call = (pod: Sender, message: Message) => pod.send(message, textOf(String(nextId++), message));
const READY: string = CONTAINER.readinessProbe.httpGet.path;
const isReady = async (pod: Pod): Promise<boolean> => (await pod.probe(READY)).status === 200;

/** A pod that its readiness probe has found ready, and that knows the store's epoch. */
async function openPod(): Promise<Pod> {
  const pod = await startPod(t, { redis, issuer, upstream }, KEYS);
  await until(async () => (await isReady(pod)) && (await pod.probe(READY)).json.store === "ok");
  return pod;
}

/** The endpoints of the Service, and how it spreads requests over them. */
const endpoints = new Set(await Promise.all([openPod(), openPod()]));
const pick = (turn: number): Pod => [...endpoints][turn % endpoints.size] as Pod;

t.test("two pods are replaced one by one: no round is lost, streams come to their end", async (t) => {
  const old = [...endpoints];
  const traffic = startTraffic((turn, client, half) => pick(turn + client + half), {
    clients: 3,
    enough: 6,
    pause: 20,
  });
  t.teardown(() => traffic.stop());
  await traffic.more();
  // Questions that people think about during the whole update.
  const slow = await Promise.all(old.map(async (pod) => stateOf(await call(pod, TRANSFER))));

  for (const pod of old) {
    endpoints.add(await openPod());
    const running = call(pod, SLOW);
    const plain = await held.next();
    const message = { ...SLOW, params: { ...SLOW.params, _meta: { ...meta(), progressToken: 1 } } };
    const opened = openStream(pod.url, {
      headers: pod.headers(message),
      body: textOf(String(nextId++), message),
    });
    const streamed = await held.next();
    streamed.response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${PROGRESS}\n\n`);
    const stream = await opened;
    await stream.until("notifications/progress");

    endpoints.delete(pod);
    // What preStop's sleep stands for: whatever was on its way here has come.
    await traffic.settle();
    t.ok(await isReady(pod), "still serving");
    pod.process.kill("SIGTERM");
    await until(async () => !(await isReady(pod)));
    t.match(await pod.probe(READY), { status: 503, json: { status: "draining" } });
    t.match(
      await call(pod, TRANSFER),
      { status: 503, json: { error: { data: { reason: "shutting_down" } } } },
      "not ready before the listener closes: it still answers",
    );
    t.equal((await pod.probe(CONTAINER.livenessProbe.httpGet.path)).status, 200, "and lives");
    await traffic.more();
    plain.response.writeHead(200, { "content-type": "application/json" });
    plain.response.end(`{"jsonrpc":"2.0","id":${plain.arrived.json.id},"result":${DONE}}`);
    streamed.response.end(`data: {"jsonrpc":"2.0","id":${streamed.arrived.json.id},"result":${DONE}}\n\n`);
    t.match(await running, { status: 200, json: { result: JSON.parse(DONE) } });
    t.match(await stream.ended, /"text":"done"/);
    t.equal(await pod.process.ended, 0, "drained");
    await traffic.more();
  }

  for (const state of slow) t.equal((await call(pick(0), retryOf(state))).status, 200, "open since before");
  await traffic.stop();
  t.same(traffic.seen.losses, []);
  t.ok(traffic.seen.done >= 30);
});

t.test("without preStop requests meet a pod that is leaving, yet no state is spent by that", async (t) => {
  const [leaving, staying] = [pick(0), pick(1)];
  const state = stateOf(await call(leaving, TRANSFER));
  // Something that runs keeps it from ending.
  const running = call(leaving, SLOW);
  const { response } = await held.next();
  leaving.process.kill("SIGTERM");
  await until(async () => !(await isReady(leaving)));
  const refused = await call(leaving, retryOf(state));
  t.match(refused, { status: 503, json: { error: { data: { reason: "shutting_down" } } } });
  t.equal((await call(staying, retryOf(state))).status, 200, "the same answer counts on another");
  response.destroy();
  await running;
  t.equal(await leaving.process.ended, 0);
});
