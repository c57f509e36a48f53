/** Whoever reaches the admin listener without its token: no body is waited for, no connection keeps probes out. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { ask, openGateway, operated, TOKEN } from "../integration/operators.ts";
import { asksOnce } from "../integration/rounds.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());

/** Sends bytes on a connection of its own, and gathers what comes. */
function dial(t: Test, gateway: TestGateway, bytes: string): { readonly socket: Socket; text(): string } {
  const socket = connect(Number(new URL(gateway.adminUrl ?? "").port), "127.0.0.1");
  let text = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => (text += String(chunk)));
  socket.write(bytes);
  t.teardown(() => socket.destroy());
  return { socket, text: () => text };
}
const head = (line: string, more = ""): string =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${more}`;

t.test("paths and methods that are none, and no token: answered before the body has come", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t));
  for (const [line, status] of [
    ["POST /nothing", 404],
    ["POST /metrics", 404],
    ["PUT /healthz", 404],
    ["POST /v1/revocations", 401],
    ["POST /v1/anything", 401],
  ] as const) {
    const one = dial(t, gateway, head(line, "Content-Length: 1000000\r\n\r\n{"));
    await until(() => one.text().startsWith(`HTTP/1.1 ${status} `));
    t.pass(line);
  }
});

t.test(
  "a head or a body that does not come ends the connection; so does a body that is too large",
  async (t) => {
    const timeouts = { request: 400, check: 50, keepAlive: 5_000 };
    const gateway = await startGateway(upstream.url, operated(t), { timeouts });
    t.teardown(() => gateway.close(0));
    const token = `Authorization: Bearer ${TOKEN}\r\n`;
    for (const bytes of [
      "GET /healthz HTT",
      head("POST /nothing", "Content-Length: 1000000\r\n\r\n{"),
      head("POST /v1/revocations", `${token}Content-Length: 100\r\n\r\n{`),
      head("POST /v1/revocations", `${token}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`),
    ]) {
      const { socket } = dial(t, gateway, bytes);
      await once(socket, "close");
      t.pass(bytes.slice(0, 20));
    }
    const reply = await ask(gateway, "/v1/revocations", { body: " ".repeat(16_385) });
    t.equal(reply.status, 413);
  },
);

t.test("who holds connections open does not keep a probe out", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t));
  const held = Array.from({ length: 300 }, () => dial(t, gateway, "GET /healthz HTT").socket);
  await until(() => held.filter(({ closed }) => closed).length >= 44);
  t.equal((await ask(gateway, "/healthz")).status, 200);
  t.ok(
    held.some(({ closed }) => !closed),
    "no more of them than needed",
  );
});

t.test("an order that cannot be read is on record as one", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t));
  for (const [path, options, status, action] of [
    ["/v1/revocations", { body: "{" }, 400, "revoke"],
    ["/v1/grants", { body: '{"a":1,"a":2}' }, 400, "grant"],
    ["/v1/grants", { body: " ".repeat(16_385) }, 413, "grant"],
    ["/v1/grants", { body: "{}", headers: { "content-type": "text/plain" } }, 415, "grant"],
    [`/v1/revocations/${"A".repeat(22)}`, { method: "DELETE", body: "{" }, 400, "unrevoke"],
    ["/v1/grants/x", { method: "DELETE", body: "no" }, 400, "ungrant"],
  ] as const) {
    const before = gateway.deeds.length;
    t.equal((await ask(gateway, path, options)).status, status, path);
    t.match(gateway.deeds.slice(before), [{ type: "admin", action, outcome: "refused", cause: "order" }]);
    t.equal(gateway.deeds.length, before + 1, "once");
  }
  t.equal((await ask(gateway, "/v1/revocations", { body: { route: "/mcp" } })).status, 201);
  t.match(gateway.deeds.at(-1), { action: "revoke", outcome: "done" });
});
