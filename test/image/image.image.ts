/** The production image: what it says of itself, what is in its layers, and how it runs. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { generateSecret } from "../../src/key-secret.ts";
import { asksOnce, INNER, retryOf, stateOf, TRANSFER, textOf } from "../integration/rounds.ts";
import { exchange, type Message, mirrored, PUBLIC_URL, type Reply } from "../support/gateway.ts";
import { ROOT } from "../support/markdown.ts";
import { freePort, ownRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";
import { openBuilder } from "./builder.ts";
import { type Container, startContainer } from "./container.ts";
import { CANARY, PLANTED, plantedContext } from "./context.ts";
import { filesIn, leaksIn } from "./leaks.ts";

const IMAGE = "localhost/sealgate-production";
const MIB = 1024 * 1024;

const builder = await openBuilder(t);
const context = await plantedContext(t);
// By name, so that a later run finds the stages again.
for (const target of ["build", "dependencies"]) {
  await builder.build({ context, target, tag: `localhost/sealgate-${target}` });
}
// As a user builds it: the last target is the default one.
await builder.build({ context, tag: IMAGE });
const { config, history } = await builder.config(IMAGE);
const layers = await builder.layers(IMAGE);
const files = await filesIn(layers);

t.test("what the image says of itself", async (t) => {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  t.equal(config.User, "1000:1000");
  t.same(config.Entrypoint, ["node", "/app/dist/main.js"]);
  t.same(config.Cmd, ["serve", "--config", "/etc/sealgate/sealgate.yaml"]);
  t.same(Object.keys(config.ExposedPorts ?? {}).sort(), ["8080/tcp", "9090/tcp"]);
  const check = ["CMD", "node", "/app/dist/main.js", "health", "--config", "/etc/sealgate/sealgate.yaml"];
  t.same(config.Healthcheck?.Test, check, "no shell");
  t.ok((config.StopSignal ?? "SIGTERM") === "SIGTERM");
  t.equal(config.Labels?.["org.opencontainers.image.version"], version);
  t.equal(config.Labels?.["org.opencontainers.image.licenses"], "Apache-2.0");
  t.same(Object.keys(config.Volumes ?? {}), [], "no volume is made for anybody");
  const names = (config.Env ?? []).map((entry) => entry.split("=")[0]);
  t.same(names.sort(), ["NODE_ENV", "PATH"]);
  t.notMatch(history.join("\n"), new RegExp(`${CANARY}|--mount|https?://`));
});

t.test(
  "what is in the layers: the gateway and what it needs, nothing of the checkout beside it",
  async (t) => {
    const has = (pattern: RegExp): string[] => files.filter((path) => pattern.test(path)).slice(0, 5);
    t.ok(files.includes("app/dist/main.js") && files.includes("app/dist/commands/health.js"));
    t.ok(files.includes("app/dist/console/assets/index.html"), "the console's page");
    t.ok(files.includes("app/LICENSE") && files.includes("app/package.json"));
    t.same(has(/^app\/(src|test|demo|scripts|bench|docs|docker|kubernetes)\//), []);
    t.same(has(/\.([cm]?ts|map)$|\/tests?\//), [], "no TypeScript, no maps, no tests");
    t.same(
      has(/node_modules\/(@modelcontextprotocol|typescript|tap|@tapjs|@biomejs|fast-check|node-linux)/),
      [],
    );
    t.same(has(/\.cache|_cacache|_logs\//), [], "nothing of npm's cache");
    const packages = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    for (const name of Object.keys(packages.dependencies)) {
      t.ok(files.includes(`app/node_modules/${name}/package.json`), name);
    }
    const own = files.filter((path) => path.startsWith("app/"));
    t.ok(own.length > 500 && own.length < 4_000, `${own.length} files`);
    let bytes = 0;
    for (const layer of layers) bytes += (await readFile(layer)).length;
    t.comment(`${(bytes / MIB).toFixed(1)} MiB above the base, ${own.length} files`);
    t.ok(bytes < 40 * MIB, `${bytes} bytes above the base`);
  },
);

t.test("no secret in any layer, and one that was there for a moment would be found", async (t) => {
  t.same(await leaksIn(layers, [CANARY]), []);
  t.same(
    files.filter((path) => path.replace(/^app\//, "") in PLANTED && path !== "app/dist/main.js"),
    [],
  );
  const folder = await mkdtemp(join(tmpdir(), "sealgate-leaky-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const key = `-----BEGIN PRIVATE KEY-----\n${CANARY}\n`;
  await writeFile(join(folder, "tls.crt"), key);
  await writeFile(join(folder, "npmrc"), `//r.example/:_authToken=${CANARY}\n`);
  await writeFile(
    join(folder, "Dockerfile"),
    `FROM ${IMAGE}\nUSER 0\nCOPY npmrc /app/.npmrc\nCOPY tls.crt /app/tls.crt\nRUN rm /app/.npmrc /app/tls.crt\nUSER 1000:1000\n`,
  );
  const tag = "localhost/sealgate-leaky";
  await builder.build({ context: folder, tag });
  const added = (await builder.layers(tag)).slice(layers.length);
  const found = (await leaksIn(added)).map(({ path, why }) => `${path} ${why}`);
  t.same(found.sort(), ["app/.npmrc content", "app/.npmrc name", "app/tls.crt content"]);
  await writeFile(join(folder, "tls.crt"), CANARY);
  await builder.build({ context: folder, tag });
  const words = await leaksIn((await builder.layers(tag)).slice(layers.length), [CANARY]);
  t.ok(words.some(({ path, why }) => path === "app/tls.crt" && why === "content"));
});

/** A configuration in a folder of its own, and secrets, as they are mounted. */
async function mounted(t: Test, sections: Record<string, unknown>): Promise<{ folder: string; url: string }> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-etc-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [port, admin] = [await freePort(), await freePort()];
  const text = stringify({
    version: 1,
    server: { listen: `127.0.0.1:${port}`, publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"] },
    admin: { listen: `127.0.0.1:${admin}` },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow" },
    ...sections,
  });
  await chmod(folder, 0o755);
  await writeFile(join(folder, "sealgate.yaml"), text, { mode: 0o644 });
  return { folder, url: `http://127.0.0.1:${port}` };
}

let id = 0;
const send = (url: string, message: Message): Promise<Reply> => {
  id += 1;
  return exchange(url, { headers: mirrored(message), body: textOf(String(id), message) });
};

/** Asks as an engine would, with the command of the image. */
const check = (container: Container) => container.exec((config.Healthcheck?.Test ?? []).slice(1));

t.test("it runs: its user, no capability, nothing to write, no shell; drains on SIGTERM", async (t) => {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const routes = [{ path: "/mcp", upstream: { url: upstream.url } }];
  const { folder, url } = await mounted(t, { redemption: { store: "memory" }, routes });
  const root = await builder.mount(IMAGE);
  const container = await startContainer(t, root, config, { binds: { "/etc/sealgate": folder } });
  await container.line("sealgate is listening");

  t.match(await container.status("NSpid"), /\t1$/, "it is the first process of its container");
  t.equal(await container.status("Uid"), "1000\t1000\t1000\t1000");
  t.equal(await container.status("Gid"), "1000\t1000\t1000\t1000");
  t.equal(await container.status("Groups"), "");
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
    t.equal(await container.status(set), "0000000000000000", set);
  }
  t.equal(await container.status("NoNewPrivs"), "1");
  t.not((await container.exec(["/bin/sh", "-c", "true"])).code, 0, "no shell can be run");
  const write = (path: string) =>
    container.exec(["node", "-e", `fs.writeFileSync(${JSON.stringify(path)}, "")`]);
  for (const path of ["/app/x", "/tmp/x", "/etc/sealgate/x", "/home/node/x"]) {
    t.match((await write(path)).err, /EROFS|EACCES/, path);
  }
  const readable = `fs.readdirSync("/app", { recursive: true, withFileTypes: true }).forEach((e) => e.isFile() && fs.accessSync(e.parentPath + "/" + e.name, fs.constants.R_OK))`;
  t.match(
    await container.exec(["node", "-e", readable]),
    { code: 0, err: "" },
    "whatever the checkout's umask was",
  );

  t.match(await check(container), { code: 0, out: /\/healthz: 200 ok\n$/, err: "" });
  const ready = [
    ...(config.Entrypoint ?? []),
    "health",
    "--config",
    "/etc/sealgate/sealgate.yaml",
    "--ready",
  ];
  t.match(await container.exec(ready), { code: 0, out: /\/readyz: 200 ready, store ok\n$/ });

  const asked = await send(url, TRANSFER);
  const state = stateOf(asked);
  t.match(state, /^sg1\./);
  t.notOk(asked.body.includes(INNER));
  t.match(await send(url, retryOf(state)), { status: 200, json: { result: { resultType: "complete" } } });
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
  t.match(await send(url, retryOf(state)), {
    status: 400,
    json: { error: { data: { reason: "already_redeemed" } } },
  });

  container.kill("SIGTERM");
  t.equal(await container.ended, 0, container.err());
  t.match(container.out(), /"signal":"SIGTERM".*draining[\s\S]*"msg":"closed"/);
});

t.test("two of them and a Redis: one asks, the other redeems, neither twice", async (t) => {
  const [upstream, redis] = await Promise.all([startUpstream(asksOnce), ownRedis(t)]);
  t.teardown(() => upstream.close());
  const shared = {
    redis: { url: redis.url },
    keys: { primary: "a", ring: [{ id: "a", secret: { file: "key" } }] },
    routes: [{ path: "/mcp", upstream: { url: upstream.url } }],
  };
  const secret = generateSecret();
  const urls: string[] = [];
  for (const _ of [1, 2]) {
    const { folder, url } = await mounted(t, shared);
    await writeFile(join(folder, "key"), secret, { mode: 0o644 });
    const root = await builder.mount(IMAGE);
    const container = await startContainer(t, root, config, { binds: { "/etc/sealgate": folder } });
    await container.line("sealgate is listening");
    urls.push(url);
  }
  const [one = "", two = ""] = urls;
  const state = stateOf(await send(one, TRANSFER));
  t.match(await send(two, retryOf(state)), { status: 200, json: { result: { resultType: "complete" } } });
  for (const url of urls) {
    t.match((await send(url, retryOf(state))).json.error.data, { reason: "already_redeemed" });
  }
});

t.test(
  "the health check fails where the gateway does not answer, and where there is no configuration",
  async (t) => {
    const { folder } = await mounted(t, { routes: [] });
    const root = await builder.mount(IMAGE);
    const args = ["health", "--config", "/etc/sealgate/sealgate.yaml"];
    const alone = await startContainer(t, root, config, { args, binds: { "/etc/sealgate": folder } });
    t.equal(await alone.ended, 1);
    t.match(alone.err(), /no answer \(ECONNREFUSED\)\n$/);
    const none = await startContainer(t, await builder.mount(IMAGE), config, { args });
    t.equal(await none.ended, 66);
  },
);

t.test("other commands, and a configuration that is missing", async (t) => {
  const version = await startContainer(t, await builder.mount(IMAGE), config, { args: ["--version"] });
  t.equal(await version.ended, 0);
  t.match(version.out(), /^\d+\.\d+\.\d+\n$/);
  const serve = await startContainer(t, await builder.mount(IMAGE), config);
  t.equal(await serve.ended, 66, "the default command names /etc/sealgate/sealgate.yaml");
});
