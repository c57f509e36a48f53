/**
 * The services of docker-compose.yml as plain processes of this machine. Commands, files and checks are those of the file; only
 * names and ports are others: every service has an address of its own on loopback, and a service that shares no network with
 * another finds nobody at its name.
 */
import { randomInt } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Compose, entrypointOf, readCompose, type Service } from "./compose.ts";
import { program } from "./debian.ts";
import { type Detached, freePort, run, startDetached } from "./detached.ts";
import { type Dns, startDns } from "./dns.ts";
import { ROOT } from "./markdown.ts";

/** Programs that other images than ours bring, and Debian's packages of them. */
const PACKAGES: Readonly<Record<string, string>> = {
  nginx: "nginx-light",
  curl: "curl",
  "redis-server": "redis-server",
  "redis-cli": "redis-tools",
};
/** The user of the containers where the tests run as root, as docker/make-secrets has it. */
const CONTAINER_USER = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
const HEALTHY_MS = 60_000;
/** Between two checks; each of them is a process. */
const CHECK_MS = 250;

/** One process of a service. */
export interface Replica extends Detached {
  readonly address: string;
  /** Runs the service's health check once. */
  isHealthy(): Promise<boolean>;
}

export interface Topology {
  readonly compose: Compose;
  /** The project's folder: docker/ with its secrets. */
  readonly folder: string;
  readonly dns: Dns;
  readonly replicas: ReadonlyMap<string, Replica[]>;
  /** Starts one more process of a service and waits until it is healthy. Docker's DNS would know it from its start. */
  add(service: string): Promise<Replica>;
  /** Runs a service to its end, as `docker compose run` does. `open`: take it for one that shares a network with all. */
  run(
    service: string,
    open?: boolean,
  ): Promise<{ readonly code: number | string | null; readonly out: string }>;
  /** Text of the file as the service would understand it. */
  place(service: string, text: string): string;
}

/** Starts everything but services with a profile, in the order that `depends_on` asks for. */
export async function startTopology(t: { teardown(run: () => unknown): void }): Promise<Topology> {
  const compose = readCompose();
  const folder = mkdtempSync(join(tmpdir(), "sealgate-compose-"));
  chmodSync(folder, 0o755);
  cpSync(join(ROOT, "docker"), join(folder, "docker"), {
    recursive: true,
    filter: (path) => !path.startsWith(join(ROOT, "docker/secrets")),
  });
  await run("sh", [join(folder, "docker/make-secrets")]);
  // Of 127.0.0.0/8, so that no two runs meet.
  const network = `127.${randomInt(64, 250)}.${randomInt(250)}`;
  const nobody = `${network}.250`;
  const dns = await startDns(`${network}.251`);
  const ports = new Map<string, number>();
  const replicas = new Map<string, Replica[]>(Object.keys(compose.services).map((name) => [name, []]));
  const names = Object.keys(compose.services);
  const addressOf = (service: string, index = 0): string =>
    `${network}.${10 * (1 + names.indexOf(service)) + index}`;
  await choosePorts();
  const taken = new Map<string, number>();
  let files = 0;
  t.teardown(async () => {
    const all = [...replicas.values()].flat();
    for (const replica of all) replica.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
    await dns.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Every port that the file or a mounted one names gets one that is free on all addresses. */
  async function choosePorts(): Promise<void> {
    const texts = [readFileSync(join(ROOT, "docker-compose.yml"), "utf8")];
    for (const name of ["gateway/sealgate.yaml", "balancer/nginx.conf"]) {
      texts.push(readFileSync(join(folder, "docker", name), "utf8"));
    }
    const wanted = texts.flatMap((text) =>
      [...text.matchAll(/(?:[a-z0-9]:|listen )(\d{4})\b/g)].map(([, port = ""]) => port),
    );
    for (const port of new Set([...wanted, "6379"])) ports.set(port, await freePort());
  }

  function place(service: string, text: string, address = addressOf(service), open = false): string {
    const mine = compose.services[service]?.networks ?? [];
    const port = (text: string): string => String(ports.get(text) ?? text);
    const reach = (name: string): string => {
      const shared = compose.services[name]?.networks.some((network) => mine.includes(network)) === true;
      return shared || open || name === service ? addressOf(name) : nobody;
    };
    const hosts = new RegExp(`\\b(${names.join("|")}|0\\.0\\.0\\.0|127\\.0\\.0\\.1):(\\d{4})\\b`, "g");
    return text
      .replaceAll(hosts, (_, host: string, number: string) =>
        names.includes(host) ? `${reach(host)}:${port(number)}` : `${address}:${port(number)}`,
      )
      .replaceAll(
        /(\$\w+):(\d{4})\b/g,
        (_, variable: string, number: string) => `${variable}:${port(number)}`,
      )
      .replaceAll(
        /^(\s*listen )(\d{4});/gm,
        (_, listen: string, number: string) => `${listen}${address}:${port(number)};`,
      )
      .replaceAll("127.0.0.11", `${network}.251:${dns.port}`)
      .replaceAll("redis-cli ", `redis-cli -h ${address} -p ${port("6379")} `);
  }

  /** The files of a service's container, in a folder; and text with the paths of the container → of this machine. */
  function mount(service: string, address: string, open: boolean): (text: string) => string {
    files += 1;
    const root = join(folder, "containers", `${service}-${files}`);
    const moved = new Map<string, string>();
    const { volumes = [], secrets = [] } = compose.services[service] ?? {};
    for (const name of secrets) moved.set(`/run/secrets/${name}`, join(folder, compose.secrets[name] ?? ""));
    for (const [target, source] of [
      ...volumes.map(({ target, source }) => [target, source] as const),
      ["/tmp", ""] as const,
      ["/data", ""] as const,
    ]) {
      moved.set(target, join(root, target));
      mkdirSync(join(root, target), { recursive: true });
      if (source === "") chmodSync(join(root, target), 0o777);
      if (source !== "") cpSync(join(folder, source), join(root, target), { recursive: true });
    }
    // At once, since a folder of this machine may begin like one of a container.
    const paths = new RegExp(`(?<![\\w.-])(${[...moved.keys()].join("|")})(?![\\w.-])`, "g");
    const translate = (text: string): string =>
      place(service, text, address, open)
        .replaceAll(paths, (path) => moved.get(path) ?? path)
        .replaceAll("/app/dist/main.js", join(ROOT, "src/main.ts"))
        .replaceAll("/app/", ROOT);
    for (const { target } of volumes) {
      for (const name of readdirSync(join(root, target))) {
        const file = join(root, target, name);
        const text = readFileSync(file, "utf8");
        if (translate(text) !== text) writeFileSync(file, translate(text));
      }
    }
    return translate;
  }

  async function command(service: string, translate: (text: string) => string): Promise<string[]> {
    const it = compose.services[service];
    if (it === undefined) throw new Error(`no service ${service}`);
    const entrypoint = it.entrypoint ?? (it.target === undefined ? [] : entrypointOf(it.target));
    const [name = "", ...args] = [...entrypoint, ...it.command].map(translate);
    return [name === "node" ? process.execPath : await found(name), ...args];
  }

  async function launch(service: string, open = false): Promise<Replica> {
    const it = compose.services[service] as Service;
    const all = replicas.get(service) ?? [];
    const address = addressOf(service, taken.get(service));
    taken.set(service, (taken.get(service) ?? 0) + 1);
    const translate = mount(service, address, open);
    const [name = "", ...args] = await command(service, translate);
    // What an image of somebody else's would be told by its surroundings.
    const where =
      service === "redis"
        ? ["--bind", address, "--port", String(ports.get("6379")), "--dir", translate("/data")]
        : [];
    const own = name === process.execPath ? {} : CONTAINER_USER;
    const child = startDetached(name, [...args, ...where], folder, own);
    const replica = { address, ...child, isHealthy: () => check(it, translate) };
    all.push(replica);
    return replica;
  }

  async function check({ healthcheck }: Service, translate: (text: string) => string): Promise<boolean> {
    const [kind, ...words] = (healthcheck?.test ?? []).map(translate);
    for (const name of Object.keys(PACKAGES)) if (words.join(" ").includes(name)) await found(name);
    const [name = "", ...args] = kind === "CMD-SHELL" ? ["sh", "-c", ...words] : words;
    const code = await run(name === "node" ? process.execPath : name, args).then(
      () => 0,
      () => 1,
    );
    return code === 0;
  }

  async function add(service: string): Promise<Replica> {
    const replica = await launch(service);
    dns.names.set(
      service,
      (replicas.get(service) ?? []).map(({ address }) => address),
    );
    const end = Date.now() + HEALTHY_MS;
    let hasEnded = false;
    void replica.ended.then(() => {
      hasEnded = true;
    });
    while (!(await replica.isHealthy())) {
      if (hasEnded || Date.now() > end)
        throw new Error(`${service} is not healthy: ${replica.err()}${replica.out()}`);
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
    return replica;
  }

  const started = new Map<string, Promise<unknown>>();
  /** Once, after what it depends on; what depends on nothing together starts at once. */
  function up(service: string): Promise<unknown> {
    const { dependsOn = [], replicas = 1 } = compose.services[service] ?? {};
    const start = async (): Promise<unknown> => {
      await Promise.all(dependsOn.map(up));
      return Promise.all(Array.from({ length: replicas }, () => add(service)));
    };
    const starting = started.get(service) ?? start();
    started.set(service, starting);
    return starting;
  }
  await Promise.all(names.filter((name) => compose.services[name]?.healthcheck !== undefined).map(up));

  return {
    compose,
    folder,
    dns,
    replicas,
    add,
    place,
    async run(service, open = false) {
      const replica = await launch(service, open);
      const code = await replica.ended;
      return { code, out: replica.out() + replica.err() };
    },
  };
}

function found(name: string): Promise<string> {
  return program(name, { debian: PACKAGES[name] ?? name });
}
