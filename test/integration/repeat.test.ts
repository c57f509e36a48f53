/** `redemption.results`: an owner who lost the answer gets it again, for the very same retry, and nobody else does. */
import t, { type Test } from "tap";
import { type Scene, setScene, TRANSFER, YES } from "../security/scene.ts";
import { meta, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { anyRedis, ownRedis } from "../support/redis.ts";
import { result, type Script } from "../support/upstream.ts";
import { operated, set } from "./operators.ts";
import { ASK, asksOnce, DONE, isRetry } from "./rounds.ts";

const MINUTES = { results: "5m" };

async function withResults(
  t: Test,
  redemption: Readonly<Record<string, unknown>> = MINUTES,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Scene> {
  return setScene(t, {
    users: true,
    script: asksOnce,
    sections: (_upstream, issuer) => ({
      authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
      redemption: { store: "memory", ...redemption },
      ...more,
    }),
  });
}

const reasonOf = (reply: { json: { error?: { data?: { reason?: string } } } }): string | undefined =>
  reply.json.error?.data?.reason;

/** Retries that reached the server. */
const runs = ({ upstream }: Scene): number => upstream.arrived.filter(isRetry).length;

const asStream: Script = (arrived, response) => {
  if (!isRetry(arrived)) return result(arrived, response, ASK);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(
    `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n\n`,
  );
  response.end(`data: {"jsonrpc":"2.0","id":${JSON.stringify(arrived.json.id)},"result":${DONE}}\n\n`);
};

for (const kind of ["memory", "redis"] as const) {
  t.test(`${kind}: the same retry again gets the same answer under its own id`, async (t) => {
    const { url, keyPrefix } = await anyRedis(t);
    const store = kind === "memory" ? {} : { redis: { url, keyPrefix }, ...(await keys(t)) };
    const scene = await withResults(t, { ...MINUTES, store: kind }, store);
    for (const script of [asksOnce, asStream]) {
      scene.upstream.script = script;
      const before = runs(scene);
      const state = await scene.ask();
      const first = await scene.retry(state, { id: "first" });
      t.match(first.json, { id: "first", result: { resultType: "complete" } });
      for (const id of ["second", 30_303, "first"]) {
        const again = await scene.retry(state, { id });
        t.equal(again.status, 200);
        t.match(again.headers, { "content-type": "application/json" });
        t.same(again.json, { ...first.json, id });
        t.match(scene.gateway.audit.at(-1), { outcome: "complete", state: "repeated" });
      }
      t.equal(runs(scene) - before, 1, "the server hears nothing of it");
    }
  });
}

async function keys(t: Test): Promise<Record<string, unknown>> {
  const name = `SEALGATE_TEST_KEY_${t.name.replace(/\W/g, "")}`;
  process.env[name] = Buffer.alloc(32, 7).toString("base64url");
  t.teardown(() => delete process.env[name]);
  return { keys: { primary: "a", ring: [{ id: "a", secret: { env: name } }] } };
}

t.test("another replica knows the answer", async (t) => {
  const { url, keyPrefix } = await anyRedis(t);
  const ring = await keys(t);
  const one = await withResults(t, { ...MINUTES, store: "redis" }, { redis: { url, keyPrefix }, ...ring });
  const two = await startGateway(one.upstreamUrl, {
    authentication: { issuers: [{ issuer: one.issuer.issuer, jwks: { url: one.issuer.jwksUrl } }] },
    redemption: { ...MINUTES, store: "redis" },
    redis: { url, keyPrefix },
    ...ring,
  });
  t.teardown(() => two.close(0));
  const state = await one.ask();
  await one.retry(state);
  const params = { ...TRANSFER.params, requestState: state, inputResponses: YES };
  const again = await two.call({ id: "elsewhere", method: "tools/call", params }, { token: one.owner });
  t.match(again.json, { id: "elsewhere", result: { resultType: "complete" } });
  t.equal(runs(one), 1);
});

t.test("who may not have it", async (t) => {
  const scene = await withResults(t);
  const state = await scene.ask();
  t.equal((await scene.retry(state)).json.result.resultType, "complete");
  const no = { confirm: { action: "decline" } };
  t.equal(reasonOf(await scene.retry(state, { inputResponses: no })), "already_redeemed", "other answers");
  t.equal(reasonOf(await scene.retry(state, { inputResponses: {} })), "already_redeemed", "no answers");
  const false_ = { confirm: { action: "accept", content: { ok: false } } };
  t.equal(reasonOf(await scene.retry(state, { inputResponses: false_ })), "already_redeemed");
  const capabilities = { elicitation: { form: {} }, roots: {} };
  t.equal(reasonOf(await scene.retry(state, {}, { capabilities })), "already_redeemed", "another client");
  const stranger = { token: scene.stranger };
  t.equal(reasonOf(await scene.retry(state, {}, stranger)), "invalid_request_state", "another user");
  const elsewhere = { params: { name: "transfer", arguments: { to: "acct-1", amount: 50 } } };
  t.equal(reasonOf(await scene.retry(state, elsewhere)), "invalid_request_state", "other arguments");
  t.equal(reasonOf(await scene.retry(state)), undefined, "and the owner still has it");
  t.equal(runs(scene), 1);
});

t.test("the same answers in another spelling are the same answers", async (t) => {
  const scene = await withResults(t);
  const state = await scene.ask();
  await scene.retry(state);
  const body = (answers: string): string =>
    `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"_meta":${JSON.stringify(meta())},"name":"transfer",` +
    `"arguments":{"amount":50,"to":"acct-9"},"requestState":${JSON.stringify(state)},"inputResponses":${answers}}}`;
  const spelled = '{ "confirm": { "content": { "\\u006fk": true }, "action": "accept" } }';
  t.equal(reasonOf(await scene.raw(body(spelled))), undefined);
  t.equal(reasonOf(await scene.raw(body(spelled.replace("true", "false")))), "already_redeemed");
});

t.test("nothing is kept for callers who cannot be told apart", async (t) => {
  const scene = await setScene(t, { sections: () => ({ redemption: { store: "memory", ...MINUTES } }) });
  const state = await scene.ask();
  await scene.retry(state);
  t.equal(reasonOf(await scene.retry(state)), "already_redeemed");
});

t.test("off by default", async (t) => {
  const scene = await withResults(t, {});
  const state = await scene.ask();
  await scene.retry(state);
  t.equal(reasonOf(await scene.retry(state)), "already_redeemed");
});

t.test("an answer is kept for its time and up to its size", async (t) => {
  const scene = await withResults(t, { results: "2m", maxResultBytes: "1KiB" });
  const state = await scene.ask();
  await scene.retry(state);
  scene.gateway.clock.now += 119_000;
  t.equal(reasonOf(await scene.retry(state)), undefined);
  scene.gateway.clock.now += 2_000;
  t.equal(reasonOf(await scene.retry(state)), "already_redeemed");
  scene.upstream.script = (arrived, response) =>
    result(arrived, response, isRetry(arrived) ? DONE.replace("done", "long".repeat(256)) : ASK);
  const large = await scene.ask();
  t.equal(reasonOf(await scene.retry(large)), undefined);
  t.equal(reasonOf(await scene.retry(large)), "already_redeemed", "too large to keep");
});

t.test("an answer that never came whole is not kept, nor is one that the gateway refused", async (t) => {
  const scene = await withResults(t);
  for (const script of [
    ((arrived, response) => {
      if (!isRetry(arrived)) return result(arrived, response, ASK);
      response.writeHead(200, { "content-type": "application/json", "content-length": "999" });
      response.write("{", () => response.socket?.destroy());
    }) as Script,
    ((arrived, response) =>
      isRetry(arrived) ? response.writeHead(500).end() : result(arrived, response, ASK)) as Script,
    ((arrived, response) =>
      result(arrived, response, isRetry(arrived) ? '{"resultType":"odd"}' : ASK)) as Script,
  ]) {
    scene.upstream.script = script;
    const state = await scene.ask();
    t.not(reasonOf(await scene.retry(state)), undefined);
    scene.upstream.script = asksOnce;
    t.equal(reasonOf(await scene.retry(state)), "already_redeemed");
  }
});

t.test("a tool that failed, an error, and a further question are answers too", async (t) => {
  const scene = await withResults(t);
  const scripts: Script[] = [
    (arrived, response) =>
      result(
        arrived,
        response,
        isRetry(arrived) ? '{"resultType":"complete","content":[],"isError":true}' : ASK,
      ),
    (arrived, response) => {
      if (!isRetry(arrived)) return result(arrived, response, ASK);
      const body = { jsonrpc: "2.0", id: arrived.json.id, error: { code: -32603, message: "out of paper" } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    },
    (arrived, response) => result(arrived, response, ASK),
  ];
  for (const script of scripts) {
    scene.upstream.script = script;
    const state = await scene.ask();
    const first = await scene.retry(state, { id: "a" });
    t.same((await scene.retry(state, { id: "b" })).json, { ...first.json, id: "b" });
  }
  const state = await scene.ask();
  await scene.retry(state);
  const next = (await scene.retry(state)).json.result.requestState;
  scene.upstream.script = asksOnce;
  t.equal(
    (await scene.retry(next, { id: "third" })).json.result.resultType,
    "complete",
    "the question that came again can be answered",
  );
});

t.test("what the owner may no longer use is not returned", async (t) => {
  const policies = [{ id: "a", effect: "allow", principal: { scopes: ["pay"] } }];
  const scene = await withResults(t, MINUTES, { authorization: { default: "deny", policies } });
  const aud = `${PUBLIC_URL}/mcp`;
  const token = await scene.issuer.token({ sub: "u-1001", aud, scope: "pay" });
  const state = await scene.ask(TRANSFER, { token });
  t.equal((await scene.retry(state, {}, { token })).json.result.resultType, "complete");
  t.equal((await scene.retry(state, {}, { token })).json.result.resultType, "complete");
  t.not(reasonOf(await scene.retry(state, {}, { token: scene.owner })), undefined, "without the scope");
});

t.test("a store that somebody else writes to: what does not open is not there", async (t) => {
  const redis = await ownRedis(t);
  const scene = await withResults(
    t,
    { ...MINUTES, store: "redis" },
    { redis: { url: redis.url, keyPrefix: "x:" }, ...(await keys(t)) },
  );
  const [one, two] = [await scene.ask(), await scene.ask()];
  t.not(one, two);
  for (const state of [one, two]) await scene.retry(state);
  const names = (await redis.command("KEYS", "x:result:*")) as string[];
  t.equal(names.length, 2);
  const [first, second] = names as [string, string];
  const texts = [await redis.command("GET", first), await redis.command("GET", second)];
  t.notMatch(texts.join(), '"done', "sealed");
  await redis.command("SET", first, String(texts[1]));
  await redis.command("SET", second, "AAAA");
  for (const state of [one, two]) t.equal(reasonOf(await scene.retry(state)), "already_redeemed");
  await redis.stop();
  t.equal(reasonOf(await scene.retry(one)), "store_unavailable");
});

t.test("a question that may not be asked any more is not asked again", async (t) => {
  const scene = await withResults(t);
  const url = (host: string): string =>
    JSON.stringify({
      resultType: "input_required",
      requestState: "s",
      inputRequests: {
        link: {
          method: "elicitation/create",
          params: { mode: "url", message: "Sign in", url: `https://${host}/` },
        },
      },
    });
  scene.upstream.script = (arrived, response) =>
    result(arrived, response, isRetry(arrived) ? url("other.example") : ASK);
  const capabilities = { elicitation: { form: {}, url: {} } };
  const state = await scene.ask(TRANSFER, { capabilities });
  t.match((await scene.retry(state, {}, { capabilities })).json, {
    result: { resultType: "input_required" },
  });
  t.match((await scene.retry(state, {}, { capabilities })).json, {
    result: { resultType: "input_required" },
  });
  for (const capability of [
    { allow: ["elicitation.form", "elicitation.url"], url: { hosts: ["good.example"] } },
    { allow: ["elicitation.form"] },
  ]) {
    t.ok(await scene.gateway.configure({ capability }));
    const again = await scene.retry(state, {}, { capabilities });
    t.equal(reasonOf(again), "question_forbidden");
    t.notMatch(again.body, "other.example");
  }
  t.ok(await scene.gateway.configure({ capability: {} }));
  t.match((await scene.retry(state, {}, { capabilities })).json, {
    result: { resultType: "input_required" },
  });
});

t.test("what operators have revoked is not returned", async (t) => {
  const scene = await withResults(t, MINUTES, operated(t));
  const [state, other] = [await scene.ask(), await scene.ask(TRANSFER, { token: scene.stranger })];
  await scene.retry(state);
  await scene.retry(other, {}, { token: scene.stranger });
  t.equal(reasonOf(await scene.retry(state)), undefined);
  const { issuer } = scene.issuer;
  await set(scene.gateway, "revocations", { principal: { issuer, subject: "u-1001" } });
  t.equal(reasonOf(await scene.retry(state)), "invalid_request_state");
  t.match(scene.gateway.audit.at(-1), { cause: "revoked", state: "rejected" });
  t.equal(reasonOf(await scene.retry(other, {}, { token: scene.stranger })), undefined, "of nobody else");
});
