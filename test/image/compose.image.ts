/** docker-compose.yml, read by Docker Compose itself, which needs no engine for that. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { program } from "../support/debian.ts";
import { ROOT } from "../support/markdown.ts";
import { CACHE, demandRoot } from "./base.ts";

const run = promisify(execFile);
const FILE = join(ROOT, "docker-compose.yml");

/** The plugin of Debian 13, unpacked and not installed: Debian 12 has none that knows today's files. */
async function compose(): Promise<string> {
  demandRoot();
  const folder = join(CACHE, "compose-trixie");
  if (!existsSync(folder)) {
    const mmdebstrap = await program("mmdebstrap", { debian: "mmdebstrap" });
    await mkdir(CACHE, { recursive: true });
    const draft = join(CACHE, `draft-compose-${process.pid}`);
    await run(mmdebstrap, ["--variant=extract", "--include=docker-compose", "trixie", draft], {
      maxBuffer: 1e8,
    });
    const names = await readdir(draft, { recursive: true });
    const plugin = names.find((name) => name.endsWith("cli-plugins/docker-compose")) ?? "";
    await mkdir(`${draft}-done`);
    await rename(join(draft, plugin), join(`${draft}-done`, "docker-compose"));
    await rm(draft, { recursive: true, force: true });
    await rename(`${draft}-done`, folder);
  }
  return join(folder, "docker-compose");
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function config(file: string, ...args: string[]): Promise<Outcome> {
  const words = ["--project-directory", ROOT, "-f", file, "--profile", "client", "config", ...args];
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nonexistent",
    SEALGATE_UID: "1234",
    SEALGATE_GID: "5678",
  };
  return new Promise((resolve) => {
    execFile(binary, words, { env, maxBuffer: 1e7 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

const binary = await compose();

t.test("Docker Compose accepts the file", async (t) => {
  t.match((await run(binary, ["version"])).stdout, /v?2\./);
  t.same(await config(FILE, "--quiet"), { code: 0, out: "", err: "" });
});

t.test("and finds a mistake in it", async (t) => {
  const text = await readFile(FILE, "utf8");
  const folder = await mkdtemp(join(tmpdir(), "sealgate-compose-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [right, wrong, word] of [
    ["read_only: true\n", "read_onyl: true\n", "read_onyl"],
    ["networks: [edge, gateways]", "networks: [edge, gatewais]", "gatewais"],
    ["secrets: [redis-password]", "secrets: [redis-pasword]", "redis-pasword"],
    ["redis: { condition: service_healthy }", "rediss: { condition: service_healthy }", "rediss"],
  ] as const) {
    t.ok(text.includes(right), right);
    const file = join(folder, "docker-compose.yml");
    await writeFile(file, text.replace(right, wrong));
    const { code, err } = await config(file, "--quiet");
    t.not(code, 0, wrong);
    t.match(err, word);
  }
});

t.test("what it makes of the file, for every service", async (t) => {
  const { out } = await config(FILE, "--format", "json");
  const { name, services, networks, secrets } = JSON.parse(out);
  t.equal(name, "sealgate");
  t.same(Object.keys(services).sort(), ["balancer", "client", "gateway", "issuer", "redis", "server"]);
  // biome-ignore lint/suspicious/noExplicitAny: the whole of Compose's model
  for (const [service, it] of Object.entries<any>(services)) {
    t.equal(it.user, "1234:5678", service);
    t.equal(it.read_only, true, service);
    t.same(it.cap_drop, ["ALL"], service);
    t.same(it.security_opt, ["no-new-privileges:true"], service);
    t.equal(it.logging.driver, "local", service);
    t.ok(it.logging.options["max-size"], service);
    t.ok(it.deploy.resources.limits.memory, service);
    t.notOk(it.privileged ?? false, service);
    t.notOk(it.environment, `${service}: nothing secret in variables`);
    t.equal(it.ports !== undefined, service === "balancer", `${service}: ports`);
    t.equal(it.healthcheck !== undefined, service !== "client", `${service}: health check`);
    for (const { type, read_only, bind, source } of it.volumes ?? []) {
      t.match({ type, read_only, bind }, { type: "bind", read_only: true });
      t.notOk(bind?.create_host_path, `${service}: ${source} is not made where it is missing`);
    }
  }
  t.match(services.balancer.ports, [{ host_ip: "127.0.0.1", target: 8080, published: "8080" }]);
  t.same(Object.keys(services.server.networks), ["upstream"]);
  t.same(
    Object.keys(services)
      .filter((service) => "upstream" in services[service].networks)
      .sort(),
    ["gateway", "server"],
    "nobody but the gateways shares a network with the MCP server",
  );
  for (const [network, it] of Object.entries<{ internal?: boolean }>(networks)) {
    t.equal(it.internal ?? false, network !== "edge", network);
  }
  for (const { file } of Object.values<{ file: string }>(secrets)) {
    t.equal(dirname(file), join(ROOT, "docker/secrets"));
  }
});
