/** The real SDK on both sides, over several rounds and with a new token of the caller's in each: the server hears of one person. */
import { generateKeyPairSync } from "node:crypto";
import { createRemoteJWKSet, jwtVerify } from "jose";
import t from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { connectSdkClient } from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";
import { CLIENT, startTokenServer } from "../support/token-server.ts";

process.env["SG_ASSERTION_KEY"] = String(
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
);
process.env["SG_CLIENT_SECRET"] = CLIENT.secret;
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const server = await startSdkServer();
t.teardown(() => server.close());
const exchanger = await startTokenServer(t, issuer.jwksUrl);
const client = { basic: { id: CLIENT.id, secret: { env: "SG_CLIENT_SECRET" } } };
const exchange = { endpoint: exchanger.endpoint, client, audience: ["sdk"] };
const gateway = await startGateway(server.url, {
  authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
  assertions: { primary: "a", ring: [{ id: "a", key: { env: "SG_ASSERTION_KEY" } }] },
  routes: [
    { path: "/asserted", upstream: { url: server.url, credential: { assertion: { audience: "sdk" } } } },
    { path: "/exchanged", upstream: { url: server.url, credential: { exchange } } },
  ],
});
t.teardown(() => gateway.close(0));

for (const [path, keys, sub] of [
  ["/asserted", `${gateway.url}/.well-known/jwks.json`, `${issuer.issuer}#alice`],
  ["/exchanged", exchanger.jwksUrl, "alice"],
] as const) {
  t.test(`${path}: three rounds, a token that is refreshed before each, one subject`, async (t) => {
    const from = server.requests.length;
    const tokens: string[] = [];
    const token = async (): Promise<string> => {
      tokens.push(
        await issuer.token({ sub: "alice", aud: `${PUBLIC_URL}${path}`, jti: String(tokens.length) }),
      );
      return tokens.at(-1) ?? "";
    };
    const sdk = await connectSdkClient(`${PUBLIC_URL}${path}`, {
      origin: gateway.url,
      authProvider: { token },
    });
    t.match(await sdk.client.callTool({ name: "three-rounds", arguments: { amount: 1 } }), { content: [{}] });
    t.equal(sdk.asked.length, 3);
    await sdk.client.close();
    t.ok(new Set(tokens).size > 3);
    const find = createRemoteJWKSet(new URL(keys));
    const arrived = server.requests.slice(from);
    t.ok(arrived.length >= 4);
    for (const { authorization } of arrived) {
      const { payload } = await jwtVerify(authorization?.slice(7) ?? "", find, { audience: "sdk" });
      t.equal(payload.sub, sub);
      t.notOk(tokens.includes(authorization?.slice(7) ?? ""));
    }
  });
}
