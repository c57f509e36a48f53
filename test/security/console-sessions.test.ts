/** The console's API as attackers meet it: without a session, with half of one, from other pages, by guesses, and after its end. */
import t from "tap";
import { roundTrip, setConsole, TOKEN } from "../integration/console-scene.ts";
import { exchange, type Reply } from "../support/gateway.ts";

const scene = await setConsole(t);
const { gateway, base } = scene;
const host = new URL(base).host;
const OWN = { origin: base };
const PATHS = [
  "/v1/console/records",
  "/v1/console/state",
  "/v1/console/nothing",
  "/v1/console/",
  "/v1/revocations",
  "/v1/approvals",
  "/%761/console/state",
];

type Headers = Readonly<Record<string, string>>;
const send = (path: string, method = "GET", headers: Headers = {}, body?: unknown): Promise<Reply> =>
  exchange(base, {
    ...{ path, method },
    headers: { host, ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

type Halves = { readonly cookie: string; readonly "x-sealgate-console": string };
async function signIn(headers: Headers = OWN): Promise<Halves> {
  const reply = await send("/v1/console/session", "POST", headers, { token: TOKEN });
  const cookie = String(reply.headers["set-cookie"]).split(";")[0] ?? "";
  return { cookie, "x-sealgate-console": reply.json.key };
}

t.test("records come in pages, and odd questions are answered as such", async (t) => {
  await roundTrip(scene);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const page = (await send("/v1/console/records?after=0", "GET", headers)).json;
  t.equal(page.last, page.records.at(-1).number);
  t.match(page.records.at(-1).record, { type: "audit", code: "already_redeemed" });
  t.match((await send(`/v1/console/records?after=${page.last}`, "GET", headers)).json, {
    records: [],
    more: false,
  });
  for (const after of ["-1", "1e3", "x", "99999999999999999", "", "1&after=2"])
    t.equal((await send(`/v1/console/records?after=${after}`, "GET", headers)).status, 400, after);
  for (const body of [{}, { token: 5 }, { token: TOKEN, more: 1 }, [], "x"])
    t.equal((await send("/v1/console/session", "POST", OWN, body)).status, 400, JSON.stringify(body));
  const large = await send("/v1/console/session", "POST", OWN, { token: "x".repeat(20_000) });
  t.equal(large.status, 413);
  t.equal((await send("/v1/console/session", "POST", OWN, { token: `${TOKEN}\r\nx` })).status, 401);
});

t.test("without a session or the token there is nothing to see", async (t) => {
  const { cookie, "x-sealgate-console": key } = await signIn();
  const other = await signIn();
  for (const headers of [
    {},
    { cookie },
    { "x-sealgate-console": key },
    { cookie, "x-sealgate-console": other["x-sealgate-console"] },
    { cookie: `${cookie}; ${other.cookie}`, "x-sealgate-console": key },
    { cookie, "x-sealgate-console": cookie.split("=")[1] ?? "" },
    { authorization: `Bearer ${key}` },
    { authorization: "Bearer x", cookie },
  ] as Headers[])
    for (const path of PATHS) {
      const reply = await send(path, "GET", headers);
      t.equal(reply.status, 401, `${path} ${JSON.stringify(Object.keys(headers))}`);
      t.notMatch(reply.body, /records|keys|process/);
    }
  t.match(gateway.deeds.at(-1), { action: "unknown", outcome: "refused", cause: "token" });
  for (const path of ["/v1/console/records", "/v1/console/state", "/v1/revocations"]) {
    t.equal((await send(path, "GET", { cookie, "x-sealgate-console": key })).status, 200, path);
    t.equal((await send(path, "GET", { authorization: `Bearer ${TOKEN}` })).status, 200, path);
  }
});

t.test("signing in: the cookie, its marks, and what a browser by https is told", async (t) => {
  const plain = await send("/v1/console/session", "POST", OWN, { token: TOKEN });
  t.match(
    String(plain.headers["set-cookie"]),
    /^sealgate_console=[\w-]{43}; Path=\/v1\/; Max-Age=3600; HttpOnly; SameSite=Strict$/,
  );
  t.equal(plain.headers["cache-control"], "no-store");
  t.notMatch(plain.body, "set-cookie");
  t.notMatch(plain.body, /token-4711/);
  const secure = await send(
    "/v1/console/session",
    "POST",
    { origin: base.replace("http:", "https:") },
    { token: TOKEN },
  );
  t.match(String(secure.headers["set-cookie"]), /; Secure$/);
  t.match(gateway.deeds.at(-1), { action: "signin", outcome: "done" });
  t.notMatch(gateway.logged(), TOKEN);
  t.notMatch(JSON.stringify(gateway.deeds), new RegExp(`${TOKEN}|${plain.json.key}`));
});

t.test("other pages change nothing, even with both halves; and cannot sign anybody in or out", async (t) => {
  const halves = await signIn();
  const order = { route: "/mcp", by: "x" };
  const before = gateway.audit.length;
  for (const headers of [
    {},
    { origin: "null" },
    { origin: "http://evil.example" },
    { origin: `http://127.0.0.1:1` },
    { origin: base, "sec-fetch-site": "same-site" },
    { origin: base, "sec-fetch-site": "cross-site" },
  ] as Headers[]) {
    const all: Headers = { ...halves, ...headers };
    t.equal((await send("/v1/revocations", "POST", all, order)).status, 403);
    t.equal(
      (await send("/v1/approvals/AAAAAAAAAAAAAAAAAAAAAA", "POST", all, { decision: "approve" })).status,
      403,
    );
    t.equal((await send("/v1/revocations/AAAAAAAAAAAAAAAAAAAAAA", "DELETE", all)).status, 403);
    t.equal((await send("/v1/console/session", "DELETE", all)).status, 403);
    t.equal((await send("/v1/console/session", "POST", headers, { token: TOKEN })).status, 403);
    const body = JSON.stringify(order);
    const asText = await exchange(base, {
      path: "/v1/revocations",
      method: "POST",
      headers: { host, ...all, "content-type": "text/plain" },
      body,
    });
    t.equal(asText.status, 403);
  }
  t.match(gateway.deeds.at(-1), { outcome: "refused" });
  t.same((await send("/v1/revocations", "GET", halves)).json, { revocations: [] });
  t.equal(gateway.audit.length, before);
  t.equal((await send("/v1/revocations", "POST", { ...halves, ...OWN }, order)).status, 201);
  t.equal(
    (await send("/v1/revocations", "POST", { authorization: `Bearer ${TOKEN}` }, order)).status,
    201,
    "commands send no Origin",
  );
});

t.test("no answer lets another origin read it", async (t) => {
  const halves = await signIn();
  for (const path of ["/v1/console/state", "/console/", "/console/console.js"]) {
    const reply = await send(path, "GET", { ...halves, origin: "http://evil.example" });
    t.notOk(
      Object.keys(reply.headers).some((name) => name.startsWith("access-control")),
      path,
    );
  }
  t.equal((await send("/v1/console/state", "OPTIONS", { origin: "http://evil.example" })).status, 401);
});

t.test("signed out, and over after an hour", async (t) => {
  const [one, two] = [await signIn(), await signIn()];
  const out = await send("/v1/console/session", "DELETE", { ...one, ...OWN });
  t.match(String(out.headers["set-cookie"]), /^sealgate_console=; .*Max-Age=0/);
  t.match(gateway.deeds.at(-1), { action: "signout", outcome: "done" });
  t.equal((await send("/v1/console/state", "GET", { ...one })).status, 401);
  t.equal((await send("/v1/console/state", "GET", { ...two })).status, 200);
  gateway.clock.now += 3_600_000;
  t.equal((await send("/v1/console/state", "GET", { ...two })).status, 401);
});

t.test("guesses: ten a minute from one address, and pages of others use none of them up", async (t) => {
  gateway.clock.now += 120_000;
  const guess = (token: string, headers: Headers = OWN): Promise<Reply> =>
    send("/v1/console/session", "POST", headers, { token });
  for (let at = 0; at < 30; at++) t.equal((await guess("x", { origin: "http://evil.example" })).status, 403);
  for (let at = 0; at < 10; at++) t.equal((await guess(`guess-${at}`)).status, 401);
  const late = await guess(TOKEN);
  t.equal(late.status, 429, "the right one is not looked at either");
  t.equal(late.headers["retry-after"], "60");
  t.match(gateway.deeds.at(-1), { action: "signin", outcome: "refused", cause: "attempts" });
  t.equal(
    (await send("/v1/console/state", "GET", { authorization: `Bearer ${TOKEN}` })).status,
    200,
    "commands work on",
  );
  gateway.clock.now += 60_000;
  t.equal((await guess(TOKEN)).status, 200);
});

t.test("a session ends when the token changes", async (t) => {
  const halves = await signIn();
  await scene.changeToken("another-operator's-token");
  t.equal(await gateway.reload(), true);
  t.equal((await send("/v1/console/state", "GET", { ...halves })).status, 401);
  t.equal((await send("/v1/revocations", "GET", { ...halves })).status, 401);
  await scene.changeToken(TOKEN);
  await gateway.reload();
  t.equal(
    (await send("/v1/console/state", "GET", { ...halves })).status,
    401,
    "the old one brings nothing back",
  );
});

t.test(
  "turned off there is no page, no session and nothing held; turned on again it begins anew",
  async (t) => {
    const { admin } = scene;
    const halves = await signIn();
    t.equal(await gateway.configure({ admin: { ...admin, console: false } }), true);
    for (const path of [
      "/console/",
      "/console",
      "/console/console.js",
      "/v1/console/state",
      "/v1/console/session",
    ])
      t.equal((await send(path, "GET", { ...halves, authorization: `Bearer ${TOKEN}` })).status, 404, path);
    t.equal((await send("/v1/console/session", "POST", OWN, { token: TOKEN })).status, 404);
    t.equal((await send("/v1/revocations", "GET", { ...halves })).status, 401);
    t.equal((await send("/v1/revocations", "GET", { authorization: `Bearer ${TOKEN}` })).status, 200);
    await gateway.configure({ admin });
    t.equal((await send("/v1/console/state", "GET", { ...halves })).status, 401);
    const { recorder } = (await send("/v1/console/state", "GET", { authorization: `Bearer ${TOKEN}` })).json;
    t.ok(recorder.held <= 1, "but for the refusal just now");
  },
);
