/** What docker/balancer/nginx.conf says when a gateway is lost: "send it again" only where no gateway got a byte of it. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { program } from "../support/debian.ts";
import { exchange } from "../support/gateway.ts";
import { freePort } from "../support/redis.ts";
import { until } from "../support/until.ts";

const CONF = new URL("../../docker/balancer/nginx.conf", import.meta.url);

/** The file as it is, with other places, and a gateway that is given up after a second in place of five minutes. */
async function startBalancer(t: Test, gateway: number): Promise<string> {
  const nginx = await program("nginx", { debian: "nginx-light", alpine: "nginx" });
  const [port, health] = [await freePort(), await freePort()];
  const folder = t.testdir({ temp: {} });
  const replaced: readonly (readonly [string, string])[] = [
    ["listen 8080;", `listen 127.0.0.1:${port};`],
    ["listen 127.0.0.1:8081;", `listen 127.0.0.1:${health};`],
    ["proxy_pass http://$gateways:8080;", `proxy_pass http://127.0.0.1:${gateway};`],
    ["proxy_read_timeout 310s;", "proxy_read_timeout 1s;"],
    ["/tmp/", `${folder}/temp/`],
  ];
  let text = await readFile(CONF, "utf8");
  for (const [from, to] of replaced) {
    if (!text.includes(from)) throw new Error(`nginx.conf no longer says ${from}`);
    text = text.replaceAll(from, to);
  }
  await writeFile(join(folder, "nginx.conf"), text);
  const child = spawn(nginx, ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], { stdio: "ignore" });
  t.teardown(() => child.kill("SIGTERM"));
  const url = `http://127.0.0.1:${port}`;
  const healthy = (): Promise<boolean> =>
    exchange(`http://127.0.0.1:${health}`, { method: "GET", path: "/" }).then(
      ({ status }) => status === 204,
      () => false,
    );
  await until(healthy);
  return url;
}

const post = (url: string) =>
  exchange(url, { headers: { "content-type": "application/json" }, body: '{"jsonrpc":"2.0"}' });

t.test("a gateway that is not there: to be sent again", async (t) => {
  const reply = await post(await startBalancer(t, await freePort()));
  t.match(reply, { status: 503, headers: { "retry-after": "1" }, json: { error: { code: -32603 } } });
  t.match(reply.json.error.message, /send the request again/);
});

for (const [name, act] of [
  ["that dies with the request", (socket: Socket) => socket.once("data", () => socket.resetAndDestroy())],
  ["that never answers", (socket: Socket) => socket.resume()],
] as const) {
  t.test(`a gateway ${name}: nobody is told to send it again`, async (t) => {
    const sockets = new Set<Socket>();
    let requests = 0;
    const gateway = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", () => {
        requests += 1;
      });
      act(socket);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => gateway.listen(port, "127.0.0.1", resolve));
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
      gateway.close();
    });
    const reply = await post(await startBalancer(t, port));
    t.match(reply, { status: 502, json: { error: { code: -32603 } } });
    t.equal(reply.headers["retry-after"], undefined);
    t.match(reply.json.error.message, /do not assume that it failed/);
    t.equal(requests, 1, "nor does nginx send it again");
  });
}
