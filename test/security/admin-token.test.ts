/** Somebody who reaches the admin listener guesses its token, leaves it out, spells paths oddly, or is a web page. */
import t from "tap";
import { ask, inForce, operated, TOKEN } from "../integration/operators.ts";
import { asksOnce } from "../integration/rounds.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const open = async (sections: Record<string, unknown>): Promise<TestGateway> => {
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(() => gateway.close(0));
  return gateway;
};
const gateway = await open(operated(t));
const PATHS = [
  "/v1/grants",
  "/v1/revocations",
  "/v1/needs",
  "/v1/approvals",
  "/v1/approvals/AAAAAAAAAAAAAAAAAAAAAA",
  "/v1/grants/x",
  "/v1/",
  "/v1/nothing",
  "/%761/grants",
];
const DENY = { effect: "deny", tool: "x" };

t.test("without the token there is nothing to see, and nothing is set", async (t) => {
  for (const token of [
    undefined,
    "",
    "x",
    TOKEN.slice(0, -1),
    `${TOKEN}x`,
    TOKEN.toUpperCase(),
    `${TOKEN} ${TOKEN}`,
  ]) {
    for (const path of PATHS) {
      for (const method of ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"]) {
        const reply = await ask(gateway, path, { token, method });
        t.equal(reply.status, 401, `${method} ${path}`);
        t.equal(reply.headers["www-authenticate"], "Bearer");
        t.notMatch(reply.body, /grants|revocations|needs/);
      }
    }
  }
  for (const authorization of [
    `Basic ${Buffer.from(`a:${TOKEN}`).toString("base64")}`,
    TOKEN,
    `Bearer  ${TOKEN}`,
  ])
    t.equal((await ask(gateway, "/v1/grants", { token: undefined, headers: { authorization } })).status, 401);
  t.equal((await ask(gateway, `/v1/grants?token=${TOKEN}`, { token: undefined })).status, 401);
  t.match(await ask(gateway, "/v1/grants", { token: "x", body: DENY }), { status: 401 });
  t.equal((await inForce(gateway)).deny, 0);
  t.match(gateway.deeds.at(-1), { action: "unknown", outcome: "refused", cause: "token" });
  t.notMatch(gateway.logged(), TOKEN);
});

t.test(
  "with it: what is set is answered, on record under the answer's id, and never stored by anybody",
  async (t) => {
    const reply = await ask(gateway, "/v1/grants", { body: DENY, headers: { "x-request-id": "mine" } });
    t.match(reply, { status: 201, headers: { "cache-control": "no-store" } });
    t.match(gateway.deeds.at(-1), {
      action: "grant",
      outcome: "done",
      entry: { id: reply.json.id, tool: "x" },
    });
    t.equal(gateway.deeds.at(-1)?.requestId, reply.headers["x-request-id"]);
    t.not(reply.headers["x-request-id"], "mine");
    t.match(await ask(gateway, "/v1/grants"), {
      status: 200,
      json: { grants: [{ id: reply.json.id, by: "admin" }] },
    });
    t.equal((await ask(gateway, `/v1/revocations/${reply.json.id}`, { method: "DELETE" })).status, 404);
    t.equal((await ask(gateway, `/v1/grants/${reply.json.id}`, { method: "DELETE" })).status, 200);
    t.equal((await ask(gateway, `/v1/grants/${reply.json.id}`, { method: "DELETE" })).status, 404);
    t.equal((await ask(gateway, "/v1/nothing")).status, 404);
  },
);

t.test("bodies that are none, or not ours", async (t) => {
  const post = (body: unknown, headers?: Record<string, string>) =>
    ask(gateway, "/v1/grants", { body, ...(headers === undefined ? {} : { headers }) });
  for (const body of [
    "",
    "{",
    "[]",
    "null",
    '{"effect":"deny","tool":"x","tool":"y"}',
    '{"effect":"deny","__proto__":{}}',
  ])
    t.equal((await post(body)).status, 400, body);
  t.equal((await post(`{"effect":"deny","tool":"x","reason":"${"x".repeat(17_000)}"}`)).status, 413);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    t.equal((await post(JSON.stringify(DENY), { "content-type": type })).status, 415, type);
  for (const [change, said] of [
    [{ ttl: "soon" }, /ttl/],
    [{ ttl: 60 }, /ttl/],
    [{ effect: "allow" }, /capability/],
    [{ id: "x" }, /not known/],
  ] as const) {
    const reply = await post({ ...DENY, ...change });
    t.equal(reply.status, 400);
    t.match(reply.json.error, said);
  }
  t.match(gateway.deeds.at(-1), { outcome: "refused", cause: "order" });
  t.equal((await post({ ...DENY, ttl: "30m" })).status, 201);
});

t.test("a web page: another Host is refused, and no CORS lets it send the header", async (t) => {
  for (const host of ["evil.example", "127.0.0.1.evil.example", "evil.example:80"]) {
    const reply = await ask(gateway, "/v1/grants", { headers: { host } });
    t.equal(reply.status, 421);
    t.equal(reply.json.grants, undefined);
  }
  const headers = {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  for (const method of ["OPTIONS", "GET", "POST"]) {
    const reply = await ask(gateway, "/v1/grants", { method, headers, token: undefined });
    t.equal(reply.status, 401);
    t.same(
      Object.keys(reply.headers).filter((name) => name.startsWith("access-control")),
      [],
    );
  }
});

t.test("without admin.token there are no verbs, whatever is sent", async (t) => {
  const none = await open({ admin: { listen: "127.0.0.1:0" } });
  for (const path of PATHS) {
    for (const token of [undefined, TOKEN, "undefined"]) {
      const reply = await ask(none, path, { token });
      t.equal(reply.status, 404);
      t.equal(reply.body, '{"error":"not found"}');
    }
  }
  t.same(none.deeds, []);
});

t.test("a token that is too short, or no token, is refused in the configuration", async (t) => {
  for (const [token, said] of [
    ["fifteen-letters", /shorter than 16/],
    ["two words of it, long", /blanks/],
    ["", /empty/],
  ] as const) {
    const folder = t.testdir({ token });
    await t.rejects(open({ admin: { listen: "127.0.0.1:0", token: { file: `${folder}/token` } } }), {
      message: said,
    });
  }
});
