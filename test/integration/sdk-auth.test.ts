/** The SDK client with tokens: a bearer token as it is, and the whole way from a 401 over our metadata to a token. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  ClientCredentialsProvider,
  discoverOAuthProtectedResourceMetadata,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
} from "@modelcontextprotocol/client";
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { connectSdkClient, createSdkClient, fetchAt, outcome } from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const RESOURCE = `${PUBLIC_URL}/mcp`;
const METADATA = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;

async function setUp(t: Test, requiredScopes: string[] = []) {
  const issuer = await startIssuer();
  const server = await startSdkServer();
  const gateway = await startGateway(server.url, {
    authentication: { mode: "required", issuers: [{ issuer: issuer.issuer, requiredScopes }] },
  });
  t.teardown(async () => {
    await gateway.close(0);
    await server.close();
    await issuer.close();
  });
  return { issuer, server, gateway, at: fetchAt(PUBLIC_URL, gateway.url) };
}

t.test("a client that carries a token", async (t) => {
  const { issuer, server, gateway } = await setUp(t);
  const token = await issuer.token({ aud: RESOURCE });
  const { client, asked } = await connectSdkClient(RESOURCE, {
    origin: gateway.url,
    authProvider: { token: async () => token },
  });
  t.match(await client.callTool({ name: "three-rounds", arguments: { amount: 1 } }), { content: [{}] });
  t.equal(asked.length, 3);
  await client.close();
  t.match(gateway.audit.at(-1), { principal: { subject: "u-1001" } });
  t.same(new Set(server.requests.map(({ authorization }) => authorization)), new Set([undefined]));
});

t.test("a token that is refused: audit knows whose it is once its signature was good", async (t) => {
  const { issuer, gateway } = await setUp(t, ["mcp"]);
  const seconds = Math.floor(Date.now() / 1000);
  const cases: [token: string, code: string, cause: string, principal: unknown][] = [
    [await issuer.token({ aud: "other" }), "unauthorized", "audience", { subject: "u-1001" }],
    [
      await issuer.token({ aud: RESOURCE, exp: seconds - 60 }),
      "unauthorized",
      "expired",
      { subject: "u-1001" },
    ],
    [await issuer.token({ aud: RESOURCE }), "insufficient_scope", "scope", { subject: "u-1001" }],
    [
      `${(await issuer.token({ aud: RESOURCE })).slice(0, -9)}AAAAAAAAA`,
      "unauthorized",
      "signature",
      undefined,
    ],
  ];
  for (const [token, code, cause, principal] of cases) {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const response = await fetchAt(PUBLIC_URL, gateway.url)(RESOURCE, {
      method: "POST",
      headers,
      body: "{}",
    });
    t.notMatch(await response.text(), /u-1001/);
    t.match(gateway.audit.at(-1), { outcome: "refused", code, cause });
    t.match(gateway.audit.at(-1)?.principal, principal as object);
  }
});

t.test("a token that is replaced between the rounds", async (t) => {
  const { issuer, gateway } = await setUp(t);
  let made = 0;
  const { client, asked } = await connectSdkClient(RESOURCE, {
    origin: gateway.url,
    authProvider: { token: () => issuer.token({ aud: RESOURCE, jti: String(made++) }) },
  });
  t.match(await client.callTool({ name: "form", arguments: { amount: 1 } }), { content: [{}] });
  t.equal(asked.length, 1);
  t.ok(made > 2);
  await client.close();
});

t.test("another user's token between the rounds", async (t) => {
  const { issuer, gateway } = await setUp(t);
  let subject = "u-1";
  const { client } = await connectSdkClient(RESOURCE, {
    origin: gateway.url,
    authProvider: { token: () => issuer.token({ aud: RESOURCE, sub: subject }) },
  });
  client.setRequestHandler("elicitation/create", () => {
    subject = "u-2";
    return { action: "accept", content: { confirm: true } };
  });
  t.match(await outcome(client.callTool({ name: "form", arguments: { amount: 1 } })), {
    error: { code: -32602, message: "Invalid or expired requestState" },
  });
  await client.close();
});

for (const mode of ["auto", "legacy"] as const) {
  t.test(`no token, mode ${mode}: the provider is told where our metadata is`, async (t) => {
    const { issuer, gateway, at, server } = await setUp(t, ["mcp"]);
    const told: unknown[] = [];
    let token: string | undefined;
    const made = createSdkClient(RESOURCE, {
      origin: gateway.url,
      mode,
      authProvider: {
        token: async () => token,
        async onUnauthorized({ response }) {
          const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
          told.push({ url: resourceMetadataUrl?.href, scope });
          token = await issuer.token({ aud: RESOURCE, scope: "mcp" });
        },
      },
    });
    const connected = await outcome(made.client.connect(made.transport));
    t.same(told, [{ url: METADATA, scope: "mcp" }]);
    if (mode === "auto") t.same(connected, { result: undefined });
    else t.match(connected, { error: { message: /legacy: pass/ } });
    await made.client.close();
    t.ok(server.requests.length <= 1);
    const document = await discoverOAuthProtectedResourceMetadata(RESOURCE, {}, at);
    t.same(document, {
      resource: RESOURCE,
      authorization_servers: [issuer.issuer],
      scopes_supported: ["mcp"],
      bearer_methods_supported: ["header"],
    });
  });
}

t.test("the SDK's own provider finds the issuer, gets a token for our resource and goes on", async (t) => {
  const { issuer, gateway, at } = await setUp(t, ["mcp"]);
  const asked: URLSearchParams[] = [];
  const tokens = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    asked.push(form);
    const token = await issuer.token({ aud: form.get("resource"), scope: form.get("scope") });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 300 }));
  });
  await new Promise<void>((resolve) => tokens.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => tokens.close(resolve)));
  const origin = `http://127.0.0.1:${(tokens.address() as AddressInfo).port}`;
  Object.assign(issuer.document, {
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  });
  t.match(await discoverOAuthServerInfo(RESOURCE, { fetchFn: at }), {
    authorizationServerUrl: issuer.issuer,
    resourceMetadata: { resource: RESOURCE },
  });
  const { client } = await connectSdkClient(RESOURCE, {
    origin: gateway.url,
    authProvider: new ClientCredentialsProvider({
      clientId: "robot",
      clientSecret: "s",
      expectedIssuer: issuer.issuer,
    }),
  });
  t.match(await client.callTool({ name: "form", arguments: { amount: 1 } }), { content: [{}] });
  await client.close();
  t.same(
    asked.map((form) => [form.get("grant_type"), form.get("resource"), form.get("scope")]),
    [["client_credentials", RESOURCE, "mcp"]],
  );
});

t.test("a token without the scope is a step up, not a new login", async (t) => {
  const { issuer, gateway } = await setUp(t, ["mcp"]);
  const token = await issuer.token({ aud: RESOURCE, scope: "other" });
  const made = createSdkClient(RESOURCE, { origin: gateway.url, authProvider: { token: async () => token } });
  t.match(await outcome(made.client.connect(made.transport)), { error: { name: /Error/ } });
  t.same(made.answers[0]?.status, 403);
});
