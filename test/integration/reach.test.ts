/** A server that can be used around the gateway is found: beside the gateway in one pod, and from the network of clients. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { BASE } from "../support/edited.ts";
import { type Networks, networks, noNetworks } from "../support/namespace.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const PORT = 3001;
const EXPOSED = /the server's port answers at other addresses than loopback/;
const skip = (await noNetworks()) ?? false;

/** An HTTP server in a namespace; resolves when it listens. */
async function serve(t: Test, net: Networks, name: string, host: string): Promise<void> {
  const code = `require("node:http").createServer((_, r) => r.end("{}")).listen(${PORT}, ${JSON.stringify(host)}, () => console.log("up"))`;
  await line(t, net, name, ["-e", code], /^up$/);
}

/** Runs Node in a namespace until the end of the test; resolves with all lines once one fits. */
async function line(t: Test, net: Networks, name: string, args: string[], wanted: RegExp): Promise<string[]> {
  const [file, ...before] = net.inside(name);
  const child = spawn(file, [...before, process.execPath, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (text) => {
      lines.push(text);
      if (wanted.test(text)) resolve(lines);
    });
    child.once("close", () => reject(new Error(`ended: ${lines.join("\n")}`)));
  });
}

/** Runs the program in a namespace to its end. */
async function sealgate(net: Networks, name: string, ...args: string[]) {
  const [file, ...before] = net.inside(name);
  try {
    const { stdout, stderr } = await promisify(execFile)(file, [...before, process.execPath, MAIN, ...args]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

/** A metric as the gateway in a namespace shows it. */
async function metric(net: Networks, name: string, port: number): Promise<string | undefined> {
  const code = `fetch("http://127.0.0.1:${port}/metrics").then((r) => r.text()).then((text) => console.log(text))`;
  const [file, ...before] = net.inside(name);
  const { stdout } = await promisify(execFile)(file, [...before, process.execPath, "-e", code]);
  return /^sealgate_upstream_exposed\{route="\/mcp"\} (\d)$/m.exec(stdout)?.[1];
}

/** A gateway beside its server in one pod: what it says of the server by the time the metric is there. */
async function sidecar(t: Test, host: string, upstream: object = {}, listen = "0.0.0.0:8080") {
  const net = await networks(t);
  const [pod, neighbour] = [await net.machine(), await net.machine()];
  await net.join([pod, "10.77.0.2/24", "fd77::2/64"], [neighbour, "10.77.0.3/24", "fd77::3/64"]);
  await serve(t, net, pod, host);
  const config = join(t.testdir({}), "sealgate.yaml");
  const sections = {
    ...BASE,
    server: { ...(BASE["server"] as object), listen },
    admin: { listen: "127.0.0.1:9090" },
    routes: [{ path: "/mcp", upstream: { url: `http://127.0.0.1:${PORT}/mcp`, ...upstream } }],
  };
  writeFileSync(config, stringify(sections));
  const lines = await line(t, net, pod, [MAIN, "serve", "--config", config], /"sealgate is listening"/);
  const around = (address: string) =>
    sealgate(net, neighbour, "reach", "--upstream", `http://${address}:${PORT}/mcp`);
  const exposed = async (): Promise<string | undefined> => metric(net, pod, 9090);
  return { lines, exposed, around };
}

/** Asks until the first look is over. */
async function known(exposed: () => Promise<string | undefined>): Promise<string> {
  for (;;) {
    const value = await exposed();
    if (value !== undefined) return value;
  }
}

t.test(
  "sidecar: a server on all addresses is found, at each of them, and a neighbour can use it",
  { skip },
  async (t) => {
    for (const host of ["0.0.0.0", "::"]) {
      await t.test(host, async (t) => {
        const { lines, exposed, around } = await sidecar(t, host);
        t.equal(await known(exposed), "1");
        const warning = JSON.parse(lines.find((text) => EXPOSED.test(text)) ?? "{}");
        t.match(warning, { level: "warn", route: "/mcp" });
        t.match(warning.addresses, [`10.77.0.2:${PORT}`]);
        t.equal(warning.addresses.includes(`[fd77::2]:${PORT}`), host === "::");
        t.match(await around("10.77.0.2"), { code: 1, stdout: /^10\.77\.0\.2:3001: answers/ });
      });
    }
  },
);

t.test("sidecar: a server on loopback is not, and no neighbour can use it", { skip }, async (t) => {
  const { lines, exposed, around } = await sidecar(t, "127.0.0.1");
  t.equal(await known(exposed), "0");
  t.notOk(lines.some((text) => EXPOSED.test(text)));
  t.match(await around("10.77.0.2"), { code: 0, stdout: /^10\.77\.0\.2:3001: does not answer here/ });
  t.match(await around("[fd77::2]"), { code: 0, stdout: /^\[fd77::2\]:3001: does not answer here/ });
});

t.test("sidecar: the gateway on the server's port at the pod's address is no server", { skip }, async (t) => {
  const { exposed } = await sidecar(t, "127.0.0.1", {}, `10.77.0.2:${PORT}`);
  t.equal(await known(exposed), "0");
});

t.test("compose: a server on a network of its own is reached from there only", { skip }, async (t) => {
  const net = await networks(t);
  const [client, gateway, server, stray] = [
    await net.machine(),
    await net.machine(),
    await net.machine(),
    await net.machine(),
  ];
  await net.join([client, "10.78.0.3/24"], [gateway, "10.78.0.2/24"]);
  await net.join([gateway, "10.79.0.2/24"], [server, "10.79.0.3/24"]);
  await net.join([stray, "10.80.0.3/24"], [server, "10.80.0.2/24"]);
  await serve(t, net, server, "0.0.0.0");
  const from = (name: string, host: string) =>
    sealgate(net, name, "reach", "--upstream", `http://${host}:${PORT}/mcp`);
  t.match(await from(gateway, "10.79.0.3"), { code: 1 }, "where it should answer, it does");
  t.match(await from(client, "10.79.0.3"), { code: 0, stdout: /does not answer here/ });
  t.match(await from(stray, "10.80.0.2"), { code: 1 }, "a second network of the server is found");
});

t.test("sealgate reach: a name that is not known proves nothing; a URL that is none is told", async (t) => {
  const here = (...args: string[]) =>
    promisify(execFile)(process.execPath, [MAIN, "reach", ...args]).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  t.match(await here("--upstream", "http://nowhere.invalid:3001/mcp"), {
    code: 69,
    stderr: /has no address here/,
  });
  t.match(await here("--upstream", "ftp://server/mcp"), { code: 64 });
  t.match(await here(), { code: 64 });
});
