/** The gateway's own certificate for a server that asks for one: shown, renewed without a restart, and what happens where it does not fit. */
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import t, { type Test } from "tap";
import { loadConfig } from "../../src/config/load.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import { startGateway } from "../support/gateway.ts";
import { ASK, DONE, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const servers = await createAuthority(t, { subject: "/CN=servers" });
const clients = await createAuthority(t, { subject: "/CN=clients" });
const own = await servers.issue({ usage: "serverAuth", names: ["IP:127.0.0.1", "DNS:localhost"] });

/** A server that takes only clients of one authority. `seen` has the names of those that called. */
async function startServer(
  t: Test,
  ca: Authority = clients,
): Promise<{ url: string; seen: string[]; server: Server }> {
  const seen: string[] = [];
  const settings = { cert: own.cert, key: own.key, ca: ca.cert, requestCert: true, rejectUnauthorized: true };
  const server = createServer(settings, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
      const asks = params?.requestState === undefined && params?.name !== undefined;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${asks ? ASK : DONE}}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen, server };
}

async function folderWith(t: Test, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-pair-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [name, from] of Object.entries(files)) await copyFile(from, join(folder, name));
  return folder;
}

const tlsOf = (folder: string) => ({
  ca: { file: servers.certFile },
  cert: { file: join(folder, "cert.pem") },
  key: { file: join(folder, "key.pem") },
});

t.test("shown to the server, and renewed without a restart and without a lost request", async (t) => {
  const first = await clients.issue({ subject: "/CN=gateway-1" });
  const second = await clients.issue({ subject: "/CN=gateway-2" });
  const { url, seen } = await startServer(t);
  const folder = await folderWith(t, { "cert.pem": first.certFile, "key.pem": first.keyFile });
  const gateway = await startGateway(url, {
    routes: [{ path: "/mcp", upstream: { url, tls: tlsOf(folder) } }],
  });
  t.teardown(() => gateway.close(0));
  const state = stateOf(await gateway.call(TRANSFER));
  t.same(seen, ["gateway-1"]);
  // The pair changes file by file; half of it fits nothing and is not taken up.
  await copyFile(second.certFile, join(folder, "cert.pem"));
  t.notOk(await gateway.reload());
  t.match(
    gateway.logged(),
    /routes\[0\]\.upstream\.tls\.key: is no PEM private key without passphrase that fits cert/,
  );
  t.equal((await gateway.call({ method: "tools/list" })).status, 200);
  await copyFile(second.keyFile, join(folder, "key.pem"));
  t.ok(await gateway.reload());
  t.equal((await gateway.call(retryOf(state))).status, 200, "the open round goes on");
  t.same(seen, ["gateway-1", "gateway-1", "gateway-2"]);
  t.notMatch(gateway.logged(), /PRIVATE KEY/);
});

t.test("a certificate that the server does not take: sent once, and the next one works", async (t) => {
  const strange = await createAuthority(t, { subject: "/CN=strangers" });
  const wrong = await strange.issue({ subject: "/CN=stranger" });
  const right = await clients.issue({ subject: "/CN=gateway" });
  const { url, seen } = await startServer(t);
  const folder = await folderWith(t, { "cert.pem": wrong.certFile, "key.pem": wrong.keyFile });
  const routes = [{ path: "/mcp", upstream: { url, tls: tlsOf(folder) } }];
  const gateway = await startGateway(url, { routes });
  t.teardown(() => gateway.close(0));
  for (const without of [false, true]) {
    if (without) {
      const tls = { ca: { file: servers.certFile } };
      await gateway.configure({ routes: [{ path: "/mcp", upstream: { url, tls } }] });
    }
    const reply = await gateway.call({ method: "tools/list" });
    t.match(reply, { status: 502, json: { error: { data: { reason: "upstream_lost" } } } });
    t.same(seen, []);
  }
  await copyFile(right.certFile, join(folder, "cert.pem"));
  await copyFile(right.keyFile, join(folder, "key.pem"));
  t.ok(await gateway.configure({ routes }));
  t.equal((await gateway.call({ method: "tools/list" })).status, 200);
  t.same(seen, ["gateway"]);
});

t.test("a server whose own certificate is not trusted gets nothing", async (t) => {
  const pair = await clients.issue({ subject: "/CN=gateway" });
  const { url, seen } = await startServer(t);
  const folder = await folderWith(t, { "cert.pem": pair.certFile, "key.pem": pair.keyFile });
  const tls = { ...tlsOf(folder), ca: { file: clients.certFile } };
  const gateway = await startGateway(url, { routes: [{ path: "/mcp", upstream: { url, tls } }] });
  t.teardown(() => gateway.close(0));
  t.match(await gateway.call(TRANSFER), {
    status: 502,
    json: { error: { data: { reason: "upstream_unreachable" } } },
  });
  t.equal(gateway.audit.at(-1)?.cause, "tls");
  t.same(seen, []);
});

t.test("check says what is wrong with a pair, all at once", async (t) => {
  const [one, two] = [await clients.issue(), await clients.issue()];
  const folder = await folderWith(t, {
    "cert.pem": one.certFile,
    "key.pem": two.keyFile,
    broken: one.keyFile,
  });
  const route = (path: string, tls: object, url = "https://up.example/mcp") => ({
    path,
    upstream: { url, tls },
  });
  const file = join(folder, "sealgate.yaml");
  const routes = [
    route("/a", { cert: { file: "cert.pem" }, key: { file: "key.pem" } }),
    route("/b", { cert: { file: "cert.pem" } }),
    route("/c", { key: { file: "key.pem" } }),
    route("/d", { cert: { file: "broken" }, key: { file: "missing" } }),
    route("/e", { cert: { file: "cert.pem" }, key: { file: "broken" } }, "http://127.0.0.1:1/mcp"),
    route("/f", { cert: { file: "cert.pem" }, key: { file: "broken" } }),
  ];
  await writeFile(
    file,
    JSON.stringify({
      version: 1,
      authentication: { mode: "anonymous" },
      authorization: { default: "allow" },
      routes,
    }),
  );
  const message = await loadConfig(file, {}).then(
    () => "",
    (error: Error) => error.message,
  );
  t.same(
    message
      .split("\n")
      .map((line) => line.replace(/^\S+ /, ""))
      .sort(),
    [
      "routes[0].upstream.tls.key: is no PEM private key without passphrase that fits cert",
      "routes[1].upstream.tls.cert: needs key beside it",
      "routes[2].upstream.tls.key: needs cert beside it",
      "routes[3].upstream.tls.cert.file: the file holds no PEM certificate",
      "routes[3].upstream.tls.key.file: the file does not exist (a relative path starts at the folder of the configuration file)",
      "routes[4].upstream.tls: needs an https:// URL, found http:// in upstream.url",
    ],
  );
});
