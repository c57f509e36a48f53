/**
 * Keys are rotated under load on three replicas with one Redis: in order no round is lost, promoted first some are.
 * Rounds are sealed on one replica and redeemed on another, all the time; each step reaches one replica after the other.
 */
import { copyFileSync, unlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openCommands } from "../support/commands.ts";
import { PUBLIC_URL } from "../support/gateway.ts";
import { anyRedis } from "../support/redis.ts";
import { type Replica, startReplica } from "../support/replica.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";
import { ENOUGH, startTraffic, type Traffic } from "./traffic.ts";

/** The commands of this test get the processor between rounds. */
const PACE = { pause: 10 };
const secret = (name: string): string => `a secret of a test, ${name}, and long enough`;

const redis = await anyRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());

const run = openCommands(t);

/** Runs the program; gives what it printed. @throws Error with its exit code as `code` */
async function sealgate(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, out, err } = await run(args);
  if (code !== 0) throw Object.assign(new Error(err), { code });
  return { stdout: out, stderr: err };
}

async function openReplicas(t: Test): Promise<[Replica, Replica, Replica]> {
  const sections = {
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], replicas: 3 },
    redis: { url: redis.url, keyPrefix: redis.keyPrefix },
    routes: [{ path: "/mcp", upstream: { url: upstream.url } }],
    keys: { primary: "first", folder: "keys" },
  };
  const open = () => startReplica(t, sections, { "keys/first": secret("first") });
  const replicas = await Promise.all([open(), open(), open()]);
  for (const replica of replicas)
    await until(async () => (await replica.metric("sealgate_store_available")) === 1);
  // No state is promised before the store's epoch was read.
  for (const replica of replicas) await until(async () => (await ask(replica)).status === 200);
  return replicas as [Replica, Replica, Replica];
}

let nextId = 1;
const ask = (replica: Replica) => replica.send(TRANSFER, textOf(String(nextId++), TRANSFER));
const answer = (replica: Replica, state: string) => {
  const message = retryOf(state);
  return replica.send(message, textOf(String(nextId++), message));
};

/** Rounds that are sealed on one replica and redeemed on another. */
const startRounds = (replicas: readonly Replica[]) =>
  startTraffic((turn, client, half) => {
    const replica = replicas[(turn + half * (1 + (client % 2))) % replicas.length];
    if (replica === undefined) throw new Error("no replica");
    return replica;
  }, PACE);

const shows = (replica: Replica, ...expected: string[]): Promise<void> =>
  until(async () => {
    const shown = (await replica.ring()).map(({ id, seals }) => (seals ? `${id} seals` : id));
    return shown.join() === expected.join();
  });

/** Brings a step to one replica after the other, with traffic before, between and after. */
async function everywhere(
  replicas: readonly Replica[],
  traffic: Traffic,
  step: (replica: Replica) => Promise<unknown>,
  ...ring: string[]
): Promise<void> {
  for (const replica of replicas) {
    await step(replica);
    await shows(replica, ...ring);
    await traffic.more();
  }
}

t.test("add, promote, remove, twice, by hand and by command: no round is lost", async (t) => {
  const replicas = await openReplicas(t);
  const [one, two, three] = replicas;
  const traffic = startRounds(replicas);
  await traffic.more();

  // By hand: files and the primary.
  const slow = await Promise.all(replicas.map(async (replica) => stateOf(await ask(replica))));
  await everywhere(replicas, traffic, (r) => r.put("keys/second", secret("second")), "first seals", "second");
  const promote = (r: Replica) => r.configure({ keys: { primary: "second", folder: "keys" } });
  await everywhere(replicas, traffic, promote, "first", "second seals");
  for (const [index, state] of slow.entries()) {
    t.equal(
      (await answer([two, three, one][index] ?? one, state)).status,
      200,
      "open since before the rotation",
    );
  }
  await traffic.settle();
  const remove = async (r: Replica) => unlinkSync(join(r.folder, "keys/first"));
  await everywhere(replicas, traffic, remove, "second seals");

  // By command: it makes the secret on one replica, and edits each.
  const rotate = (r: Replica, step: string, id: string) =>
    sealgate("keys", "rotate", "--config", r.file, "--step", step, "--id", id);
  await rotate(one, "add", "third");
  const give = async (r: Replica): Promise<void> => {
    if (r !== one) copyFileSync(join(one.folder, "keys/third"), join(r.folder, "keys/third"));
  };
  await everywhere(replicas, traffic, give, "second seals", "third");
  await everywhere(replicas, traffic, (r) => rotate(r, "promote", "third"), "second", "third seals");
  await traffic.settle();
  await t.rejects(rotate(one, "remove", "second"), { code: 75 }, "not before envelope.ttl is over");
  for (const { file } of replicas) utimesSync(file, Date.now() / 1000 - 601, Date.now() / 1000 - 601);
  await everywhere(replicas, traffic, (r) => rotate(r, "remove", "second"), "third seals");

  await traffic.stop();
  t.equal(traffic.seen.lost, 0, `none lost of ${traffic.seen.done}`);
  t.ok(traffic.seen.done >= 18 * ENOUGH);
  t.equal(traffic.seen.keyIds.size, 3, "three keys have sealed");
  const refused = replicas.flatMap(({ audit }) => audit.filter(({ outcome }) => outcome === "refused"));
  t.same(refused, []);
  for (const replica of replicas) {
    t.same(replica.lines("this step of a key rotation loses open rounds"), []);
    t.equal(replica.lines("keys in force").length, 7, "the start and six steps");
  }
});

t.test("promoted first: rounds are lost, and the gateway and check say why", async (t) => {
  const replicas = await openReplicas(t);
  const [one] = replicas;
  for (const { folder } of replicas) utimesSync(join(folder, "keys/first"), 1, 1);
  copyFileSync(one.file, `${one.file}.before`);
  const traffic = startRounds(replicas);
  await traffic.more();
  t.equal(traffic.seen.lost, 0);

  const promote = { keys: { primary: "second", folder: "keys" } };
  // In this order one reading takes up both: a primary without its key is not taken up.
  await one.configure(promote);
  await one.put("keys/second", secret("second"));
  await shows(one, "first", "second seals");
  await traffic.more();
  t.ok(traffic.seen.lost > 0, "the others do not know the key yet");
  const causes = replicas.flatMap(({ audit }) => audit.flatMap(({ cause }) => cause ?? []));
  t.same(new Set(causes), new Set(["unknown_key"]));
  t.match(one.lines("this step of a key rotation loses open rounds"), [
    { fault: /was not in the ring before/ },
  ]);
  const { stderr } = await sealgate("check", "--config", one.file);
  t.match(
    stderr,
    /^warning: .* keys\.primary: is a key that was written 0 minutes ago: a replica that does not have it/m,
  );

  for (const replica of replicas.slice(1)) await replica.put("keys/second", secret("second"));
  for (const replica of replicas.slice(1)) await shows(replica, "first seals", "second");
  await traffic.settle();
  const { lost } = traffic.seen;
  await traffic.more();
  t.equal(traffic.seen.lost, lost, "none any more, once all have it");
  await traffic.stop();
});

t.test("check compares with the configuration in force", async (t) => {
  const entries = (...ids: string[]): string =>
    ids.map((id) => `{ id: ${id}, secret: { file: ${id} } }`).join(", ");
  const config = (primary: string, ...ids: string[]): string => `version: 1
server: { replicas: 3 }
redis: { url: "redis://127.0.0.1" }
authentication: { mode: anonymous }
authorization: { policies: [{ id: all, effect: allow }] }
keys: { primary: ${primary}, ring: [${entries(...ids)}] }
routes: [{ path: /mcp, upstream: { url: "http://127.0.0.1:3001/mcp" } }]
`;
  const folder = t.testdir({
    a: secret("a"),
    b: secret("b"),
    "1.yaml": config("a", "a"),
    "2.yaml": config("a", "a", "b"),
    "3.yaml": config("b", "a", "b"),
    "4.yaml": config("b", "b"),
  });
  for (const name of ["a", "b"]) utimesSync(join(folder, name), 1, 1);
  const warned = async (previous: number, next: number): Promise<string[]> => {
    const file = (number: number): string => join(folder, `${number}.yaml`);
    const { stdout, stderr } = await sealgate("check", "--config", file(next), "--previous", file(previous));
    t.equal(stdout, `${file(next)}: ok\n`);
    return stderr.split("\n").filter((line) => line.includes(" keys: "));
  };
  for (const step of [1, 2, 3]) t.same(await warned(step, step + 1), [], "in order");
  t.match(await warned(1, 3), [/the key that seals now was not in the ring before/]);
  t.match(await warned(2, 4), [/the key that sealed before is not in the ring any more/]);
  t.equal((await warned(1, 4)).length, 2);
});

t.test("check names what takes a restart", async (t) => {
  const config = (more: string, redis = "{ file: p }"): string => `version: 1
authentication: { mode: anonymous }
authorization: { policies: [{ id: all, effect: allow }] }
redis: { url: "redis://127.0.0.1", password: ${redis} }
keys: { primary: a, ring: [{ id: a, secret: { file: a } }] }
routes: [{ path: /mcp, upstream: { url: "http://127.0.0.1:3001/mcp" } }]
${more}`;
  const old = t.testdir({
    "same.yaml": config("redemption: { store: redis }\nlog: { level: debug }\n"),
    "other.yaml": config('server: { listen: "127.0.0.1:8081" }\n', '{ file: "q" }'),
    "broken.yaml": "version: 1\nlog: 7\n",
    next: { a: secret("a"), p: "correct horse", "gate.yaml": config("") },
  });
  const file = join(old, "next/gate.yaml");
  const warned = async (previous: string): Promise<string[]> => {
    const { stderr } = await sealgate("check", "--config", file, "--previous", join(old, previous));
    return stderr.split("\n").filter((line) => line.includes("takes a restart"));
  };
  t.same(await warned("same.yaml"), [], "neither another folder nor a default that is written");
  t.same(await warned("other.yaml"), [
    `warning: ${file}:1:1 server.listen: has changed, which takes a restart`,
    `warning: ${file}:4:8 redis: has changed, which takes a restart`,
  ]);
  t.match(await warned("broken.yaml"), [/broken\.yaml: has problems, so what takes a restart is not known/]);
});
