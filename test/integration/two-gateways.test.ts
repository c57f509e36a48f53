/** One gateway behind another: the one in front signs who its caller is, the one behind takes its word and nobody else's. */
import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { parse } from "yaml";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { blocks, fitted } from "../support/recipe.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, INNER, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const FRONT = "http://front.test";

t.test("a round trip through both, and the user in the records of both", async (t) => {
  const server = await startUpstream(asksOnce);
  t.teardown(() => server.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  });
  const folder = t.testdir({ "key.pem": pem.toString() });
  const routes = (url: string) => [
    {
      path: "/mcp",
      legacy: "refuse",
      upstream: {
        url,
        credential: {
          assertion: {
            header: "x-sealgate-assertion",
            audience: `${PUBLIC_URL}/mcp`,
            claims: ["groups", "scopes"],
          },
        },
      },
    },
  ];
  const front = await startGateway(server.url, {
    server: { listen: "127.0.0.1:0", publicUrl: FRONT, allowedHosts: ["127.0.0.1"] },
    authentication: {
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, claims: { groups: "groups" } }],
    },
    assertions: { primary: "one", ring: [{ id: "one", key: { file: `${folder}/key.pem` } }] },
    routes: routes(server.url),
  });
  t.teardown(() => front.close(0));
  // What the recipe shows.
  const [, page = ""] = blocks("behind-a-gateway.md", "yaml");
  const authentication = parse(
    fitted(page, {
      "https://front.example.com/.well-known/jwks.json": `${front.url}/.well-known/jwks.json`,
      "https://front.example.com": FRONT,
      "https://sealed.internal.example/mcp": `${PUBLIC_URL}/mcp`,
    }),
  );
  const back = await startGateway(server.url, { authentication });
  t.teardown(() => back.close(0));
  t.ok(await front.configure({ routes: routes(`${back.url}/mcp`) }));

  const token = (sub: string) =>
    issuer.token({ sub, aud: `${FRONT}/mcp`, groups: ["ops"], client_id: "app" });
  const [alice, bob] = [await token("alice"), await token("bob")];
  const state = stateOf(await front.call(TRANSFER, { token: alice }));
  t.match(back.audit.at(-1)?.principal, {
    ...{ issuer: FRONT, subject: `${issuer.issuer}#alice`, client: "app", groups: ["ops"] },
  });
  t.match(await front.call(retryOf(state), { token: bob }), { status: 400 });
  // To the one behind directly: the state of the one in front is none of its own, and a token is nothing to it.
  t.equal((await back.call(TRANSFER, { token: alice })).status, 401);
  t.match((await front.call(retryOf(state), { token: await token("alice") })).json.result, JSON.parse(DONE));
  t.equal(server.arrived.at(-1)?.json.params.requestState, INNER);
  t.equal(server.arrived.length, 2);
  t.notOk(Object.keys(server.arrived.at(-1)?.headers ?? {}).some((name) => name.includes("assertion")));
});
