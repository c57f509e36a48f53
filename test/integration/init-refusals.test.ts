/** What `sealgate init` cannot work with, said at once and in words; then nothing is written. */
import { chmodSync } from "node:fs";
import { request } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { readInitOptions } from "../../src/commands/init-options.ts";
import { loadConfig } from "../../src/config/load.ts";
import { hasOpenssl, selfSigned } from "../support/certificates.ts";
import { startIssuer } from "../support/issuer.ts";
import { sealgate } from "../support/program.ts";
import { startSdkSessionServer } from "../support/sdk-session-server.ts";
import type { Script } from "../support/upstream.ts";
import { DISCOVERED, listing, runInit, serverFor, tree } from "./init-scene.ts";

/** An address that refuses connections. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`;
}

const answer =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): Script =>
  (_arrived, response) =>
    void response.writeHead(status, { "content-type": type, ...headers }).end(body);

const rpc = (body: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...body });

const CASES: readonly (readonly [what: string, script: Script, message: RegExp])[] = [
  [
    "a web page",
    answer(200, "text/html", "<html>"),
    /HTTP 200 and no JSON-RPC message, so it is no MCP endpoint/,
  ],
  ["no such path", answer(404, "text/plain", "no"), /HTTP 404 and no JSON-RPC message/],
  ["broken JSON", answer(200, "application/json", "{"), /not with JSON-RPC as MCP has it/],
  [
    "another id",
    answer(200, "application/json", JSON.stringify({ jsonrpc: "2.0", id: 2, result: {} })),
    /no JSON-RPC message/,
  ],
  [
    "a key twice",
    answer(200, "application/json", '{"jsonrpc":"2.0","id":1,"id":1,"result":{}}'),
    /not with JSON-RPC/,
  ],
  ["a stream that ends", answer(200, "text/event-stream", ": nothing\n\n"), /not with JSON-RPC/],
  ["too much", answer(200, "application/json", " ".repeat(5_000_000)), /larger than 4 MiB/],
  [
    "a redirect to another host",
    answer(307, "text/plain", "", { location: "http://127.0.0.2:9/other?secret=1" }),
    /redirects to http:\/\/127\.0\.0\.2:9\/other, which is not followed/,
  ],
  [
    "a redirect to nowhere",
    answer(302, "text/plain", "", { location: "javascript:alert(1)" }),
    /redirects, which is not followed/,
  ],
  [
    "another revision, by error",
    answer(
      400,
      "application/json",
      rpc({ error: { code: -32022, message: "no", data: { supported: ["2027-01-01", "\u001b[31m"] } } }),
    ),
    /speaks 2027-01-01, Sealgate needs 2026-07-28/,
  ],
  [
    "another revision, by result",
    answer(200, "application/json", rpc({ result: { ...DISCOVERED, supportedVersions: ["2027-01-01"] } })),
    /speaks 2027-01-01, Sealgate needs 2026-07-28/,
  ],
  [
    "an error of its own, with words of its own",
    answer(200, "application/json", rpc({ error: { code: -32000, message: "\u001b[31mrun rm" } })),
    /does not know server\/discover \(error -32000\), so it speaks only revisions before 2026-07-28/,
  ],
  [
    "a list that is none",
    (arrived, response) =>
      listing(arrived.json.method === "server/discover" ? {} : { "tools/list": ["x" as never] })(
        arrived,
        response,
      ),
    /the result of tools\/list holds no list/,
  ],
];

for (const [what, script, message] of CASES) {
  t.test(`a server with ${what}`, async (t) => {
    const server = await serverFor(t, script);
    const out = join(t.testdir(), "out");
    const made = await runInit({ upstream: server.url, out });
    t.equal(made.code, 69);
    t.equal(made.out, "");
    t.match(made.err, message);
    t.match(made.err, /\nsealgate: nothing was written\n$/);
    t.notMatch(made.err, /\[31m|secret|\n\s+at /, "nothing of the server's own words, no stack");
    t.same(tree(out), []);
  });
}

t.test("a server on the real SDK that speaks only older revisions", async (t) => {
  const server = await startSdkSessionServer();
  t.teardown(server.close);
  const made = await runInit({ upstream: server.url, out: join(t.testdir(), "out") });
  t.equal(made.code, 69);
  t.match(made.err, /only revisions before 2026-07-28/);
});

t.test("everything that is wrong is told at once", async (t) => {
  const issuer = await startIssuer();
  t.teardown(issuer.close);
  const out = t.testdir({ "sealgate.yaml": "" });
  const url = await deadUrl();
  issuer.document = { issuer: `${issuer.issuer}/` };
  const made = await runInit({ upstream: url, issuer: issuer.issuer, out });
  t.equal(made.code, 73);
  t.match(made.err, /sealgate\.yaml: exists already/);
  t.match(made.err, `${url}: cannot be reached (ECONNREFUSED)`);
  t.match(made.err, `${issuer.issuer}: calls itself ${issuer.issuer}/; --issuer must be exactly that`);
  const both = await runInit({
    upstream: url,
    issuer: await deadUrl(),
    "upstream-token-env": "NO_SUCH_TOKEN",
    out: join(out, "x"),
  });
  t.equal(both.code, 69);
  t.match(both.err, /--upstream-token-env: the environment variable NO_SUCH_TOKEN is not set/);
  t.match(both.err, /cannot be reached, ECONNREFUSED/);
});

t.test("a wrong command line, all of it at once", async (t) => {
  const made = await sealgate(
    "init --upstream ftp://x/ --issuer https://u:p@x --for cloud --listen x".split(" "),
  );
  t.equal(made.code, 64);
  t.notMatch(made.err, "u:p");
  for (const line of [
    "--upstream is not an http:// or https:// URL",
    "--issuer must not hold credentials",
    "--for is none of laptop, compose, sidecar",
    "--listen is not HOST:PORT",
  ]) {
    t.match(made.err, line);
  }
  const upstream = "http://127.0.0.1:1/";
  for (const [given, message] of [
    [{}, /init needs --upstream URL/],
    [{ upstream, for: "compose" }, /--for compose needs --issuer/],
    [{ upstream, listen: "0.0.0.0:80" }, /no loopback address/],
    [{ upstream, "public-url": "https://a.example/x" }, /--public-url is not an origin/],
    [{ upstream, "upstream-token-env": "A B" }, /not the name of an environment variable/],
    [{ upstream: "javascript:1" }, /--upstream is not/],
    [{ upstream: `${upstream}#a` }, /fragment/],
  ] as const) {
    t.throws(() => readInitOptions(new Map(Object.entries(given))), { name: "UsageError", message });
  }
  t.equal(readInitOptions(new Map([["upstream", "http://localhost:8080/mcp"]])).listen.port, 8_090);
});

const openssl = (await hasOpenssl()) ? false : "needs openssl";
t.test("a private authority is asked for in words, taken, and written", { skip: openssl }, async (t) => {
  const [own, other] = await Promise.all([selfSigned(t, ["IP:127.0.0.1"]), selfSigned(t, ["IP:127.0.0.1"])]);
  const plain = await serverFor(t, listing({ "tools/list": [[{ name: "read" }]] }));
  const server = createTlsServer({ cert: own.cert, key: own.key }, (incoming, response) => {
    const headers = { ...incoming.headers };
    incoming.pipe(
      request(plain.url, { method: "POST", headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const upstream = `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`;
  const out = join(t.testdir(), "gateway");
  for (const more of [{}, { "upstream-ca": other.certFile }]) {
    const refused = await runInit({ upstream, out, ...more });
    t.equal(refused.code, 69);
    t.match(refused.err, /its certificate is of an authority .* give that one with --upstream-ca FILE\n/);
  }
  const odd = await runInit({ upstream, out, "upstream-ca": own.keyFile });
  t.match(odd, { code: 69, err: /--upstream-ca: the file holds no PEM certificate/ });
  t.throws(
    () =>
      readInitOptions(
        new Map([
          ["upstream", plain.url],
          ["upstream-ca", "x"],
        ]),
      ),
    {
      message: /--upstream-ca goes with an https:\/\/ server/,
    },
  );
  t.same(tree(out), []);
  t.match(await runInit({ upstream, out, "upstream-ca": own.certFile }), {
    code: 0,
    out: /Clients of a revision before 2026-07-28 are refused/,
  });
  const { config } = await loadConfig(join(out, "sealgate.yaml"), {});
  t.equal(config.routes[0]?.upstream.tls?.ca?.file, own.certFile);

  const issuer = await startIssuer();
  t.teardown(issuer.close);
  const compose = { upstream, issuer: issuer.issuer, for: "compose", "upstream-ca": own.certFile };
  const taken = t.testdir({ taken: { config: { "upstream-ca.crt": "mine" } } });
  const late = await runInit({ ...compose, out: join(taken, "taken") });
  t.match(late, { code: 73, err: /config\/upstream-ca\.crt: exists already and is never overwritten/ });
  t.same(tree(taken), ["taken", "taken/config", "taken/config/upstream-ca.crt"]);
  t.match(await runInit({ ...compose, out: join(taken, "free") }), { code: 0 });
  t.ok(tree(taken).includes("free/config/upstream-ca.crt"));
});

t.test("warnings name the folder as it is called", async (t) => {
  const server = await serverFor(t, listing({ "tools/list": [[{ name: "read" }]] }));
  for (const name of ["plain", "$&", "a$'b", "$$", "$`"]) {
    const folder = t.testdir({ token: "secret-token" });
    const out = join(folder, name);
    const token = join(folder, "token");
    chmodSync(token, 0o644);
    const made = await runInit({ upstream: server.url, out, "upstream-token-file": token });
    t.equal(made.code, 0);
    t.ok(made.err.startsWith(`warning: ${out}/sealgate.yaml:`), made.err);
    t.notMatch(made.err, ".sealgate-init-");
  }
});
