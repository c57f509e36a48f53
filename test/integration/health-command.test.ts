/** `sealgate health`: what it asks, what it prints, and how it exits, for a gateway and for what is none. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { askHealth, parseAdminUrl, reachable } from "../../src/commands/health.ts";
import { openCommands } from "../support/commands.ts";
import { startGateway } from "../support/gateway.ts";
import { freePort, ownRedis } from "../support/redis.ts";
import { result, startUpstream } from "../support/upstream.ts";

const sealgate = openCommands(t);
const health = (...args: string[]) => sealgate(["health", ...args]);

async function gateway(t: Test, sections: Record<string, unknown>): Promise<string> {
  const upstream = await startUpstream((arrived, response) => result(arrived, response, "{}"));
  t.teardown(() => upstream.close());
  const running = await startGateway(upstream.url, sections);
  t.teardown(() => running.close(0));
  return running.adminUrl ?? "";
}

/** Something that listens and is no gateway. */
async function stranger(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test("a gateway that is well: exit 0 and one line, by URL and by configuration", async (t) => {
  const url = await gateway(t, { admin: { listen: "127.0.0.1:0" } });
  t.same(await health("--url", url), { code: 0, out: `${url}/healthz: 200 ok\n`, err: "" });
  t.same(await health("--url", `${url}/`, "--ready"), {
    code: 0,
    out: `${url}/readyz: 200 ready, store ok\n`,
    err: "",
  });
  const { port } = new URL(url);
  // Neither the secrets nor the files it names are read, and other sections may be in want of repair.
  const text = `version: 1
admin: { listen: "0.0.0.0:${port}" }
keys: { primary: a, ring: [{ id: a, secret: { file: not/here } }] }
routes: []
`;
  const folder = t.testdir({ "gate.yaml": text });
  t.same(await health("--config", join(folder, "gate.yaml")), {
    code: 0,
    out: `http://127.0.0.1:${port}/healthz: 200 ok\n`,
    err: "",
  });
});

t.test("a store that is away: healthy, and ready only where the store is optional", async (t) => {
  const redis = await ownRedis(t);
  await redis.stop();
  const key = `${t.testdir({ key: "k".repeat(43) })}/key`;
  const sections = {
    keys: { primary: "k", ring: [{ id: "k", secret: { file: key } }] },
    redis: { url: redis.url },
    redemption: { store: "redis" },
  };
  const required = await gateway(t, {
    ...sections,
    admin: { listen: "127.0.0.1:0", readiness: { store: "required" } },
  });
  const ask = (url: string, path: string) => askHealth(new URL(path, url), 20_000);
  t.same(await ask(required, "/healthz"), { well: true, text: "200 ok" });
  t.same(await ask(required, "/readyz"), {
    well: false,
    text: "503 not ready, store degraded (unreachable)",
  });
  const optional = await gateway(t, { ...sections, admin: { listen: "127.0.0.1:0" } });
  t.same(await ask(optional, "/readyz"), {
    well: true,
    text: "200 ready, store degraded (unreachable)",
  });
});

t.test("nobody there: exit 1", async (t) => {
  const free = `http://127.0.0.1:${await freePort()}`;
  t.same(await health("--url", free), {
    code: 1,
    out: "",
    err: `sealgate: ${free}/healthz: no answer (ECONNREFUSED)\n`,
  });
});

t.test("what is no gateway is not well, and nothing of its answer is told", async (t) => {
  const ask = async (answer: RequestListener, timeout = 20_000) =>
    askHealth(new URL("/healthz", await stranger(t, answer)), timeout);
  t.same(await ask(() => undefined, 200), { well: false, text: "no answer within 200ms" });
  t.same(await ask((_request, response) => response.writeHead(200).write("{"), 300), {
    well: false,
    text: "no answer within 300ms",
  });
  const well = await gateway(t, { admin: { listen: "127.0.0.1:0" } });
  const answers: [RequestListener, RegExp][] = [
    [(_, response) => response.writeHead(302, { location: `${well}/healthz` }).end(), /^302, not the answer/],
    [(_, response) => response.end("<html>hunter2"), /^200, not the answer of a gateway$/],
    [(_, response) => response.end('{"status":"hunter2hunter2"}'), /^200, not the answer/],
    [(_, response) => response.end('["ok"]'), /^200, not the answer/],
    [(_, response) => response.end(`{"status":"ok"${" ".repeat(1e6)}}`), /^no answer \(too long\)$/],
    [(_, response) => response.writeHead(500).end('{"status":"ok"}'), /^500 ok$/],
    [(_, response) => response.end('{"status":"ready"}'), /^200 ready$/],
    [(request) => request.socket.destroy(), /^no answer \(ECONNRESET\)$/],
    [(request) => request.socket.end("hunter2\r\n\r\n"), /^no answer \(HPE_\w+\)$/],
  ];
  for (const [answer, text] of answers) t.match(await ask(answer), { well: false, text });
  const honest = await ask((_, response) => response.end('{"status":"ok","store":"hunter2"}'));
  t.same(honest, { well: true, text: "200 ok" });
});

t.test("a configuration that names nobody to ask: exit 78 or 66", async (t) => {
  const folder = t.testdir({
    "none.yaml": "version: 1\n",
    "wrong.yaml": "version: 1\nadmin: { listen: hunter2 }\n",
    "twice.yaml": 'version: 1\nadmin: { listen: "127.0.0.1:1" }\nadmin: { listen: "127.0.0.1:2" }\n',
  });
  t.same(await health("--config", join(folder, "none.yaml")), {
    code: 78,
    out: "",
    err: `${folder}/none.yaml:1:1 admin: is missing: without admin.listen there is nobody to ask
sealgate: 1 problem in the configuration\n`,
  });
  t.match(await health("--config", join(folder, "wrong.yaml")), { code: 78, err: /2:\d+ admin\.listen: / });
  t.match(await health("--config", join(folder, "twice.yaml")), { code: 78, err: /3:1 / });
  t.match(await health("--config", join(folder, "absent.yaml")), { code: 66, out: "" });
});

t.test("a wrong command line: exit 64", async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /exactly one of --config and --url, found neither\n/],
    [["--config", "a", "--url", "http://a"], /found both\n/],
    [["--url", "https://127.0.0.1:9090"], /--url is not http:\/\/host:port\n/],
    [["--url", "http://u:hunter2@127.0.0.1:9090"], /--url is not/],
    [["--url", "http://127.0.0.1:9090/x"], /--url is not/],
    [["--url", "http://127.0.0.1:9090", "--timeout", "3"], /--timeout is no duration/],
    [["--url", "http://127.0.0.1:9090", "--timeout", "0s"], /--timeout is no duration/],
  ];
  const outcomes = await Promise.all(cases.map(([args]) => health(...args)));
  for (const [index, [, text]] of cases.entries()) {
    const outcome = outcomes[index] ?? { code: null, out: "", err: "" };
    t.match(outcome, { code: 64, out: "", err: text });
    t.notMatch(outcome.err, "hunter2");
  }
});

t.test("addresses", async (t) => {
  t.equal(reachable({ host: "0.0.0.0", port: 1 }), "http://127.0.0.1:1");
  t.equal(reachable({ host: "::", port: 1 }), "http://[::1]:1");
  t.equal(reachable({ host: "fd00::7", port: 1 }), "http://[fd00::7]:1");
  t.equal(reachable({ host: "10.1.2.3", port: 9090 }), "http://10.1.2.3:9090");
  t.equal(reachable({ host: "localhost", port: 9090 }), "http://localhost:9090");
  t.equal(parseAdminUrl("http://[::1]:9090")?.host, "[::1]:9090");
  t.equal(parseAdminUrl("http://gateway:9090/")?.host, "gateway:9090");
  for (const bad of ["gateway:9090", "http://a/?x", "http://a/#x", "http://u@a/", "file:///x", ""]) {
    t.equal(parseAdminUrl(bad), undefined, bad);
  }
});
