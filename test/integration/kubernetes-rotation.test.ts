/**
 * Keys are rotated by a Secret and a ConfigMap while rounds are open, on processes with the mounts of the manifests: each
 * pod's kubelet swaps its links when it gets to it. docs/kubernetes.md tells operators these steps.
 */
import t, { type Test } from "tap";
import { startIssuer } from "../support/issuer.ts";
import { type Pod, startPod } from "../support/pod.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce } from "./rounds.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

const PASSWORD = "correct-horse-4711";
const ENOUGH = 8;
const secret = (name: string): string => `a secret of a test, ${name}, and long enough`;
const [first, second, third, fourth] = [secret("first"), secret("second"), secret("third"), secret("fourth")];
const PAST = "2020-01-01T00:00:00Z";
const FUTURE = "2099-01-01T00:00:00Z";

const redis = { ...(await ownRedis(t, ["--requirepass", PASSWORD])), password: PASSWORD };
const upstream = await startUpstream(asksOnce);
const issuer = await startIssuer();
t.teardown(() => upstream.close());
t.teardown(() => issuer.close());

const pods = await Promise.all([1, 2, 3].map(() => startPod(t, { redis, issuer, upstream }, { first })));
const [one, two, three] = pods as [Pod, Pod, Pod];

/** Rounds that are sealed by one pod and redeemed by another; few, since each pod is a process. */
function startRounds(t: Test): Traffic {
  const pick = (turn: number, client: number, half: number): Pod =>
    pods[(turn + half * (1 + (client % 2))) % pods.length] as Pod;
  const traffic = startTraffic(pick, { clients: 3, enough: ENOUGH, pause: 20 });
  t.teardown(() => traffic.stop());
  return traffic;
}

t.before(async () => {
  for (const pod of pods) await until(async () => (await pod.probe("/readyz")).json.store === "ok");
});

/** Waits until a pod's metrics show a ring: `first seals`, `second`. */
const shows = (pod: Pod, ...ring: string[]): Promise<void> =>
  until(async () => {
    const { body } = await pod.probe("/metrics");
    const shown = [...body.matchAll(/^sealgate_keys\{id="([^"]+)",key_id="[^"]+"\} (\d)$/gm)];
    return shown.map(([, id, seals]) => (seals === "1" ? `${id} seals` : id)).join() === ring.join();
  });
const refusedReload = (pod: Pod): Promise<void> =>
  until(async () => /^sealgate_reload_successful 0$/m.test((await pod.probe("/metrics")).body));
const causes = (): Set<unknown> =>
  new Set(pods.flatMap(({ process }) => process.lines.flatMap(({ cause }) => cause ?? [])));

t.test("add by the Secret, promote by the ConfigMap, remove by the Secret: no round is lost", async (t) => {
  const traffic = startRounds(t);
  await traffic.more();
  const everywhere = async (step: (pod: Pod) => Promise<void>, ...ring: string[]): Promise<void> => {
    for (const pod of pods) {
      await step(pod);
      await shows(pod, ...ring);
      await traffic.more();
    }
  };
  await everywhere((pod) => pod.keys.update({ first, second }), "first seals", "second");
  await everywhere((pod) => pod.configure({ primary: "second" }), "first", "second seals");
  await traffic.settle();
  await everywhere((pod) => pod.keys.update({ second }), "second seals");
  await traffic.stop();
  t.same(traffic.seen.losses, []);
  t.ok(traffic.seen.done >= 9 * ENOUGH);
  t.equal(traffic.seen.keyIds.size, 2, "both keys have sealed");
  t.same(causes(), new Set());
});

t.test("keys.next: in whichever order a kubelet brings Secret and ConfigMap, no round is lost", async (t) => {
  const traffic = startRounds(t);
  const next = (pod: Pod, notBefore: string) =>
    pod.configure({ primary: "second", next: { id: "third", notBefore } });

  await next(one, FUTURE);
  await refusedReload(one);
  t.match(await one.process.line(({ problems }) => problems !== undefined), {
    problems: [/keys\.next\.id: .*keys\.folder/],
  });
  await shows(one, "second seals");
  await two.keys.update({ second, third });
  await shows(two, "second seals", "third");
  await traffic.more();
  await one.keys.update({ second, third });
  await shows(one, "second seals", "third");
  await next(two, FUTURE);
  await traffic.more();
  await shows(three, "second seals");

  await three.keys.update({ second, third });
  await next(three, FUTURE);
  await shows(three, "second seals", "third");
  for (const pod of pods) {
    await next(pod, PAST);
    await shows(pod, "second", "third seals");
    await traffic.more();
  }
  await traffic.stop();
  t.same(traffic.seen.losses, []);
  t.equal(traffic.seen.keyIds.size, 2);
  t.same(causes(), new Set());
});

t.test("a notBefore that a kubelet is too late for loses rounds, until it has come", async (t) => {
  const traffic = startRounds(t);
  await traffic.more();
  t.same(traffic.seen.losses, []);
  await one.keys.update({ second, third, fourth });
  await one.configure({ primary: "third", next: { id: "fourth", notBefore: PAST } });
  await shows(one, "fourth seals", "second", "third");
  await until(() => traffic.seen.lost > 0);
  await until(() => causes().size > 0);
  t.same(causes(), new Set(["unknown_key"]), "the others do not know the key that seals");
  for (const pod of [two, three]) {
    await pod.keys.update({ second, third, fourth });
    await shows(pod, "fourth", "second", "third seals");
  }
  await traffic.settle();
  const { lost } = traffic.seen;
  await traffic.more();
  t.equal(traffic.seen.lost, lost, "none any more");
  await traffic.stop();
});
