/** One credential for all callers of a route: a caller who can make the server refuse it gets no grant for each try, at others' cost. */
import t from "tap";
import { retryOf, stateOf } from "../integration/rounds.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { CLIENT, startTokenServer } from "../support/token-server.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, TRANSFER } from "./scene.ts";

process.env["SG_SHARED_SECRET"] = CLIENT.secret;
const aud = `${PUBLIC_URL}/mcp`;
const POISON = { method: "tools/call", params: { name: "poison", arguments: {} } };

t.test("a server that says 401 to one caller makes two grants, not one for each request", async (t) => {
  const upstream = await startUpstream((arrived, response) => {
    if (arrived.json?.params?.name === "poison") response.writeHead(401).end();
    else asksOnce(arrived, response);
  });
  t.teardown(() => upstream.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const server = await startTokenServer(t, issuer.jwksUrl);
  const client = { basic: { id: CLIENT.id, secret: { env: "SG_SHARED_SECRET" } } };
  const credential = { clientCredentials: { endpoint: server.endpoint, client, audience: ["upstream"] } };
  const gateway = await startGateway(upstream.url, {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    routes: [{ path: "/mcp", upstream: { url: upstream.url, credential } }],
  });
  t.teardown(() => gateway.close(0));
  const alice = await issuer.token({ sub: "alice", aud });
  const mallory = await issuer.token({ sub: "mallory", aud });
  const state = stateOf(await gateway.call(TRANSFER, { token: alice }));
  for (let n = 0; n < 20; n++) {
    t.match((await gateway.call(POISON, { token: mallory })).json.error.data, {
      reason: "upstream_unauthorized",
    });
  }
  t.equal(server.requests.length, 2, "one at first, and one in place of what was refused");
  // The endpoint has had enough: nobody notices.
  server.instead = () => ({ status: 429 });
  await gateway.call(POISON, { token: mallory });
  t.same((await gateway.call(retryOf(state), { token: alice })).json.result, JSON.parse(DONE));

  // A credential that is truly gone is replaced all the same, a little later.
  server.instead = () => undefined;
  gateway.clock.now += 5_000;
  upstream.script = (arrived, response) => {
    const fresh = arrived.headers.authorization === `Bearer ${server.granted[2]}`;
    if (fresh) result(arrived, response, DONE);
    else response.writeHead(401).end();
  };
  await gateway.call(TRANSFER, { token: alice });
  t.equal((await gateway.call(TRANSFER, { token: alice })).status, 200);
  t.equal(server.requests.length, 3);
});
