/** Tokens that their issuer signs, or calls active, and that are none for here: made for another purpose, another place, another sender. */
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIntrospection } from "../support/introspection.ts";
import { startIssuer } from "../support/issuer.ts";
import { proofKey, prove } from "../support/proof.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { DONE, TRANSFER } from "./scene.ts";

const RESOURCE = `${PUBLIC_URL}/mcp`;
process.env["SG_PURPOSES"] = "the-gateways-secret";

/** A gateway that verifies the tokens of one issuer, and asks another about its own, which are JWTs as well. */
async function open(t: Test) {
  const [signed, asked] = [await startIssuer(), await startIssuer()];
  const server = await startIntrospection();
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  for (const part of [signed, asked, server, upstream]) t.teardown(() => part.close());
  const gateway = await startGateway(upstream.url, {
    authentication: {
      issuers: [{ issuer: signed.issuer, jwks: { url: signed.jwksUrl } }],
      introspection: [
        {
          issuer: asked.issuer,
          url: server.url,
          client: { basic: { id: "gateway", secret: { env: "SG_PURPOSES" } } },
        },
      ],
      dpop: {},
    },
  });
  t.teardown(() => gateway.close(0));
  const bearer = (token: string) => gateway.call(TRANSFER, { token });
  const refused = async (token: string, cause: string, what: string) => {
    const before = upstream.arrived.length;
    t.match(await bearer(token), { status: 401 }, what);
    t.match(gateway.audit.at(-1), { outcome: "refused", code: "unauthorized", cause }, what);
    t.equal(upstream.arrived.length, before, "nothing went up");
  };
  return { signed, asked, server, upstream, gateway, bearer, refused };
}

/** Claims of tokens that are for another purpose, as issuers write them. */
const OTHER_PURPOSES: readonly Readonly<Record<string, unknown>>[] = [
  { token_use: "id" },
  { token_use: "refresh" },
  { token_use: ["access"] },
  { typ: "ID" },
  { typ: "Refresh" },
  { typ: "Offline" },
  { events: { "http://schemas.openid.net/event/backchannel-logout": {} } },
];

t.test("ID, refresh and logout tokens, with the right audience and a good signature", async (t) => {
  const { signed, bearer, refused } = await open(t);
  for (const claims of OTHER_PURPOSES) {
    await refused(await signed.token({ aud: RESOURCE, ...claims }), "type", JSON.stringify(claims));
  }
  for (const claims of [{}, { token_use: "access" }, { typ: "Bearer" }, { typ: "at+jwt", nonce: "n" }]) {
    t.equal(
      (await bearer(await signed.token({ aud: RESOURCE, ...claims }))).status,
      200,
      JSON.stringify(claims),
    );
  }
});

t.test("what an active token says of itself counts as well", async (t) => {
  const { asked, server, bearer, refused } = await open(t);
  const answer = { sub: "u-1", aud: RESOURCE };
  const make = async (claims: Record<string, unknown>, header?: Record<string, unknown>) => {
    const token = await asked.token({ sub: "u-1", aud: RESOURCE, ...claims }, header ? { header } : {});
    server.tokens.set(token, answer);
    return token;
  };
  for (const claims of OTHER_PURPOSES) {
    await refused(await make(claims), "token_type", JSON.stringify(claims));
  }
  await refused(await make({}, { typ: "rt+jwt" }), "token_type", "typ of the header");
  await refused(await make({ aud: "https://files.example.com" }), "audience", "made for another server");
  await refused(await make({ aud: [] }), "audience", "made for nobody");
  t.equal((await bearer(await make({ aud: ["https://files.example.com", RESOURCE] }))).status, 200);
  t.equal((await bearer(await make({ typ: "Bearer" }))).status, 200);
});

t.test("a token that says it is bound is bound, whatever the answer leaves out", async (t) => {
  const { asked, server, gateway, refused } = await open(t);
  const key = await proofKey();
  const other = await proofKey();
  const cnf = { jkt: key.thumbprint };
  const bound = await asked.token({ sub: "u-1", aud: RESOURCE, cnf });
  const dpop = async (token: string, by: typeof key) =>
    gateway.call(TRANSFER, {
      headers: {
        authorization: `DPoP ${token}`,
        dpop: await prove(by, { url: RESOURCE, token, now: gateway.clock.now }),
      },
    });
  for (const said of [{}, { cnf }]) {
    server.tokens.set(bound, { sub: "u-1", aud: RESOURCE, ...said });
    await refused(bound, "bound_as_bearer", JSON.stringify(said));
    t.match(await dpop(bound, other), { status: 401 }, "a thief's key");
    t.equal((await dpop(bound, key)).status, 200, "its holder's");
    t.match(gateway.audit.at(-1), { confirmedBy: ["dpop"] });
    gateway.clock.now += 60_000;
  }
  server.tokens.set(bound, { sub: "u-1", aud: RESOURCE, cnf: { jkt: other.thumbprint } });
  await refused(bound, "another_token", "bound to two keys");
  const unread = await asked.token({ sub: "u-1", aud: RESOURCE, cnf: { kid: "k" } });
  server.tokens.set(unread, { sub: "u-1", aud: RESOURCE });
  await refused(unread, "confirmation_claim", "bound in a way that nobody here checks");
});

t.test("a JWT in another spelling is no opaque token, which would ask less of it", async (t) => {
  const issuer = await startIssuer();
  const server = await startIntrospection();
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  for (const part of [issuer, server, upstream]) t.teardown(() => part.close());
  const gateway = await startGateway(upstream.url, {
    authentication: {
      issuers: [
        {
          issuer: issuer.issuer,
          jwks: { url: issuer.jwksUrl },
          senderConstrained: "required",
          requiredScopes: ["mcp"],
        },
      ],
      introspection: [
        {
          issuer: issuer.issuer,
          url: server.url,
          client: { basic: { id: "gateway", secret: { env: "SG_PURPOSES" } } },
        },
      ],
      dpop: {},
    },
  });
  t.teardown(() => gateway.close(0));
  const plain = await issuer.token({ aud: RESOURCE, sub: "u-1" });
  const [head = "", payload = "", signature = ""] = plain.split(".");
  for (const token of [
    plain,
    `${plain}=`,
    `${plain}==`,
    `${head}=.${payload}.${signature}`,
    `${head}.${payload}=.${signature}`,
  ]) {
    // A server that reads leniently knows all of them.
    server.tokens.set(token, { sub: "u-1", aud: RESOURCE });
    t.equal((await gateway.call(TRANSFER, { token })).status, 401, token.slice(-8));
  }
  t.equal(server.calls.length, 0, "it is not even asked");
  t.equal(upstream.arrived.length, 0);
  server.tokens.set("opaque", { sub: "u-1", aud: RESOURCE });
  t.equal((await gateway.call(TRANSFER, { token: "opaque" })).status, 200);
});
