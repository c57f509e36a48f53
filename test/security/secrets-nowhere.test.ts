/** Secrets of clients and operators: states, tokens, answers, arguments, passwords. What servers say is in the file beside. */
import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { meta, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startTokenServer } from "../support/token-server.ts";
import { adminPages, headers, MARK, plant, secret } from "./planted.ts";
import { rawExchange } from "./raw.ts";
import { answers, request } from "./scene.ts";

const { scene, gateway, redis, token, forged, kept, call, keep, search, sections } = await plant(t);
const form = { type: "object", properties: { f: { type: "string" } } };
const ask = (): string =>
  JSON.stringify({
    resultType: "input_required",
    requestState: secret(),
    inputRequests: {
      q: { method: "elicitation/create", params: { message: secret(), requestedSchema: form } },
    },
  });

t.test("rounds, good and bad", async (t) => {
  scene.upstream.script = answers(ask());
  const state: string = (await call()).json.result.requestState;
  t.type(state, "string");
  const retry = async (inputResponses: unknown, requestState: unknown = state, bearer = token) =>
    keep(await call("tools/call", { requestState, inputResponses }, bearer));
  scene.upstream.script = answers(
    `{"resultType":"complete","content":[{"type":"text","text":"${secret()}"}]}`,
  );
  const yes = { q: { action: "accept", content: { f: secret() } }, [secret()]: { action: secret() } };
  const stranger = await scene.issuer.token({ sub: "u-2002", aud: `${PUBLIC_URL}/mcp` });
  await retry({ q: { action: secret(), content: { [secret()]: secret() } } });
  await retry(secret());
  await retry(yes, `${state.slice(0, -6)}AAAAAA`);
  await retry(yes, secret());
  await retry(yes, `sg1.${secret()}`);
  await retry(yes, { [secret()]: secret() });
  await retry(yes, null);
  await retry(yes, state, stranger);
  keep(
    await call("tools/call", {
      arguments: { [secret()]: secret() },
      requestState: state,
      inputResponses: yes,
    }),
  );
  t.equal((await retry(yes)).status, 200);
  t.equal((await retry(yes)).json.error.data.reason, "already_redeemed");
  await search(t);
});

t.test(
  "questions of every kind: their keys, texts, forms and addresses are on record as digests only",
  async (t) => {
    const keys = [secret(), secret(), secret(), secret()];
    const field = { type: "string", title: secret(), description: secret() };
    const questions = [
      {
        method: "elicitation/create",
        params: {
          message: secret(),
          requestedSchema: { type: "object", properties: { [secret()]: field } },
        },
      },
      {
        method: "elicitation/create",
        params: { mode: "url", message: secret(), url: `https://pay.example/${secret()}?k=${secret()}` },
      },
      {
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: secret() } }],
          systemPrompt: secret(),
          maxTokens: 5,
        },
      },
      { method: "roots/list" },
    ];
    const inputRequests = Object.fromEntries(questions.map((question, at) => [keys[at], question]));
    scene.upstream.script = answers(
      JSON.stringify({ resultType: "input_required", requestState: secret(), inputRequests }),
    );
    const _meta = meta({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
    const asked = await call("tools/call", { _meta });
    const requestState: string = asked.json.result.requestState;
    t.match(gateway.audit.at(-1), {
      questions: [{ kind: "form" }, { kind: "url" }, { kind: "sampling" }, { kind: "roots" }],
    });
    scene.upstream.script = answers('{"resultType":"complete","content":[]}');
    const inputResponses = {
      [keys[0] ?? ""]: { action: "accept", content: { [secret()]: secret() } },
      [keys[1] ?? ""]: { action: "decline" },
      [keys[2] ?? ""]: {
        ...{ role: "assistant", model: secret(), stopReason: "endTurn" },
        content: { type: "text", text: secret() },
      },
      [keys[3] ?? ""]: { roots: [{ uri: `file:///${secret()}`, name: secret() }] },
    };
    keep(await call("tools/call", { _meta, requestState, inputResponses }));
    t.match(gateway.audit.at(-1), {
      replay: "first_use",
      answers: ["accept", "decline", "result", "result"],
    });
    await search(t);
  },
);

t.test("refused requests", async (t) => {
  const id = JSON.stringify(secret());
  const raw = async (body: string, more: Record<string, string> = {}): Promise<void> => {
    const like = { method: "tools/call", params: { name: "t" } };
    const all = { ...headers(), authorization: `Bearer ${token}`, ...more };
    keep(await scene.raw(body, like, all));
  };
  for (const body of [
    `{"${secret()}":`,
    `{"${MARK}":1,"${MARK}":2}`,
    secret(),
    `["${secret()}"]`,
    request(`"name":"t","NAME":"${secret()}"`, "tools/call", id),
    request('"name":"t"', `${secret()} is no method`, id),
    request(`"name":"${secret()}\\ud800"`, "tools/call", id),
    `{"jsonrpc":"${secret()}","id":${id},"method":"x"}`,
    `{"jsonrpc":"2.0","id":{"${secret()}":1},"method":"${secret()}"}`,
    "x".repeat(5_000_000) + secret(),
  ]) {
    await raw(body);
  }
  for (const more of [
    { "content-type": `text/${secret()}` },
    { "content-encoding": secret() },
    { accept: secret() },
    { host: `${secret()}.example` },
    { origin: `https://${secret()}.example` },
    { "mcp-name": secret() },
    { "mcp-method": secret() },
    { "mcp-protocol-version": secret() },
    { authorization: secret() },
    { authorization: `Bearer ${secret()}` },
    { authorization: `Basic ${btoa(secret())}` },
    { authorization: `Bearer ${forged}` },
    { "transfer-encoding": `chunked, ${secret()}` },
  ]) {
    await raw(request('"name":"t"', "tools/call", id), more);
  }
  keep(await gateway.send({ method: "GET", path: `/${secret()}?${secret()}=${secret()}` }));
  for (const version of ["2099-01-01", secret()]) {
    const own = { ...headers(), authorization: `Bearer ${token}`, "mcp-protocol-version": version };
    keep(await gateway.send({ method: "GET", path: `/mcp?${secret()}`, headers: own }));
  }
  kept.push(
    await rawExchange(gateway.url, `POST /mcp HTTP/1.1\r\n${secret()}\x01: ${secret()}\r\n\r\n${secret()}`),
  );
  kept.push(await rawExchange(gateway.url, `${secret()}\r\n\r\n`));
  t.ok(kept.length > 30, `${kept.length} refusals`);
  await search(t);
});

t.test("credentials of servers: made, granted, refused by endpoint and by server", async (t) => {
  process.env["SG_SECRET_CLIENT"] = secret();
  const { privateKey } = generateKeyPairSync("ed25519");
  process.env["SG_SECRET_PEM"] = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  const pem = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64");
  const says: string[] = [];
  const server = await startTokenServer(t, scene.issuer.jwksUrl);
  const granted = (more: object): object => ({
    ...{ access_token: secret(), refresh_token: secret(), scope: secret(), error_description: secret() },
    ...{ error: undefined, token_type: "Bearer", expires_in: 60, ...more },
  });
  // Made anew for each route: YAML would write the same object as an alias.
  const credential = () => ({
    endpoint: `${server.endpoint}?key=${secret()}`,
    client: { basic: { id: "gw", secret: { env: "SG_SECRET_CLIENT" } } },
    scope: ["a"],
  });
  const { routes, ...rest } = sections({});
  const upstream = (routes as { upstream: object }[])[0]?.upstream;
  const other = await startGateway(scene.upstreamUrl, {
    ...rest,
    assertions: { primary: "a", ring: [{ id: "a", key: { env: "SG_SECRET_PEM" } }] },
    routes: [
      {
        path: "/mcp",
        upstream: { ...upstream, credential: { exchange: { ...credential(), subject: "any" } } },
      },
      { path: "/own", upstream: { ...upstream, credential: { clientCredentials: credential() } } },
      { path: "/said", upstream: { ...upstream, credential: { assertion: { claims: ["scopes"] } } } },
    ],
  });
  const audiences = ["/mcp", "/own", "/said"].map((path) => `${PUBLIC_URL}${path}`);
  scene.upstream.script = (arrived, response) => {
    says.push(String(arrived.headers.authorization));
    response.writeHead(401, { "www-authenticate": `Bearer realm="${secret()}"` }).end(secret());
  };
  for (const answer of [
    granted({}),
    granted({ issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }),
    granted({ token_type: secret() }),
    granted({ access_token: `${secret()} ${secret()}` }),
    granted({ expires_in: secret() }),
    granted({ status: 400, error: secret() }),
    granted({ status: 400, error: "invalid_grant" }),
    granted({ status: 401, error: "invalid_client" }),
    granted({ status: 503, error: secret() }),
  ]) {
    server.instead = () => answer as Record<string, unknown>;
    for (const path of ["/mcp", "/own", "/said"]) {
      const bearer = await scene.issuer.token({ sub: "u-1001", aud: audiences, jti: secret(), scope: "s" });
      const message = { method: "tools/call", params: { name: "t", arguments: { [secret()]: secret() } } };
      const reply = keep(await other.call(message, { token: bearer, path, headers: headers() }));
      t.ok(reply.status >= 400);
      says.push(bearer);
      other.clock.now += 2_000;
    }
  }
  t.ok(says.length > 30, `${says.length} tokens`);
  const written = [other.logged(), JSON.stringify(other.audit), await adminPages(other.adminUrl)];
  kept.push(...written);
  await other.close(0);
  for (const token of says) {
    const part = token.split(/[ .]/).at(-1) ?? token;
    t.notOk(kept.join("\n").includes(part), "no token");
  }
  t.notOk(kept.join("\n").includes(pem.slice(20)), "no key");
  await search(t);
});

t.test(
  "while the store is away, where its password is wrong, and where keys cannot be fetched",
  async (t) => {
    scene.upstream.script = answers(ask());
    const { requestState } = (await call()).json.result;
    const others = await Promise.all(
      [{ password: "SG_SECRET_WRONG" }, { jwks: `${scene.issuer.jwksUrl}?key=${secret()}` }].map((change) =>
        startGateway(scene.upstreamUrl, sections(change)),
      ),
    );
    for (const other of others) {
      const reply = keep(
        await other.call({ method: "tools/call", params: { name: "t" } }, { token, headers: headers() }),
      );
      t.equal(reply.status, 503);
    }
    await redis.stop();
    const answer = { q: { action: "accept", content: { f: secret() } } };
    t.equal(keep(await call("tools/call", { requestState, inputResponses: answer })).status, 503);
    for (const other of others) {
      kept.push(other.logged(), JSON.stringify(other.audit), await adminPages(other.adminUrl));
      await other.close(0);
    }
    await search(t);
  },
);
