/**
 * The whole way of OAuth with a real provider and the SDK's own client, against the gateway: from the first 401 over our metadata,
 * registration, sign-in and PKCE to a token for our resource; step-up after a 403; a refresh in the middle of a round trip.
 */
import { isInputRequiredResult, UnauthorizedError } from "@modelcontextprotocol/client";
import { decodeJwt } from "jose";
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway, type TestGateway } from "../support/gateway.ts";
import { CLIENT_DOCUMENT, createTestClient, startProvider, type TestClient } from "../support/provider.ts";
import { createSdkClient, outcome, type SdkClient } from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const RESOURCE = `${PUBLIC_URL}/files`;
const OTHER = `${PUBLIC_URL}/mail`;
const ANSWER = { confirm: { action: "accept", content: { confirm: true } } };

async function setUp(t: Test, given: { documents?: boolean } = {}) {
  const provider = await startProvider([RESOURCE, OTHER], "mcp files:read files:write files:admin", given);
  const server = await startSdkServer();
  const route = (path: string) => ({ path, upstream: { url: server.url }, legacy: "refuse" });
  const gateway = await startGateway(server.url, {
    authentication: { issuers: [{ issuer: provider.issuer, requiredScopes: ["mcp"] }] },
    authorization: {
      default: "allow",
      scopes: [
        { methods: ["tools/call"], requires: ["files:read"] },
        { tools: ["form", "three-rounds"], requires: ["files:write"] },
      ],
      scopeIncludes: { "files:admin": ["files:write"], "files:write": ["files:read"] },
    },
    routes: [route("/files"), route("/mail")],
  });
  t.teardown(async () => {
    await gateway.close(0);
    await server.close();
    await provider.close();
  });
  return { provider, server, gateway };
}

/** Goes on after the person was sent to the provider: tells the transport what came back. */
async function finish(made: SdkClient, oauth: TestClient): Promise<void> {
  await made.transport.finishAuth(oauth.callback);
}

/** Does something; where that sends the person to the provider, finishes there and does it again. */
async function withSignIn<T>(made: SdkClient, oauth: TestClient, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await finish(made, oauth);
    return await act();
  }
}

async function connect(gateway: TestGateway, oauth: TestClient, autoFulfill = true): Promise<SdkClient> {
  const options = { origin: gateway.url, authProvider: oauth, autoFulfill };
  const first = createSdkClient(RESOURCE, options);
  try {
    await first.client.connect(first.transport);
    return first;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  await finish(first, oauth);
  await first.client.close();
  const made = createSdkClient(RESOURCE, options);
  await made.client.connect(made.transport);
  return made;
}

const scopesOf = (url: URL | undefined): string[] =>
  (url?.searchParams.get("scope") ?? "")
    .split(" ")
    .filter((scope) => scope !== "offline_access")
    .sort();
const tokenScopes = (oauth: TestClient): string[] =>
  String(decodeJwt(oauth.stored?.access_token ?? "")["scope"])
    .split(" ")
    .sort();

const REGISTRATIONS = [
  { name: "a client-id metadata document", documents: true, registered: undefined, id: CLIENT_DOCUMENT },
  { name: "registration at run time", documents: false, registered: undefined, id: /^[A-Za-z0-9_-]{10,}$/ },
  { name: "registration beforehand", documents: false, registered: "desktop", id: "desktop" },
];
for (const { name, documents, registered, id } of REGISTRATIONS) {
  t.test(`from a 401 to a call, with ${name}`, async (t) => {
    const { provider, gateway, server } = await setUp(t, { documents });
    const oauth = createTestClient("alice", registered);
    const made = await connect(gateway, oauth);
    const [visit] = oauth.visits;
    t.equal(oauth.visits.length, 1);
    t.equal(visit?.origin, provider.issuer);
    t.match(Object.fromEntries(visit?.searchParams ?? []), {
      client_id: id,
      resource: RESOURCE,
      code_challenge_method: "S256",
      code_challenge: /^[\w-]{43}$/,
    });
    t.same(scopesOf(visit), ["mcp"], "what the 401 said, and no more");
    t.equal(provider.grants[0]?.get("resource"), RESOURCE);
    t.match(provider.grants[0]?.get("code_verifier"), /^[\w~.-]{43,}$/);
    t.match(decodeJwt(oauth.stored?.access_token ?? ""), { aud: RESOURCE, sub: "alice", client_id: id });
    t.match(await made.client.listTools(), { tools: [{}] }, "lists are whole, whatever scopes are missing");
    t.match(gateway.audit.at(-1), { principal: { issuer: provider.issuer, subject: "alice", client: id } });
    await made.client.close();
    t.same(new Set(server.requests.map(({ authorization }) => authorization)), new Set([undefined]));
  });
}

t.test("one step up brings everything that a call needs", async (t) => {
  const { gateway } = await setUp(t);
  const oauth = createTestClient("alice", "desktop");
  const made = await connect(gateway, oauth);
  const call = () => made.client.callTool({ name: "form", arguments: { amount: 1 } });
  t.match(await withSignIn(made, oauth, call), { content: [{}] });
  t.equal(oauth.visits.length, 2);
  t.same(scopesOf(oauth.visits[1]), ["files:read", "files:write", "mcp"]);
  t.match(
    gateway.audit.find(({ code }) => code === "insufficient_scope"),
    {
      cause: "scope",
      target: { kind: "tool" },
      principal: { subject: "alice" },
    },
  );
  t.match(await made.client.callTool({ name: "plain", arguments: { amount: 1 } }), { content: [{}] });
  t.equal(oauth.visits.length, 2, "a narrower call needs no further step");
  await made.client.close();
});

t.test(
  "a refresh in the middle of a round trip: the same person's new token finishes the round",
  async (t) => {
    const { provider, gateway } = await setUp(t);
    const oauth = createTestClient("alice", "desktop");
    const made = await connect(gateway, oauth);
    await withSignIn(made, oauth, () => made.client.callTool({ name: "plain", arguments: { amount: 1 } }));
    await withSignIn(made, oauth, () => made.client.callTool({ name: "form", arguments: { amount: 1 } }));
    const visits = oauth.visits.length;
    const [before, grants] = [oauth.stored?.access_token, provider.grants.length];
    provider.lifetime = 3_600;
    made.client.setRequestHandler("elicitation/create", () => {
      // The token ends while the person thinks; the one that takes its place lives longer.
      gateway.clock.now += 400_000;
      return { action: "accept", content: { confirm: true } };
    });
    t.match(await made.client.callTool({ name: "form", arguments: { amount: 2 } }), { content: [{}] });
    t.equal(oauth.visits.length, visits, "nobody was sent anywhere");
    t.same(
      provider.grants.slice(grants).map((form) => [form.get("grant_type"), form.get("resource")]),
      [["refresh_token", RESOURCE]],
    );
    t.not(oauth.stored?.access_token, before);
    t.match(
      gateway.audit.slice(-2).map(({ code, state }) => [code, state]),
      [
        ["unauthorized", undefined],
        [undefined, "redeemed"],
      ],
    );
    await made.client.close();
  },
);

t.test("a step up in the middle of a round trip: the 403 spends nothing", async (t) => {
  const { gateway } = await setUp(t);
  const oauth = createTestClient("alice", "desktop");
  const made = await connect(gateway, oauth, false);
  const narrow = oauth.stored;
  const call = (round: object = {}) =>
    made.client.callTool({ name: "form", arguments: { amount: 1 }, ...round }, { allowInputRequired: true });
  const asked = await withSignIn(made, oauth, () => call());
  if (!isInputRequiredResult(asked)) throw new Error("was not asked");
  oauth.stored = narrow;
  const visits = oauth.visits.length;
  const { requestState } = asked;
  const done = await withSignIn(made, oauth, () => call({ requestState, inputResponses: ANSWER }));
  t.match(done, { content: [{}] });
  t.equal(oauth.visits.length, visits + 1);
  t.equal(gateway.audit.filter(({ state }) => state === "redeemed").length, 1);
  await made.client.close();
});

t.test("another person's token does not finish the round, and burns nothing", async (t) => {
  const { gateway } = await setUp(t);
  const [alice, bob] = [createTestClient("alice", "desktop"), createTestClient("bob", "desktop")];
  const [hers, his] = [await connect(gateway, alice, false), await connect(gateway, bob, false)];
  const call = (made: SdkClient, oauth: TestClient, round: object = {}) =>
    withSignIn(made, oauth, () =>
      made.client.callTool(
        { name: "form", arguments: { amount: 1 }, ...round },
        { allowInputRequired: true },
      ),
    );
  const asked = await call(hers, alice);
  await call(his, bob);
  if (!isInputRequiredResult(asked)) throw new Error("was not asked");
  const round = { requestState: asked.requestState, inputResponses: ANSWER };
  t.match(await outcome(call(his, bob, round)), { error: { message: "Invalid or expired requestState" } });
  t.match(gateway.audit.at(-1), { code: "invalid_request_state", cause: "principal" });
  t.match(await call(hers, alice, round), { content: [{}] });
  for (const made of [hers, his]) await made.client.close();
});

t.test("a broader scope is enough, and a token for the other route is not", async (t) => {
  const { gateway, provider } = await setUp(t);
  const oauth = createTestClient("alice", "desktop");
  const made = await connect(gateway, oauth);
  const { auth } = await import("@modelcontextprotocol/client");
  const { fetchAt } = await import("../support/sdk-client.ts");
  const fetchFn = fetchAt(PUBLIC_URL, gateway.url);
  const options = { serverUrl: RESOURCE, fetchFn, scope: "mcp files:admin", forceReauthorization: true };
  await auth(oauth, options);
  await finish(made, oauth);
  t.same(tokenScopes(oauth), ["files:admin", "mcp"]);
  t.match(await made.client.callTool({ name: "form", arguments: { amount: 1 } }), { content: [{}] });
  t.equal(oauth.visits.length, 2);
  const token = oauth.stored?.access_token ?? "";
  const reply = await gateway.call({ method: "tools/list" }, { path: "/mail", token });
  t.equal(reply.status, 401);
  t.match(reply.headers["www-authenticate"], new RegExp(`${OTHER.replace("/mail", "")}.*/mail"`));
  t.equal(gateway.audit.at(-1)?.cause, "audience");
  t.ok(provider.requests.length > 0);
  await made.client.close();
});
