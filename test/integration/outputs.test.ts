/** Standard output or an audit file that cannot be written: requests go on, losses are told and counted, the process ends. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { exchange, mirrored, PUBLIC_URL } from "../support/gateway.ts";
import { startProcess } from "../support/process.ts";
import { freePort } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, DONE, TRANSFER, textOf } from "./rounds.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Makes a program throw where nobody catches, at a signal. */
const BREAKS = ["--import", "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('planted')})"];

const call = (url: string) => exchange(url, { headers: mirrored(TRANSFER), body: textOf("1", TRANSFER) });

async function routes(t: Test) {
  const upstream = await startUpstream(answers(DONE));
  t.teardown(() => upstream.close());
  return { routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "refuse" }] };
}

/** The program with a standard output of one's own; the port is chosen here, since it may not be able to say it. */
async function withStdout(
  t: Test,
  stdout: number | "pipe",
  sections: object = {},
  nodeArguments: readonly string[] = [],
): Promise<{
  url: string;
  admin: string;
  child: ChildProcess;
  stderr: () => string;
  ended: Promise<unknown>;
}> {
  const [port, admin] = [await freePort(), await freePort()];
  const file = join(t.testdir({}), "sealgate.yaml");
  const config = {
    version: 1,
    server: {
      listen: `127.0.0.1:${port}`,
      publicUrl: PUBLIC_URL,
      allowedHosts: ["127.0.0.1"],
      shutdownGrace: "100ms",
    },
    admin: { listen: `127.0.0.1:${admin}` },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow" },
    ...(await routes(t)),
    ...sections,
  };
  await writeFile(file, stringify(config));
  const child = spawn(process.execPath, [...nodeArguments, MAIN, "serve", "--config", file], {
    stdio: ["ignore", stdout, "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (piece: Buffer) => {
    stderr += piece.toString();
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () =>
      (await exchange(url, { method: "GET", path: "/nothing" }).catch(() => undefined)) !== undefined,
  );
  return { url, admin: `http://127.0.0.1:${admin}`, child, stderr: () => stderr, ended };
}

async function lost(admin: string): Promise<unknown> {
  const { body } = await exchange(admin, { method: "GET", path: "/metrics" });
  return Object.fromEntries(
    [...body.matchAll(/^sealgate_audit_lost_total\{sink="([^"]*)"\} (\d+)$/gm)].map(
      ([, sink = "", count]) => [sink, Number(count)],
    ),
  );
}

t.test("a full disk under an audit file", { skip: process.platform !== "linux" }, async (t) => {
  const good = join(t.testdir({}), "audit.ndjson");
  const gateway = await startProcess(t, {
    ...(await routes(t)),
    admin: { listen: "127.0.0.1:0" },
    audit: {
      sinks: [
        { type: "file", path: "/dev/full" },
        { type: "file", path: good },
      ],
    },
  });
  for (let n = 0; n < 5; n++) t.equal((await call(gateway.url)).status, 200);
  await gateway.line(({ msg }) => msg === "audit records are lost, requests go on");
  await until(
    async () => JSON.stringify(await lost(gateway.adminUrl ?? "")) === `{"/dev/full":5,"${good}":0}`,
  );
  gateway.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
  const told = gateway.lines.filter(({ sink }) => sink === "/dev/full");
  t.match(told, [{ level: "error", reason: "ENOSPC" }]);
  t.equal(told.length, 1, "once");
  t.equal(readFileSync(good, "utf8").trim().split("\n").length, 5, "the other sink has them all");
});

t.test(
  "a full disk under standard output, from the start",
  { skip: process.platform !== "linux" },
  async (t) => {
    const full = openSync("/dev/full", "w");
    t.teardown(() => closeSync(full));
    const gateway = await withStdout(t, full);
    for (let n = 0; n < 5; n++) t.equal((await call(gateway.url)).status, 200);
    await until(async () => JSON.stringify(await lost(gateway.admin)) === '{"stdout":5}');
    gateway.child.kill("SIGTERM");
    t.equal(await gateway.ended, 0);
    t.equal(
      gateway.stderr(),
      "sealgate: standard output cannot be written (ENOSPC): log lines, and audit records that go there, are lost; requests go on\n",
    );
  },
);

t.test("a reader of standard output that goes away", async (t) => {
  const gateway = await withStdout(t, "pipe");
  t.equal((await call(gateway.url)).status, 200);
  gateway.child.stdout?.destroy();
  for (let n = 0; n < 5; n++) t.equal((await call(gateway.url)).status, 200);
  await until(() => gateway.stderr().includes("(EPIPE)"));
  gateway.child.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
  t.equal(gateway.stderr().split("\n").length, 2, "told once");
});

t.test("a reader of standard output that stands still", async (t) => {
  const gateway = await withStdout(t, "pipe", { audit: { sinks: [{ type: "stdout" }], arguments: true } });
  gateway.child.stdout?.pause();
  const big = { ...TRANSFER, params: { ...TRANSFER.params, arguments: { x: "x".repeat(16_000) } } };
  // More than a pipe and the two buffers around it hold.
  for (let n = 0; n < 40; n++) {
    const reply = await exchange(gateway.url, { headers: mirrored(big), body: textOf("1", big) });
    if (reply.status !== 200) t.fail(`status ${reply.status}`);
  }
  gateway.child.kill("SIGTERM");
  t.equal(await gateway.ended, 0);
});

t.test("an unexpected error ends the process in time, whatever its outputs are", async (t) => {
  const full = process.platform === "linux" ? openSync("/dev/full", "w") : undefined;
  t.teardown(() => full !== undefined && closeSync(full));
  for (const stdout of ["pipe", ...(full === undefined ? [] : [full])] as const) {
    const gateway = await withStdout(t, stdout, {}, BREAKS);
    gateway.child.stdout?.pause();
    gateway.child.stderr?.destroy();
    for (let n = 0; n < 200; n++)
      await exchange(gateway.url, { method: "GET", path: `/${"x".repeat(1000)}` });
    const start = performance.now();
    gateway.child.kill("SIGUSR2");
    t.equal(await gateway.ended, 1);
    t.ok(performance.now() - start < 20_000, "it ends");
  }
});

t.test("a gateway that cannot start says so and ends, whatever its standard output is", async (t) => {
  const file = join(t.testdir({}), "sealgate.yaml");
  const config = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow" },
    ...(await routes(t)),
  };
  const start = async (sections: object, stdout: number | "pipe"): Promise<[unknown, string]> => {
    await writeFile(file, stringify({ ...config, ...sections }));
    const child = spawn(process.execPath, [MAIN, "serve", "--config", file], {
      stdio: ["ignore", stdout, "pipe"],
    });
    child.stdout?.resume();
    let stderr = "";
    child.stderr?.on("data", (piece: Buffer) => {
      stderr += piece.toString();
    });
    const code = await new Promise((resolve) =>
      child.once("close", (code, signal) => resolve(code ?? signal)),
    );
    return [code, stderr];
  };
  const fifo = join(t.testdir({}), "fifo");
  execFileSync("mkfifo", [fifo]);
  const [code, stderr] = await start({ audit: { sinks: [{ type: "file", path: fifo }] } }, "pipe");
  t.equal(code, 69, "a named pipe that nobody reads is not waited for");
  t.match(stderr, /cannot start: .*fifo/);
  if (process.platform !== "linux") return;
  const full = openSync("/dev/full", "w");
  t.teardown(() => closeSync(full));
  const taken = new URL(config.routes[0]?.upstream.url ?? "").host;
  const [again, text] = await start({ admin: { listen: taken } }, full);
  t.equal(again, 69);
  t.match(text, /cannot start: /);
});
