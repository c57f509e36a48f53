/** Opaque tokens of a real provider (oidc-provider): introspection, client credentials, DPoP, and revocation as it really does them. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT } from "jose";
// @ts-expect-error the library comes without types
import Library from "oidc-provider";
import t from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { type ProofKey, proofKey, prove } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const RESOURCE = `${PUBLIC_URL}/mcp`;
const SECRETS = {
  machine: "machine-secret-4711",
  other: "other-secret-4711",
  gateway: "gateway/secret+4711",
};
process.env["SG_PROVIDER_SECRET"] = SECRETS.gateway;
const Provider = Library as new (
  issuer: string,
  configuration: object,
) => { callback(): Parameters<typeof createServer>[1] };

let handle: NonNullable<Parameters<typeof createServer>[1]> | undefined;
const asked: string[] = [];
const http = createServer((request, response) => {
  asked.push(request.url ?? "");
  handle?.(request, response);
});
await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
t.teardown(() => {
  http.close();
  http.closeAllConnections();
});
const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
const machine = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
handle = new Provider(issuer, {
  clients: [
    { ...machine, client_id: "machine", client_secret: SECRETS.machine },
    { ...machine, client_id: "other", client_secret: SECRETS.other },
    { ...machine, client_id: "gateway", client_secret: SECRETS.gateway },
  ],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx: unknown, resource: string) => ({
        scope: "read write",
        audience: resource,
        accessTokenFormat: "opaque",
      }),
    },
  },
}).callback();

const basic = (id: keyof typeof SECRETS): string =>
  `Basic ${Buffer.from(`${id}:${encodeURIComponent(SECRETS[id])}`).toString("base64")}`;

async function post(path: string, id: keyof typeof SECRETS, form: Record<string, string>, dpop?: string) {
  const headers = { authorization: basic(id), ...(dpop === undefined ? {} : { dpop }) };
  return await fetch(issuer + path, { method: "POST", headers, body: new URLSearchParams(form) });
}

/** A token of the provider for `id`, bound to `key` if there is one. */
async function grant(id: "machine" | "other", key?: ProofKey, resource = RESOURCE): Promise<string> {
  const claims = {
    jti: randomUUID(),
    htm: "POST",
    htu: `${issuer}/token`,
    iat: Math.floor(Date.now() / 1000),
  };
  const dpop =
    key &&
    (await new SignJWT(claims)
      .setProtectedHeader({ alg: key.alg, typ: "dpop+jwt", jwk: key.jwk })
      .sign(key.privateKey));
  const response = await post(
    "/token",
    id,
    { grant_type: "client_credentials", scope: "read", resource },
    dpop,
  );
  const answer = (await response.json()) as Record<string, string>;
  if (answer["access_token"] === undefined) throw new Error(JSON.stringify(answer));
  return answer["access_token"];
}

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const gateway = await startGateway(upstream.url, {
  authentication: {
    introspection: [
      {
        issuer,
        url: `${issuer}/token/introspection`,
        client: { basic: { id: "gateway", secret: { env: "SG_PROVIDER_SECRET" } } },
        claims: { absentSubject: "client" },
        requiredScopes: ["read"],
      },
    ],
    dpop: {},
  },
});
t.teardown(() => gateway.close(0));

t.test("a client that acts for itself, in a whole round trip", async (t) => {
  const token = await grant("machine");
  const state = stateOf(await gateway.call(TRANSFER, { token }));
  t.match(gateway.audit.at(-1), {
    authenticatedBy: "introspection",
    principal: { issuer, subject: "machine", client: "machine", scopes: ["read"] },
  });
  const stranger = await gateway.call(retryOf(state), { token: await grant("other") });
  t.equal(stranger.json?.error?.data?.reason, "invalid_request_state");
  const renewed = await grant("machine");
  t.not(renewed, token);
  t.equal((await gateway.call(retryOf(state), { token: renewed })).json?.result?.resultType, "complete");
});

t.test("a token for another resource, and one that was made up", async (t) => {
  const token = await grant("machine", undefined, `${PUBLIC_URL}/other`);
  t.equal((await gateway.call(TRANSFER, { token })).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "audience");
  t.equal((await gateway.call(TRANSFER, { token: "made-up" })).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "inactive");
});

t.test("a token that the provider has bound to a key", async (t) => {
  const [key, thief] = await Promise.all([proofKey(), proofKey()]);
  const token = await grant("machine", key);
  const send = async (by: ProofKey) => {
    const dpop = await prove(by, { token, url: RESOURCE, now: Date.now() });
    return gateway.call(TRANSFER, { headers: { authorization: `DPoP ${token}`, dpop } });
  };
  t.equal((await send(key)).status, 200);
  t.match(gateway.audit.at(-1), { confirmedBy: ["dpop"], principal: { subject: "machine" } });
  t.equal((await send(thief)).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "proof_other_key");
  t.equal((await gateway.call(TRANSFER, { token })).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "bound_as_bearer");
});

t.test("a token that was revoked there is refused here once the answer is old", async (t) => {
  const token = await grant("machine");
  t.equal((await gateway.call(TRANSFER, { token })).status, 200);
  t.equal((await post("/token/revocation", "machine", { token })).status, 200);
  const before = asked.length;
  t.equal((await gateway.call(TRANSFER, { token })).status, 200, "remembered for 30 seconds");
  t.equal(asked.length, before);
  gateway.clock.now += 30_000;
  t.equal((await gateway.call(TRANSFER, { token })).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "inactive");
});
