/** Exchanged tokens: a failing exchange spends nothing, nobody goes on as somebody else, and the caller's token goes one way only. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { decodeJwt } from "jose";
import t from "tap";
import { PUBLIC_URL } from "../support/gateway.ts";
import { sign, signingKey } from "../support/issuer.ts";
import {
  CLIENT,
  type Instead,
  startTokenServer,
  subjectOf,
  type TokenServer,
} from "../support/token-server.ts";
import { result } from "../support/upstream.ts";
import { asksOnce, DONE, refusesState, setScene, TRANSFER } from "./scene.ts";

process.env["SG_CLIENT_SECRET"] = CLIENT.secret;
let server!: TokenServer;
const { promise: ready, resolve: opened } = Promise.withResolvers<void>();
const endpoint = createServer((request, response) => void forward(request, response));
await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
t.teardown(() => endpoint.close());
const endpointUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`;

const scene = await setScene(t, {
  users: true,
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
    routes: [
      {
        path: "/mcp",
        legacy: "pass",
        upstream: {
          url,
          credential: {
            exchange: {
              endpoint: endpointUrl,
              client: { basic: { id: CLIENT.id, secret: { env: "SG_CLIENT_SECRET" } } },
              audience: ["upstream"],
            },
          },
        },
      },
    ],
  }),
});
server = await startTokenServer(t, scene.issuer.jwksUrl);
opened();
const { gateway, upstream, issuer } = scene;
const aud = `${PUBLIC_URL}/mcp`;
const fresh = (claims: Record<string, unknown> = {}): Promise<string> =>
  issuer.token({ sub: "u-1001", aud, jti: crypto.randomUUID(), ...claims });

/** The endpoint that the gateway knows: what it does to an answer is up to the test. */
async function forward(
  request: import("node:http").IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await ready;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = await fetch(server.endpoint, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: request.headers.authorization ?? "",
    },
    body: Buffer.concat(chunks),
  }).catch(() => undefined);
  if (answer === undefined) return void response.socket?.destroy();
  fate(response, answer.status, await answer.text());
}
const honest = (response: ServerResponse, status: number, body: string): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(body);
let fate = honest;

/** Retries that the server carried out. */
const executions = (): number =>
  upstream.arrived.filter(({ json }) => json?.params?.requestState !== undefined).length;

const key = await signingKey();
const tokenOf = async (sub: unknown): Promise<Record<string, unknown>> => ({
  access_token: await sign({ sub, aud: "upstream", exp: Math.floor(Date.now() / 1000) + 300 }, key),
});

for (const [name, change, code, reason] of [
  [
    "a redirect",
    { fate: (r) => void r.writeHead(307, { location: "/elsewhere" }).end() },
    502,
    "credential_fault",
  ],
  ["no JSON", { fate: (r) => honest(r, 200, "<html>") }, 502, "credential_fault"],
  ["a huge one", { fate: (r) => honest(r, 200, `{"x":"${"x".repeat(100_000)}"}`) }, 502, "credential_fault"],
  [
    "a compressed one",
    { fate: (r, s, b) => void r.writeHead(s, { "content-encoding": "gzip" }).end(gzipSync(b)) },
    502,
    "credential_fault",
  ],
  ["a connection that is cut", { fate: (r) => void r.socket?.destroy() }, 503, "credential_unavailable"],
  ["500", { fate: (r) => honest(r, 500, "{}") }, 503, "credential_unavailable"],
  ["a no", { instead: () => ({ status: 400, error: "invalid_grant" }) }, 403, "credential_refused"],
  [
    "an unknown client",
    { instead: () => ({ status: 401, error: "invalid_client" }) },
    502,
    "credential_fault",
  ],
  ["N_A", { instead: () => ({ token_type: "N_A" }) }, 502, "credential_fault"],
  [
    "a refresh token",
    { instead: () => ({ issued_token_type: "urn:ietf:params:oauth:token-type:refresh_token" }) },
    502,
    "credential_fault",
  ],
  ["a header of its own", { instead: () => ({ access_token: "x\r\nx-admin: 1" }) }, 502, "credential_fault"],
  ["a token of somebody else", { instead: () => tokenOf("u-2002") }, 403, "credential_refused"],
  ["a token without sub", { instead: () => tokenOf(undefined) }, 403, "credential_refused"],
  ["a token of nobody", { instead: () => tokenOf("") }, 403, "credential_refused"],
  ["a token whose sub is no text", { instead: () => tokenOf(["u-1001"]) }, 403, "credential_refused"],
] satisfies [string, { fate?: typeof honest; instead?: Instead }, number, string][]) {
  t.test(`${name} from the token endpoint spends nothing, and the round can be finished`, async (t) => {
    const first = await fresh();
    const state = await scene.ask(TRANSFER, { token: first });
    const before = executions();
    // Another token of the same caller, so that nothing is at hand.
    const refreshed = await fresh();
    fate = change.fate ?? honest;
    server.instead = change.instead ?? (() => undefined);
    const bytes = scene.bytesUp();
    const reply = await scene.retry(state, {}, { token: refreshed });
    t.match(reply, { status: code, json: { error: { data: { reason } } } });
    t.equal(scene.bytesUp(), bytes, "the server heard nothing");
    t.match(gateway.audit.at(-1), { state: "opened", credential: "exchange", code: reason });
    t.notMatch(JSON.stringify(reply), /invalid_|N_A|x-admin|elsewhere/);
    fate = honest;
    server.instead = () => undefined;
    gateway.clock.now += 5_001;
    const done = await scene.retry(state, {}, { token: refreshed });
    t.equal(done.status, 200, done.body);
    t.equal((await scene.retry(state, {}, { token: refreshed })).json.error.data.reason, "already_redeemed");
    t.equal(executions(), before + 1);
  });
}

t.test("a token that was refreshed in the middle: the same subject in both rounds", async (t) => {
  const [one, two] = [await fresh(), await fresh()];
  const from = upstream.arrived.length;
  const state = await scene.ask(TRANSFER, { token: one });
  t.equal((await scene.retry(state, {}, { token: two })).status, 200);
  const sent = upstream.arrived.slice(from).map(({ headers }) => headers.authorization);
  t.equal(new Set(sent).size, 2);
  t.same(sent.map(subjectOf), ["u-1001", "u-1001"]);
});

t.test("a stranger's retry is refused before anything is exchanged for it", async (t) => {
  const state = await scene.ask(TRANSFER, { token: await fresh() });
  const stranger = await fresh({ sub: "u-2002" });
  const asked = server.requests.length;
  await refusesState(t, scene, () => scene.retry(state, {}, { token: stranger }), { cause: "principal" });
  const broken = await fresh();
  await refusesState(t, scene, () => scene.retry(`${state.slice(0, -4)}AAAA`, {}, { token: broken }), {
    cause: "aead",
  });
  t.equal(server.requests.length, asked);
  t.equal((await scene.retry(state, {}, { token: await fresh() })).status, 200);
});

t.test("many callers at once, answered in any order: each goes up as itself", async (t) => {
  const names = [...Array(30)].map((_, index) => `user-${index}`);
  const held: (() => void)[] = [];
  server.instead = () => new Promise((resolve) => held.push(() => resolve(undefined)));
  upstream.script = (arrived, response) => {
    const subject = subjectOf(arrived.headers.authorization);
    result(arrived, response, `{"resultType":"complete","content":[{"type":"text","text":"${subject}"}]}`);
  };
  const tokens = new Map(await Promise.all(names.map(async (sub) => [sub, await fresh({ sub })] as const)));
  const calls = [...names, ...names].map(async (name) => {
    const params = { name: "whoami", arguments: { name } };
    const reply = await gateway.call({ method: "tools/call", params }, { token: tokens.get(name) ?? "" });
    return [name, reply.json?.result?.content?.[0]?.text] as const;
  });
  while (held.length < names.length) await new Promise((resolve) => setImmediate(resolve));
  t.equal(held.length, names.length);
  for (const release of held.toReversed()) release();
  for (const [name, served] of await Promise.all(calls)) t.equal(served, name);
  server.instead = () => undefined;
  upstream.script = asksOnce;
});

t.test("what one caller's token makes of the endpoint holds up nobody else", async (t) => {
  for (const mischief of ["500", "429", "cut", "refused"]) {
    const [mallory, bob] = [await fresh({ sub: "mallory" }), await fresh({ sub: "bob" })];
    server.instead = ({ form }, response) => {
      if (decodeJwt(form.get("subject_token") ?? "").sub !== "mallory") return undefined;
      if (mischief === "cut") {
        response.socket?.destroy();
        return "answered";
      }
      return mischief === "refused" ? { status: 400, error: "invalid_grant" } : { status: Number(mischief) };
    };
    const asked = server.requests.length;
    for (let tries = 0; tries < 10; tries += 1)
      t.ok((await gateway.call(TRANSFER, { token: mallory })).status >= 400);
    t.equal(server.requests.length, asked + 1, "and the endpoint is asked once");
    t.equal((await gateway.call(TRANSFER, { token: bob })).status, 200, mischief);
  }
  server.instead = () => undefined;
});

t.test(
  "a token that would be good at the gateway itself, or is the caller's own, goes nowhere",
  async (t) => {
    const key = await signingKey("ES256");
    const own = await fresh({ sub: "carol" });
    const mint = (aud: unknown): Promise<string> =>
      sign({ iss: issuer.issuer, sub: "carol", aud, exp: Math.floor(gateway.clock.now / 1000) + 300 }, key);
    for (const [cause, answer] of [
      ["grant_callers_token", async () => own],
      ["grant_audience", () => mint(`${PUBLIC_URL}/mcp`)],
      ["grant_audience", () => mint(["upstream", `${PUBLIC_URL}/mcp`])],
    ] as const) {
      const access_token = await answer();
      server.instead = () => ({ access_token });
      const before = scene.bytesUp();
      const reply = await gateway.call(TRANSFER, { token: own });
      t.match(reply, { status: 502, json: { error: { data: { reason: "credential_fault" } } } });
      t.equal(gateway.audit.at(-1)?.cause, cause);
      t.equal(scene.bytesUp(), before, "nothing went up");
    }
    const access_token = await mint(["upstream", `${PUBLIC_URL}/mcp/other`]);
    server.instead = () => ({ access_token });
    t.equal((await gateway.call(TRANSFER, { token: own })).status, 200, "for another resource it is fine");
    server.instead = () => undefined;
  },
);

t.test("who may no longer call gets nothing from what was exchanged before", async (t) => {
  upstream.script = (arrived, response) => result(arrived, response, DONE);
  const token = await fresh({ exp: Math.floor(gateway.clock.now / 1000) + 60 });
  t.equal((await gateway.call(TRANSFER, { token })).status, 200);
  const bytes = scene.bytesUp();
  gateway.clock.now += 91_000;
  t.equal((await gateway.call(TRANSFER, { token })).status, 401);
  t.equal(scene.bytesUp(), bytes);
});

t.test(
  "in all of this no token of a caller went up, and no token at all came down or was written",
  async (t) => {
    t.ok(upstream.arrived.length > 40);
    const up = JSON.stringify(upstream.arrived.map(({ rawHeaders, body }) => [rawHeaders, body]));
    const written = gateway.logged() + JSON.stringify(gateway.audit);
    t.ok(written.length > 1000);
    const callers = server.requests.map(({ form }) => form.get("subject_token") ?? "");
    t.ok(callers.length > 40);
    for (const token of callers) {
      const [, payload = "", signature = ""] = token.split(".");
      t.notOk(up.includes(payload) || up.includes(signature));
      t.notOk(written.includes(payload) || written.includes(signature));
      t.equal(decodeJwt(token).iss, issuer.issuer);
    }
    for (const token of server.granted) t.notOk(written.includes(token.split(".")[2] ?? token));
    for (const secret of [CLIENT.secret, encodeURIComponent(CLIENT.secret)])
      t.notOk((up + written).includes(secret));
  },
);
