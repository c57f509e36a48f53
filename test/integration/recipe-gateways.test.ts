/** docs/recipes/behind-a-gateway.md and before-a-gateway.md: other gateways in front of Sealgate and behind it. */
import t, { type Test } from "tap";
import { startFrontGateway, startJoiningGateway } from "../support/front-gateway.ts";
import type { Message, Reply } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { auditOf, blocks, client, fitted, LISTEN, startRecipe } from "../support/recipe.ts";
import { ownRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";
import { ASK, answers, asksOnce, DONE, INNER, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const PASSWORD = "correct-horse-4711";
const SECRETS = {
  "key-2026-11": "k".repeat(43),
  "redis-password": PASSWORD,
  "gateway-token": "only-the-gateway",
};
const redis = await ownRedis(t, ["--requirepass", PASSWORD]);
const issuer = await startIssuer();
t.teardown(() => issuer.close());

/** The addresses that both pages have in common. */
const PLACES = {
  ...LISTEN,
  "rediss://redis.internal.example:6379/0": `redis://127.0.0.1:${redis.port}/0`,
  "issuer: https://login.example.com": `issuer: ${issuer.issuer}`,
};
let nextId = 1;
type Send = ReturnType<typeof client>;
const call = (send: Send, message: Message): Promise<Reply> =>
  send(message, textOf(String(nextId++), message));
const ask = async (send: Send, message = TRANSFER): Promise<string> => stateOf(await call(send, message));

/** The topology of behind-a-gateway.md, with one of the ways in which a user can arrive. */
async function behind(
  t: Test,
  tokenFor: (user: string, token: string, issuer: TestIssuer) => string | Promise<string>,
) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const [block = ""] = blocks("behind-a-gateway.md", "yaml");
  const config = fitted(block, { ...PLACES, "http://127.0.0.1:3001/mcp": upstream.url });
  const gateway = await startRecipe(t, config, SECRETS);
  const users = new Map<string, string>();
  const target = { url: gateway.url, host: "sealed.internal.example" };
  const front = await startFrontGateway(t, target, (token) =>
    tokenFor(users.get(token) ?? "", token, issuer),
  );
  /** A user of the front gateway, with a token for it. */
  const user = async (sub: string, more = {}): Promise<Send> => {
    const token = await issuer.token({
      sub,
      aud: "https://mcp.example.com/mcp",
      scope: "mcp",
      client_id: "desktop",
    });
    users.set(token, sub);
    return client(`${front}/mcp`, token, more);
  };
  return { gateway, upstream, user };
}

/** Two users behind the front gateway, told apart. */
async function tellsApart(t: Test, scene: Awaited<ReturnType<typeof behind>>): Promise<void> {
  const { gateway, upstream, user } = scene;
  const [alice, bob] = [await user("alice"), await user("bob")];
  const state = await ask(alice);
  const claimed = await user("bob", { "x-forwarded-user": "alice" });
  for (const other of [bob, claimed]) t.match(await call(other, retryOf(state)), { status: 400 });
  t.match(await call(alice, retryOf(state)), { status: 200, json: { result: JSON.parse(DONE) } });
  t.equal(upstream.arrived.length, 2);
  t.same(
    (await auditOf(gateway, 4)).flatMap(({ cause }) => cause ?? []),
    ["principal", "principal"],
    "whatever a header says",
  );
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
  t.same(
    [
      ...new Set(
        (await auditOf(gateway, 4)).map(({ principal }) => (principal as { subject: string }).subject),
      ),
    ].sort(),
    ["alice", "bob"],
  );
}

t.test("in front: the user's token is passed on", async (t) =>
  tellsApart(t, await behind(t, (_user, token) => token)),
);

t.test("in front: the user's token is exchanged, anew for each request", async (t) => {
  const exchanged = (sub: string) =>
    issuer.token({
      sub,
      aud: "https://sealed.internal.example/mcp",
      scope: "mcp",
      client_id: "front",
      jti: String(nextId++),
    });
  await tellsApart(t, await behind(t, exchanged));
});

t.test("in front: with a token of its own all users are one, as the page warns", async (t) => {
  const own = () =>
    issuer.token({
      sub: "front",
      aud: "https://sealed.internal.example/mcp",
      scope: "mcp",
      client_id: "front",
    });
  const { gateway, user } = await behind(t, own);
  const state = await ask(await user("alice"));
  t.equal((await call(await user("bob"), retryOf(state))).status, 200);
  t.match(
    (await auditOf(gateway, 2)).map(({ principal }) => principal),
    [{ subject: "front" }, { subject: "front" }],
  );
});

t.test("in front: a token for somewhere else, or without the scope, gets nothing", async (t) => {
  const { user, upstream } = await behind(t, (sub) =>
    issuer.token({
      sub,
      aud: sub === "alice" ? "https://else.example" : "https://sealed.internal.example/mcp",
    }),
  );
  t.equal((await call(await user("alice"), TRANSFER)).status, 401);
  t.match(await call(await user("bob"), TRANSFER), { json: { error: { code: -32602 } } });
  t.equal(upstream.arrived.length, 0);
});

t.test("behind: one Sealgate before many servers, ruled by prefix", async (t) => {
  const crm = await startUpstream(asksOnce);
  const wiki = await startUpstream(asksOnce);
  t.teardown(() => crm.close());
  t.teardown(() => wiki.close());
  const joined = await startJoiningGateway(t, { crm: crm.url, wiki: wiki.url }, SECRETS["gateway-token"]);
  const [block = ""] = blocks("before-a-gateway.md", "yaml");
  const gateway = await startRecipe(
    t,
    fitted(block, { ...PLACES, "http://127.0.0.1:3010/mcp": joined.url }),
    SECRETS,
  );
  const user = async (groups: string[]): Promise<Send> =>
    client(gateway.url, await issuer.token({ aud: "https://mcp.example.com/mcp", groups }), {
      host: "mcp.example.com",
    });
  const [seller, guest] = [await user(["sales"]), await user([])];
  const of = (prefix: string): Message => ({
    ...TRANSFER,
    params: { ...TRANSFER.params, name: `${prefix}_transfer` },
  });

  const names = async (send: Send): Promise<string[]> =>
    (await call(send, { method: "tools/list" })).json.result.tools.map(({ name }: { name: string }) => name);
  t.same(await names(seller), ["crm_transfer", "wiki_transfer"]);
  t.same(await names(guest), ["wiki_transfer"]);

  const state = await ask(seller, of("crm"));
  t.match(await call(seller, retryOf(state, undefined, of("wiki"))), { status: 400 }, "bound to its tool");
  t.match(await call(guest, of("crm")), { json: { error: { code: -32602 } } }, "as a name that nobody has");
  t.match(await call(seller, retryOf(state, undefined, of("crm"))), { json: { result: JSON.parse(DONE) } });
  t.equal(crm.arrived.at(-1)?.json.params.requestState, INNER, "the state came back through both");
  t.equal(crm.arrived.at(-1)?.json.params.name, "transfer");

  t.notOk((await call(seller, of("wiki"))).json.result, "the wiki may ask nothing");
  wiki.script = answers(DONE);
  t.match((await call(seller, of("wiki"))).json, { result: JSON.parse(DONE) });
  wiki.script = answers(ASK);
  t.same(
    new Set(joined.authorization),
    new Set([`Bearer ${SECRETS["gateway-token"]}`]),
    "never a user's token",
  );
});
