/** TLS on both sides: the gateway's own listener, and the upstream it trusts by authority and name. */
import { once } from "node:events";
import { createServer as createHttpsServer, request as httpsRequest } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import t, { type Test } from "tap";
import { type Certificate, hasOpenssl, selfSigned } from "../support/certificates.ts";
import { exchange, type Message, mirrored, startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { ASK, asksOnce, DONE, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const TRANSPORT = { code: -32603, data: { reason: "upstream_unreachable" } };

/** An MCP server behind TLS: asks once, then acts. */
function secureServer({ cert, key }: Certificate): Server {
  return createHttpsServer({ cert, key }, (request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      const { id, params } = JSON.parse(body);
      const text = params.requestState === undefined ? ASK : DONE;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
    });
  });
}

async function listen(t: Test, server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A gateway before `https://127.0.0.1:port/mcp`. */
async function before(t: Test, port: number, settings: Record<string, unknown> = {}) {
  const upstream = { url: `https://127.0.0.1:${port}/mcp`, ...settings };
  const gateway = await startGateway("", { routes: [{ path: "/mcp", upstream }] });
  t.teardown(() => gateway.close(0));
  return gateway;
}

t.test(
  "server.tls: HTTPS for those who trust the certificate, and nothing but HTTPS",
  { skip },
  async (t) => {
    const upstream = await startUpstream(asksOnce);
    t.teardown(() => upstream.close());
    const { certFile, keyFile, cert } = await selfSigned(t, ["DNS:gateway.test"]);
    const gateway = await startGateway(upstream.url, {
      server: {
        listen: "127.0.0.1:0",
        publicUrl: "https://gateway.test",
        tls: { cert: { file: certFile }, key: { file: keyFile } },
      },
    });
    t.teardown(() => gateway.close(0));
    t.match(gateway.url, /^https:/);
    const call = (message: Message, id: string, options: object = {}) =>
      new Promise<{ status: number; text: string; protocol: string | null }>((resolve, reject) => {
        const request = httpsRequest(
          new URL("/mcp", gateway.url),
          {
            ...{ method: "POST", headers: { ...mirrored(message), host: "gateway.test" }, agent: false },
            ...{ ca: cert, servername: "gateway.test", ...options },
          },
          (response) => {
            const protocol = (response.socket as import("node:tls").TLSSocket).getProtocol();
            let text = "";
            response.on("data", (piece: Buffer) => {
              text += piece.toString();
            });
            response.on("end", () => resolve({ status: response.statusCode ?? 0, text, protocol }));
          },
        );
        request.on("error", reject).end(textOf(id, message));
      });
    const first = await call(TRANSFER, "1");
    t.match(first, { status: 200, protocol: /^TLSv1\.[23]$/ });
    const state = JSON.parse(first.text).result.requestState;
    t.match(JSON.parse((await call(retryOf(state), "2")).text).result, JSON.parse(DONE));
    await t.rejects(call(TRANSFER, "3", { ca: undefined }), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    await t.rejects(call(TRANSFER, "4", { minVersion: "TLSv1.1", maxVersion: "TLSv1.1" }));
    await t.rejects(
      exchange(gateway.url.replace("https", "http"), { body: "{}" }),
      "plain HTTP gets no answer",
    );
    t.equal(upstream.arrived.length, 2);
  },
);

t.test("upstream.tls: trusted by the given authority", { skip }, async (t) => {
  const certificate = await selfSigned(t, ["IP:127.0.0.1"]);
  const port = await listen(t, secureServer(certificate));
  const gateway = await before(t, port, { tls: { ca: { file: certificate.certFile } } });
  const state = stateOf(await gateway.call(TRANSFER));
  t.match((await gateway.call(retryOf(state))).json.result, JSON.parse(DONE));
});

t.test("upstream.tls: trusted by another name only where the operator gave it", { skip }, async (t) => {
  const certificate = await selfSigned(t, ["DNS:inner.test"]);
  const port = await listen(t, secureServer(certificate));
  const ca = { file: certificate.certFile };
  const named = await before(t, port, { tls: { ca, servername: "inner.test" } });
  t.match(stateOf(await named.call(TRANSFER)), /^sg1\./);
  for (const tls of [{ ca }, { ca, servername: "other.test" }]) {
    const gateway = await before(t, port, { tls });
    t.match(await gateway.call(TRANSFER), { status: 502, json: { error: TRANSPORT } });
    t.equal(gateway.audit.at(-1)?.cause, "tls");
  }
});

t.test(
  "an upstream that nothing vouches for is not talked to, whatever the environment says",
  { skip },
  async (t) => {
    const port = await listen(t, secureServer(await selfSigned(t, ["IP:127.0.0.1"])));
    const other = await selfSigned(t, ["IP:127.0.0.1"]);
    const lax = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    t.teardown(() => {
      if (lax === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = lax;
    });
    for (const settings of [{}, { tls: { ca: { file: other.certFile } } }]) {
      const gateway = await before(t, port, settings);
      const reply = await gateway.call(TRANSFER);
      t.match(reply, { status: 502, json: { error: TRANSPORT } });
      t.notMatch(reply.body, /self.signed|certificate|127\.0\.0\.1/i);
      t.equal(gateway.audit.at(-1)?.cause, "tls");
    }
  },
);

t.test(
  "a handshake that does not come about: nothing was sent, so the state is released",
  { skip },
  async (t) => {
    const certificate = await selfSigned(t, ["IP:127.0.0.1"]);
    const wrong = await selfSigned(t, ["DNS:inner.test"]);
    const ca = { file: certificate.certFile };
    const ports: number[] = [];
    const serveOn = async (server: Server): Promise<() => Promise<void>> => {
      ports.push(await listen(t, server, ports[0]));
      const sockets = new Set<import("node:net").Socket>();
      server.on("connection", (socket) => sockets.add(socket.on("error", () => undefined)));
      return () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        });
    };
    let close = await serveOn(secureServer(certificate));
    const gateway = await before(t, ports[0] ?? 0, { tls: { ca }, timeouts: { connect: "100ms" } });
    const state = stateOf(await gateway.call(TRANSFER));
    for (const [server, cause] of [
      [createServer(), "connect_timeout"],
      [createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")), /./],
      [secureServer(wrong), "tls"],
    ] as const) {
      await close();
      close = await serveOn(server);
      t.match(await gateway.call(retryOf(state)), { status: 502, json: { error: TRANSPORT } });
      t.match(gateway.audit.at(-1), { state: "released", cause });
    }
    await close();
    close = await serveOn(secureServer(certificate));
    t.match((await gateway.call(retryOf(state))).json.result, JSON.parse(DONE));
    await close();
  },
);
