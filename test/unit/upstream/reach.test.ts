/** What is dialled around the gateway, and what is said about it: for every way a server's address can be written. */

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import t from "tap";
import type { Config } from "../../../src/config/schema.ts";
import { Exposure } from "../../../src/upstream/exposure.ts";
import { endpointOf, openAround, type Surroundings, THIS_MACHINE } from "../../../src/upstream/reach.ts";
import { recordingLog } from "../../support/authentication.ts";

const HERE = ["127.0.0.1", "::1", "10.0.0.5", "192.168.7.1", "fd00::5", "fe80::5%eth0"];
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ["::1", "127.0.0.1"],
  self: ["10.0.0.5"],
  away: ["10.0.0.9"],
  both: ["10.0.0.9", "127.0.0.1"],
};

/** A machine on which these addresses (all, if not given) answer. */
function machine(answers?: readonly string[]): { machine: Surroundings; dialled: string[] } {
  const dialled: string[] = [];
  return {
    dialled,
    machine: {
      addresses: () => HERE,
      resolve: async (host) => NAMES[host] ?? Promise.reject(new Error("ENOTFOUND")),
      dial: async (address, port) => {
        dialled.push(`${address} ${port}`);
        return answers?.includes(address) ?? true;
      },
    },
  };
}

const AROUND = ["10.0.0.5", "192.168.7.1", "fd00::5", "fe80::5%eth0"];

t.test("a server on this machine: all addresses but loopback, on the server's port", async (t) => {
  for (const host of [
    ...["127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"],
    ...["self", "10.0.0.5", "both", "[fd00::5]"],
  ]) {
    const { machine: made, dialled } = machine();
    t.same(await openAround(`http://${host}:3001/mcp`, [], made), AROUND, host);
    t.same(
      dialled,
      AROUND.map((address) => `${address} 3001`),
      host,
    );
  }
});

t.test(
  "a server elsewhere, or with a name that is not known: nothing is dialled, nothing is said",
  async (t) => {
    for (const host of ["away", "10.0.0.9", "nowhere", "[fd00::9]"]) {
      const { machine: made, dialled } = machine();
      t.equal(await openAround(`http://${host}:3001/mcp`, [], made), undefined, host);
      t.same(dialled, []);
    }
  },
);

t.test("where the gateway itself listens is no server", async (t) => {
  const look = (host: string, port: number) =>
    openAround("http://127.0.0.1:3001/mcp", [{ host, port }], machine().machine);
  t.same(await look("10.0.0.5", 3001), AROUND.slice(1));
  t.same(await look("10.0.0.5", 3002), AROUND, "another port");
  t.same(await look("0.0.0.0", 3001), [], "all addresses");
});

t.test("ports that a URL does not write", (t) => {
  t.same(endpointOf("https://server.example/mcp"), { host: "server.example", port: 443 });
  t.same(endpointOf("http://[fd00::1]/mcp"), { host: "fd00::1", port: 80 });
  t.end();
});

t.test("a real server: on all addresses it is seen from each, nothing is sent to it", async (t) => {
  let bytes = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on("data", (piece) => {
      bytes += piece.length;
    });
    socket.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  t.equal(await THIS_MACHINE.dial("127.0.0.1", port, 30_000), true);
  await new Promise<void>((resolve) =>
    server.getConnections((_, open) => (open === 0 ? resolve() : setImmediate(resolve))),
  );
  t.same({ bytes, connections }, { bytes: 0, connections: 1 });
  server.close();
  t.equal(await THIS_MACHINE.dial("127.0.0.1", port, 30_000), false);
});

t.test("a warning when it begins, a line when it is over, silence in between; off is off", async (t) => {
  const log = recordingLog();
  let answers: string[] = [];
  let run = (): void => undefined;
  let stopped = false;
  const route = (path: string, url: string, reachCheck = "on") => ({ path, upstream: { url, reachCheck } });
  const routes = [
    route("/here", "http://127.0.0.1:3001/mcp"),
    route("/away", "http://away:3001/mcp"),
    route("/off", "http://127.0.0.1:3002/mcp", "off"),
  ];
  const { dialled } = machine();
  const exposure = new Exposure({
    routes: () => routes as unknown as Config["routes"],
    own: [],
    log,
    machine: {
      ...machine().machine,
      dial: async (address, port) => {
        dialled.push(`${address} ${port}`);
        return answers.includes(address);
      },
    },
    every: (ms, each) => {
      t.equal(ms, 60_000);
      run = each;
      return () => {
        stopped = true;
      };
    },
  });
  exposure.start();
  await exposure.look();
  t.same([...exposure.exposed()], [["/here", false]]);
  answers = ["10.0.0.5", "fe80::5%eth0"];
  for (let minute = 0; minute < 3; minute += 1) {
    run();
    await exposure.look();
  }
  t.same([...exposure.exposed()], [["/here", true]]);
  answers = [];
  run();
  await exposure.look();
  t.same([...exposure.exposed()], [["/here", false]]);
  t.match(log.lines, [
    { level: "warn", fields: { route: "/here", addresses: ["10.0.0.5:3001", "[fe80::5%eth0]:3001"] } },
    { level: "info", fields: { route: "/here" } },
  ]);
  t.notOk(dialled.some((line) => line.endsWith("3002")));
  await exposure.close();
  t.equal(stopped, true);
  const before = dialled.length;
  await exposure.look();
  t.equal(dialled.length, before, "nothing after it was closed");
});
