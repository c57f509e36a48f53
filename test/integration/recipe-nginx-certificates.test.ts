/** docs/recipes/behind-nginx.md, client certificates: the real nginx asks for them and says in a header what it got. */
import { request } from "node:https";
import t from "tap";
import { type Certificate, createAuthority, hasOpenssl, selfSigned } from "../support/certificates.ts";
import { type Message, mirrored } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startNginx } from "../support/nginx.ts";
import { auditOf, blocks, fitted, LISTEN, startRecipe } from "../support/recipe.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const HOST = "mcp.example.com";
const [page = "", inServer = "", inLocation = ""] = blocks("behind-nginx.md", "nginx");
const [gatewayPage = "", inAuthentication = ""] = blocks("behind-nginx.md", "yaml");

t.test("certificates that nginx has seen", { skip }, async (t) => {
  const site = await selfSigned(t, [`DNS:${HOST}`]);
  const authority = await createAuthority(t, { subject: "/CN=clients" });
  const issuer = await startIssuer();
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => issuer.close());
  t.teardown(() => upstream.close());
  const gateway = await startRecipe(
    t,
    fitted(gatewayPage.replace("authentication:\n", `authentication:\n${inAuthentication}`), {
      ...LISTEN,
      "https://login.example.com": issuer.issuer,
      "http://127.0.0.1:3001/mcp": upstream.url,
    }),
    { "key-2026-11": "k".repeat(43), "clients.crt": authority.cert },
  );
  const port = await startNginx(t, (port) =>
    fitted(
      page
        .replace("  ssl_protocols", `${inServer}  ssl_protocols`)
        .replace("    proxy_set_header Host", `${inLocation}    proxy_set_header Host`),
      {
        "server 127.0.0.1:8080;": `server ${new URL(gateway.url).host};`,
        "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
        "/etc/nginx/mcp.crt": site.certFile,
        "/etc/nginx/mcp.key": site.keyFile,
        "/etc/nginx/clients.crt": authority.certFile,
      },
    ),
  );
  let id = 1;
  const send = (message: Message, shown: Partial<Certificate>, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const sent = request(
        {
          ...{ host: "127.0.0.1", port, path: "/mcp", method: "POST", agent: false, servername: HOST },
          ...{ ca: site.cert, cert: shown.cert, key: shown.key },
          headers: { host: HOST, ...mirrored(message), ...headers },
        },
        (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            body += piece;
          });
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        },
      );
      sent.on("error", reject).end(textOf(String(id++), message));
    });

  const names = (name: string) => ({ names: [`URI:spiffe://clients.example.com/${name}`] });
  const [alice, bob] = [await authority.issue(names("alice")), await authority.issue(names("bob"))];
  const first = await send(TRANSFER, alice);
  t.equal(first.status, 200);
  const state = stateOf({ ...first, headers: {}, json: JSON.parse(first.body) });
  const [record] = await auditOf(gateway, 1);
  t.match(record, {
    principal: { issuer: "client-certificates", subject: "spiffe://clients.example.com/alice" },
  });
  t.equal((await send(retryOf(state), bob)).status, 400, "another's state");
  t.equal((await send(retryOf(state), {})).status, 401, "without one");
  const forged = {
    "x-client-cert": encodeURIComponent(alice.cert),
    X_Client_Cert: encodeURIComponent(alice.cert),
  };
  t.equal(
    (await send(retryOf(state), {}, forged)).status,
    401,
    "nginx takes out what a client says of itself",
  );
  t.equal((await send(retryOf(state), bob, forged)).status, 400, "and writes whose it is");
  const token = await issuer.token({ aud: `https://${HOST}/mcp` });
  t.equal((await send(TRANSFER, {}, { authorization: `Bearer ${token}` })).status, 200, "a token instead");
  const strange = await authority.issue({ names: ["URI:spiffe://other.example/alice"] });
  t.equal((await send(TRANSFER, strange)).status, 401, "of another trust domain");
  t.equal(upstream.arrived.length, 2);
  t.match(JSON.parse((await send(retryOf(state), alice)).body).result, JSON.parse(DONE));
});
