/** A token endpoint that misbehaves in every way, over real sockets: nothing is followed, nothing waits for ever, nothing is believed. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { TokenEndpoint } from "../../../src/upstream/token-endpoint.ts";
import { recordingLog, refusalOf } from "../../support/authentication.ts";
import { freePort } from "../../support/redis.ts";

const GOOD = JSON.stringify({
  ...{ access_token: "granted", token_type: "Bearer", expires_in: 60 },
  issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
});
const FORM = [["subject_token", "caller-secret"]] as const;

async function open(t: Test, serve: (response: ServerResponse, path: string) => void, timeout = 2_000) {
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      arrived.push(`${request.method} ${request.url} ${body}`);
      serve(response, request.url ?? "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = (server.address() as AddressInfo).port;
  const clock = { now: 1_000_000 };
  const log = recordingLog();
  const endpoint = new TokenEndpoint({
    url: `http://127.0.0.1:${port}/token?key=url-secret`,
    authentication: () => ({ headers: { authorization: "Basic client-secret" }, form: {} }),
    ...{ log, timeout, now: () => clock.now },
  });
  t.teardown(async () => {
    await endpoint.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { endpoint, arrived, clock, log, server, url: `http://127.0.0.1:${port}/` };
}

const json = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}) =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

t.test("the honest neighbour", async (t) => {
  const { endpoint, arrived } = await open(t, (response) => json(response, 200, GOOD));
  t.same(await endpoint.grant(FORM, true), { token: "granted", expiresIn: 60 });
  t.same(arrived, ["POST /token?key=url-secret subject_token=caller-secret"]);
});

type Row = [name: string, serve: (response: ServerResponse, path: string) => void, expected: string];
const redirect = (status: number) => (response: ServerResponse, path: string) =>
  path.startsWith("/moved")
    ? json(response, 200, GOOD)
    : json(response, status, GOOD, { location: "/moved" });

for (const [name, serve, expected] of [
  ...[301, 302, 303, 307, 308].map(
    (status): Row => [`a redirect ${status}`, redirect(status), "credential_fault grant_redirect"],
  ),
  ["no JSON", (r) => json(r, 200, GOOD.slice(1)), "credential_fault grant_json"],
  ["a list", (r) => json(r, 200, `[${GOOD}]`), "credential_fault grant_json"],
  ["nothing", (r) => json(r, 204, ""), "credential_fault grant_status"],
  [
    "a page of 64 KiB and more",
    (r) => json(r, 200, `${GOOD.slice(0, -1)},"x":"${"x".repeat(70_000)}"}`),
    "credential_fault grant_too_large",
  ],
  [
    "a compressed one",
    (r) => void r.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(GOOD)),
    "credential_fault grant_coding",
  ],
  ["a connection that is cut", (r) => void r.socket?.destroy(), "credential_unavailable grant_unreachable"],
  [
    "an answer that is cut",
    (r) => void r.writeHead(200, { "content-length": "999" }).write(GOOD, () => r.socket?.destroy()),
    "credential_unavailable grant_unreachable",
  ],
  ["503 with a token", (r) => json(r, 503, GOOD), "credential_unavailable grant_status"],
  [
    "a token for the wrong use",
    (r) => json(r, 200, GOOD.replace("Bearer", "N_A")),
    "credential_fault grant_token_type",
  ],
] satisfies Row[]) {
  t.test(`${name}: asked once, and refused`, async (t) => {
    const { endpoint, arrived, log } = await open(t, serve);
    const { code, detail } = await refusalOf(endpoint.grant(FORM, true));
    t.equal(`${code} ${detail}`, expected);
    t.equal(arrived.length, 1);
    t.equal(log.lines.length, 1);
    t.notMatch(JSON.stringify(log.lines), /secret|granted/);
  });
}

for (const [name, serve] of [
  ["no answer", () => undefined],
  [
    "one byte at a time",
    (response: ServerResponse) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 5);
      response.on("close", () => clearInterval(timer));
    },
  ],
] as const) {
  t.test(`${name}: the whole answer has a bound`, async (t) => {
    const { endpoint } = await open(t, serve, 60);
    const { code, detail } = await refusalOf(endpoint.grant(FORM, true));
    t.equal(`${code} ${detail}`, "credential_unavailable grant_timeout");
  });
}

t.test("bytes that are no HTTP", async (t) => {
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).end("220 ready\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const log = recordingLog();
  const endpoint = new TokenEndpoint({
    url,
    log,
    now: Date.now,
    authentication: () => ({ headers: {}, form: {} }),
  });
  t.teardown(() => endpoint.close());
  const { code, detail } = await refusalOf(endpoint.grant(FORM, true));
  t.equal(`${code} ${detail}`, "credential_fault grant_http");
});

t.test("where nobody listens, a second of rest; what an answer says is none", async (t) => {
  const port = await freePort();
  const clock = { now: 1_000_000 };
  const endpoint = new TokenEndpoint({
    url: `http://127.0.0.1:${port}/token`,
    authentication: () => ({ headers: {}, form: {} }),
    ...{ log: recordingLog(), now: () => clock.now },
  });
  t.teardown(() => endpoint.close());
  t.equal((await refusalOf(endpoint.grant(FORM, true))).detail, "grant_unreachable");
  let status = 503;
  const server = createServer((request, response) => {
    request.resume().on("end", () => json(response, status, GOOD));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  t.equal((await refusalOf(endpoint.grant(FORM, true))).detail, "grant_rest");
  clock.now += 1_000;
  t.equal((await refusalOf(endpoint.grant(FORM, true))).detail, "grant_status");
  status = 200;
  t.equal((await endpoint.grant(FORM, true)).token, "granted", "for another token it may work");
});

t.test("a clock that goes backwards is no outage", async (t) => {
  const { endpoint, clock, url, server } = await open(t, (response) => json(response, 200, GOOD));
  t.equal((await endpoint.grant(FORM, true)).token, "granted");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  t.equal((await refusalOf(endpoint.grant(FORM, true))).detail, "grant_unreachable");
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), "127.0.0.1", resolve));
  clock.now -= 60_000;
  t.equal((await endpoint.grant(FORM, true)).token, "granted");
});

t.test("a client that is not known is an error in the log", async (t) => {
  const { endpoint, log } = await open(t, (r) =>
    json(r, 401, '{"error":"invalid_client","error_description":"client-secret"}'),
  );
  await refusalOf(endpoint.grant(FORM, true));
  t.match(log.lines, [{ level: "error", fields: { cause: "grant_client" } }]);
  t.notMatch(JSON.stringify(log.lines), /secret/);
});

t.test("closed, what waits ends", async (t) => {
  const { endpoint } = await open(t, () => undefined, 60_000);
  const waiting = refusalOf(endpoint.grant(FORM, true));
  await endpoint.close();
  t.equal((await waiting).code, "credential_unavailable");
});
