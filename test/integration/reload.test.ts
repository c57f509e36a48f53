/** A running gateway takes up changed keys by itself and on SIGHUP: all or nothing, with the ring in force on show. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { exchange, PUBLIC_URL, type Reply } from "../support/gateway.ts";
import { runProcess, startProcess } from "../support/process.ts";
import { type Replica, startReplica } from "../support/replica.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const IN_FORCE = "keys in force";
const NOT_TAKEN = "the configuration was not taken up, the one before stays in force";
const secret = (name: string): string => `a secret of a test, ${name}, and long enough`;
const entry = (id: string) => ({ id, secret: { file: `secrets/${id}` } });
const ring = (primary: string, ...ids: string[]) => ({ keys: { primary, ring: ids.map(entry) } });
const FILES = { "secrets/a": secret("a"), "secrets/b": secret("b") };

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const routes = [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "refuse" }];

let nextId = 1;
const call = (gateway: Replica, message = TRANSFER): Promise<Reply> =>
  gateway.send(message, textOf(String(nextId++), message));
const shown = async (gateway: Replica): Promise<string[]> =>
  (await gateway.ring()).map(({ id, seals }) => (seals ? `${id} seals` : id));
const shows = (gateway: Replica, ...expected: string[]): Promise<void> =>
  until(async () => (await shown(gateway)).join() === expected.join());
const openRing = (t: Test, keys: Readonly<Record<string, unknown>> = ring("a", "a")): Promise<Replica> =>
  startReplica(t, { routes, redemption: { store: "memory" }, ...keys }, FILES);

t.test(
  "an edited configuration and a new secret are taken up, by label on /metrics and in the log",
  async (t) => {
    const gateway = await openRing(t);
    t.same(await shown(gateway), ["a seals"]);
    const [first] = gateway.lines(IN_FORCE);
    t.match(first?.["ring"], [{ id: "a", keyId: /^[0-9a-f]{8}$/, seals: true }]);
    const before = stateOf(await call(gateway));
    await gateway.configure(ring("a", "a", "b"));
    await shows(gateway, "a seals", "b");
    await gateway.configure(ring("b", "a", "b"));
    await shows(gateway, "a", "b seals");
    t.equal((await call(gateway, retryOf(before))).status, 200, "what the old key sealed still opens");
    const after = stateOf(await call(gateway));
    t.not(after.slice(4, 9), before.slice(4, 9), "another key id");
    await gateway.configure(ring("b", "b"));
    await shows(gateway, "b seals");
    t.equal((await call(gateway, retryOf(after))).status, 200);
    t.match(
      gateway.lines(IN_FORCE).map(({ ring }) => ring),
      [{ length: 1 }, { length: 2 }, { length: 2 }, { length: 1 }],
    );
    t.equal(gateway.lines(NOT_TAKEN).length, 0);
    t.notMatch(JSON.stringify(gateway.lines(IN_FORCE)), "a secret of a test");
  },
);

t.test("another secret under an old label is another key", async (t) => {
  const gateway = await openRing(t);
  const [before] = await gateway.ring();
  await gateway.put("secrets/a", secret("another"));
  await until(async () => (await gateway.ring())[0]?.keyId !== before?.keyId);
  t.match(gateway.lines("this step of a key rotation loses open rounds"), [
    { fault: /that sealed before is not in the ring/ },
  ]);
});

t.test("a mounted Secret changes by its link, all files at once", async (t) => {
  const gateway = await startReplica(
    t,
    { routes, keys: { primary: "a", folder: "mount" } },
    { "mount/a": secret("a") },
  );
  const mount = join(gateway.folder, "mount");
  const swap = (version: string, names: readonly string[]): void => {
    mkdirSync(join(mount, version));
    for (const name of names) writeFileSync(join(mount, version, name), secret(name), { mode: 0o600 });
    symlinkSync(version, join(mount, "..data_tmp"));
    renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
  };
  // As the kubelet does it: the files of the mount are links through ..data.
  swap("..v1", ["a"]);
  unlinkSync(join(mount, "a"));
  symlinkSync("..data/a", join(mount, "a"));
  const [before] = await gateway.ring();
  swap("..v2", ["a", "b"]);
  symlinkSync("..data/b", join(mount, "b"));
  await shows(gateway, "a seals", "b");
  t.equal((await gateway.ring())[0]?.keyId, before?.keyId);
  await gateway.configure({ keys: { primary: "b", folder: "mount" } });
  await shows(gateway, "a", "b seals");
  swap("..v3", ["b"]);
  unlinkSync(join(mount, "a"));
  await shows(gateway, "b seals");
});

t.test("all or nothing: what has a problem changes nothing, and says why", async (t) => {
  const BROKEN: [string, (gateway: Replica) => Promise<void>, RegExp][] = [
    [
      "a secret that is not there",
      (g) => g.configure(ring("c", "a", "c")),
      /sealgate\.yaml:\d+:\d+ keys\.ring\[1\]\.secret\.file: the file does not exist/,
    ],
    [
      "a primary that is not there",
      (g) => g.configure(ring("b", "a")),
      /keys\.primary: is not the id of a key/,
    ],
    [
      "a mistake in another section",
      (g) => g.configure({ ...ring("b", "a", "b"), log: { level: "loud" } }),
      /log\.level: is not a known value/,
    ],
    ["no YAML", (g) => g.put("sealgate.yaml", "version: [1\n"), /sealgate\.yaml:\d+:\d+ /],
    ["an empty file", (g) => g.put("sealgate.yaml", ""), /the file is empty/],
    [
      "a short secret",
      async (g) => {
        await g.configure(ring("a", "a", "b"));
        await shows(g, "a seals", "b");
        await g.put("secrets/b", "short");
      },
      /keys\.ring\[1\]\.secret\.file: the secret is shorter/,
    ],
    [
      "no keys any more",
      (g) => g.configure({ keys: undefined }),
      /sealgate\.yaml:\d+:\d+ keys: has changed, which takes a restart$/,
    ],
    [
      "no configuration any more",
      async (g) => unlinkSync(g.file),
      /^cannot read .*sealgate\.yaml: no such file$/,
    ],
  ];
  for (const [name, breakIt, problem] of BROKEN) {
    t.test(name, async (t) => {
      const gateway = await openRing(t);
      const state = stateOf(await call(gateway));
      t.equal(await gateway.metric("sealgate_reload_successful"), 1);
      const since = await gateway.metric("sealgate_reload_success_timestamp_seconds");
      t.equal(since, gateway.clock.now / 1000);
      gateway.clock.now += 5_000;
      await breakIt(gateway);
      await until(() => gateway.lines(NOT_TAKEN).length > 0);
      const line = gateway.lines(NOT_TAKEN).at(-1);
      t.equal(line?.["level"], "error");
      t.ok(
        ((line?.["problems"] ?? []) as string[]).some((text) => problem.test(text)),
        JSON.stringify(line),
      );
      t.equal(await gateway.metric("sealgate_reload_successful"), 0);
      t.equal((await shown(gateway))[0], "a seals");
      t.equal((await call(gateway, retryOf(state))).status, 200, "and it serves on");
      t.equal(await gateway.reload(), false);

      await gateway.put("secrets/b", secret("b"));
      await gateway.configure({ ...ring("b", "a", "b"), log: { level: "info" } });
      await shows(gateway, "a", "b seals");
      t.equal(await gateway.metric("sealgate_reload_successful"), 1, "put right, it is taken up");
      t.equal(await gateway.metric("sealgate_reload_success_timestamp_seconds"), since + 5);
    });
  }
});

t.test("a next key takes over at its time, without a reading", async (t) => {
  const notBefore = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
  const next = { id: "b", notBefore: notBefore.toISOString().replace(".000", "") };
  const gateway = await openRing(t, { keys: { ...ring("a", "a", "b").keys, next } });
  t.same(await shown(gateway), ["a seals", "b"]);
  const [a, b] = (await gateway.ring()).map(({ keyId }) => keyId);
  const keyOf = (state: string): string =>
    Buffer.from(state.slice(4), "base64url").subarray(0, 4).toString("hex");
  gateway.clock.now = notBefore.getTime() - 1;
  const last = stateOf(await call(gateway));
  t.equal(keyOf(last), a);
  gateway.clock.now = notBefore.getTime();
  t.equal(keyOf(stateOf(await call(gateway))), b);
  t.same(await shown(gateway), ["a", "b seals"]);
  t.equal((await call(gateway, retryOf(last))).status, 200);
});

t.test("readings do not overlap, and the last one counts", async (t) => {
  const gateway = await openRing(t);
  await gateway.configure(ring("b", "a", "b"));
  t.same(
    await Promise.all(Array.from({ length: 8 }, () => gateway.reload())),
    Array.from({ length: 8 }, () => true),
  );
  t.same(await shown(gateway), ["a", "b seals"]);
  t.equal(gateway.lines(IN_FORCE).length, 2, "what is the same is not taken up again");
});

const SAME = "the configuration was read; nothing has changed";
const MENDED = "the configuration is in order again; nothing has changed";

t.test(
  "what was broken and is mended, and what an operator asks for, is told; nothing else is",
  async (t) => {
    const gateway = await openRing(t);
    const told = () => [SAME, MENDED, NOT_TAKEN].map((message) => gateway.lines(message).length);
    t.equal(await gateway.reload(), true);
    t.same(told(), [1, 0, 0], "asked for");
    const good = readFileSync(gateway.file, "utf8");
    await gateway.put("sealgate.yaml", "version: [");
    await until(() => gateway.lines(NOT_TAKEN).length > 0);
    t.same(told(), [1, 0, 1]);
    await gateway.put("sealgate.yaml", good);
    await until(() => gateway.lines(MENDED).length > 0);
    await gateway.put("sealgate.yaml", good);
    await gateway.configure(ring("a", "a", "b"));
    await shows(gateway, "a seals", "b");
    t.same(told(), [1, 1, 1], "not for the reading at start, nor for a file that was written again");
    await gateway.put("sealgate.yaml", "version: [");
    await until(() => gateway.lines(NOT_TAKEN).length > 1);
    await gateway.configure(ring("b", "a", "b"));
    await shows(gateway, "a", "b seals");
    t.same(told(), [1, 1, 2], "a change says so itself");
  },
);

t.test("the log names the sections that were changed, not those that inherit from them", async (t) => {
  const gateway = await openRing(t);
  const named = async (sections: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const before = gateway.lines("configuration taken up").length;
    await gateway.configure(sections);
    await until(() => gateway.lines("configuration taken up").length > before);
    return gateway.lines("configuration taken up").at(-1)?.["sections"];
  };
  t.same(await named({ rules: { "http/accept": "report" } }), ["rules"]);
  t.same(await named({ roundTrip: { maxRounds: 3 }, capability: { allow: [] } }), [
    "capability",
    "roundTrip",
  ]);
  t.same(await named({ routes: [{ ...routes[0], rules: { "http/accept": "off" } }] }), ["routes"]);
});

t.test("a warning is logged once, by the path that was given", async (t) => {
  const folder = t.testdir({});
  const config = {
    ...{ version: 1, server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL } },
    ...{ authentication: { mode: "anonymous" }, authorization: { default: "allow" }, routes },
  };
  writeFileSync(join(folder, "gate.yaml"), stringify(config));
  const gateway = await runProcess(t, "gate.yaml", folder);
  // The second is asked for when the reading at start is over, or is one with it.
  for (let time = 0; time < 2; time++) {
    gateway.kill("SIGHUP");
    await until(() => gateway.lines.filter(({ msg }) => msg === SAME).length > time);
  }
  const warnings = gateway.lines.flatMap(({ warning }) => (warning === undefined ? [] : [String(warning)]));
  t.ok(warnings.length > 0);
  t.same(warnings, [...new Set(warnings)]);
  for (const warning of warnings) t.match(warning, /^gate\.yaml:/);
});

t.test("SIGHUP reads again what no watch can see; the process goes on", async (t) => {
  const folder = t.testdir({ elsewhere: { key: secret("a") }, link: t.fixture("symlink", "elsewhere/key") });
  const gateway = await startProcess(t, {
    routes,
    admin: { listen: "127.0.0.1:0" },
    redemption: { store: "memory" },
    keys: { primary: "a", ring: [{ id: "a", secret: { file: join(folder, "link") } }] },
  });
  const keyId = async (): Promise<string | undefined> =>
    /sealgate_keys\{id="a",key_id="(\w+)"\} 1/.exec(
      (await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" })).body,
    )?.[1];
  const before = await keyId();
  t.type(before, "string");
  writeFileSync(join(folder, "elsewhere/key"), secret("changed"));
  gateway.kill("SIGHUP");
  await until(async () => (await keyId()) !== before);
  gateway.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
  t.equal(gateway.lines.filter(({ msg }) => msg === IN_FORCE).length, 2);
});

t.test("without a file there is nothing to read again, and SIGHUP ends the process", async (t) => {
  const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
  const args = [main, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  t.teardown(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.on("data", (piece: Buffer) => {
    out += piece.toString();
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await until(() => out.includes("sealgate is listening"));
  child.kill("SIGHUP");
  t.equal(await ended, 0);
  t.match(out, /"signal":"SIGHUP".*"msg":"draining"/);
});
