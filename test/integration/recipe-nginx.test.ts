/** docs/recipes/behind-nginx.md: the real nginx with the page's configuration, TLS in front. */
import { request } from "node:https";
import t, { type Test } from "tap";
import { hasOpenssl, selfSigned } from "../support/certificates.ts";
import { type Message, meta, mirrored } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startNginx } from "../support/nginx.ts";
import { auditOf, blocks, fitted, LISTEN, startRecipe } from "../support/recipe.ts";
import { until } from "../support/until.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, INNER, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const [nginxPage = ""] = blocks("behind-nginx.md", "nginx");
const [gatewayPage = ""] = blocks("behind-nginx.md", "yaml");
const HOST = "mcp.example.com";
const SLOW: Message = { method: "tools/call", params: { name: "slow", arguments: {} } };
const PROGRESS =
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';

/** nginx with the page's blocks; gives its port. */
const startPage = (t: Test, backend: string, certificate: { certFile: string; keyFile: string }) =>
  startNginx(t, (port) =>
    fitted(nginxPage, {
      "server 127.0.0.1:8080;": `server ${new URL(backend).host};`,
      "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
      "/etc/nginx/mcp.crt": certificate.certFile,
      "/etc/nginx/mcp.key": certificate.keyFile,
    }),
  );

async function open(t: Test, script: Script) {
  const certificate = await selfSigned(t, [`DNS:${HOST}`]);
  const issuer = await startIssuer();
  const upstream = await startUpstream(script);
  t.teardown(() => issuer.close());
  t.teardown(() => upstream.close());
  const gateway = await startRecipe(
    t,
    fitted(gatewayPage, {
      ...LISTEN,
      "https://login.example.com": issuer.issuer,
      "http://127.0.0.1:3001/mcp": upstream.url,
    }),
    { "key-2026-11": "k".repeat(43) },
  );
  const port = await startPage(t, gateway.url, certificate);
  const token = await issuer.token({ aud: `https://${HOST}/mcp` });
  let id = 1;
  /** Sends through nginx; `seen` gets each piece of the answer as it comes. */
  const send = (
    message: Message,
    more: { headers?: object; body?: string; path?: string; method?: string } = {},
    seen = (_: string): void => undefined,
  ) =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
      const client = request({
        host: "127.0.0.1",
        port,
        servername: HOST,
        ca: certificate.cert,
        method: more.method ?? "POST",
        path: more.path ?? "/mcp",
        agent: false,
        headers: { host: HOST, ...mirrored(message), authorization: `Bearer ${token}`, ...more.headers },
      });
      client.on("error", reject).on("response", (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          body += piece;
          seen(body);
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      client.end(more.method === "GET" ? undefined : (more.body ?? textOf(String(id++), message)));
    });
  return { send, gateway, upstream };
}

t.test("behind nginx", { skip }, async (t) => {
  const held = holding();
  const { send, gateway, upstream } = await open(t, (arrived, response) =>
    arrived.json?.params?.name === "slow" ? held.script(arrived, response) : asksOnce(arrived, response),
  );

  t.test("a round trip, and the address of the client in the audit", async (t) => {
    const first = await send(TRANSFER, { headers: { "x-forwarded-for": "203.0.113.9" } });
    const state = stateOf({ ...first, headers: {}, json: JSON.parse(first.body) });
    const second = await send(retryOf(state));
    t.match(JSON.parse(second.body), { result: JSON.parse(DONE) });
    t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
    const records = await auditOf(gateway, 2);
    t.same(
      records.map(({ address }) => address),
      ["127.0.0.1", "127.0.0.1"],
      "not what a client says of itself",
    );
  });

  t.test("events come as they are sent", async (t) => {
    const message = { ...SLOW, params: { ...SLOW.params, _meta: { ...meta(), progressToken: 1 } } };
    let text = "";
    const reply = send(message, {}, (body) => {
      text = body;
    });
    const { arrived, response } = await held.next();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${PROGRESS}\n\n`);
    await until(() => text.includes("notifications/progress"));
    response.end(`data: {"jsonrpc":"2.0","id":${arrived.json.id},"result":${DONE}}\n\n`);
    t.match((await reply).body, /"text":"done"/);
  });

  t.test("what is refused is refused by the gateway, in its own form", async (t) => {
    const large = await send(TRANSFER, { body: `{"pad":"${"x".repeat(4.5 * 1024 * 1024)}"}` });
    t.equal(large.status, 413);
    t.match(JSON.parse(large.body), { error: { data: { reason: "body_too_large" } } });
    const elsewhere = await send(TRANSFER, { headers: { host: "other.example.com" } });
    t.equal(elsewhere.status, 421);
    const without = await send(TRANSFER, { headers: { authorization: "" } });
    t.equal(without.status, 401);
    const url = /resource_metadata="https:\/\/mcp\.example\.com([^"]+)"/.exec(
      String(without.headers["www-authenticate"]),
    )?.[1];
    const metadata = await send(TRANSFER, { method: "GET", path: url ?? "" });
    t.match(JSON.parse(metadata.body), { resource: `https://${HOST}/mcp` });
  });

  t.test("a call whose gateway dies is not sent again", async (t) => {
    const before = upstream.arrived.length;
    const reply = send(SLOW);
    await held.next();
    gateway.kill("SIGKILL");
    t.equal((await reply).status, 502);
    t.equal(upstream.arrived.length, before + 1);
  });
});
