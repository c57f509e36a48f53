/** Headers that say who is calling, from those who may send them and from everybody else. */
import t, { type Test } from "tap";
import { asksOnce, DONE, retryOf, stateOf, TRANSFER } from "../integration/rounds.ts";
import { sendFrom } from "../support/from-address.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";

const PROXY = "127.0.0.2";
const ELSEWHERE = "127.0.0.1";
const RESOURCE = `${PUBLIC_URL}/mcp`;
const REFUSED = { status: 400, json: { error: { data: { reason: "untrusted_header" } } } };

const HEADERS = {
  issuer: "front",
  from: [PROXY],
  user: "x-forwarded-user",
  client: "x-forwarded-client",
  tenant: "x-forwarded-tenant",
  groups: "x-forwarded-groups",
};

/** A gateway behind a proxy at PROXY; anybody else may call with a token. */
async function open(t: Test, forwarded: object, more: object = {}, listen = "127.0.0.1:0") {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const gateway = await startGateway(upstream.url, {
    server: { listen, publicUrl: PUBLIC_URL, allowedHosts: ["gateway.test"], ...more },
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }], forwarded },
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
  });
  t.teardown(() => gateway.close(0));
  const send = (address: string, headers: readonly string[], message = TRANSFER) =>
    sendFrom(gateway.url, address, headers, message);
  return { gateway, upstream, issuer, send };
}

const bearer = async (issuer: TestIssuer): Promise<string[]> => [
  "authorization",
  `Bearer ${await issuer.token({ sub: "u-1", aud: RESOURCE })}`,
];

t.test("plain headers of a listed proxy, and the same from others", async (t) => {
  const { gateway, upstream, issuer, send } = await open(t, { headers: HEADERS });
  const all = [
    "X-Forwarded-User",
    "alice",
    "x-forwarded-groups",
    "ops, dev,ops",
    "x-forwarded-tenant",
    "acme",
  ];
  const state = stateOf(await send(PROXY, all));
  t.match(gateway.audit.at(-1)?.principal, {
    ...{ issuer: "front", subject: "alice", tenant: "acme" },
    groups: ["ops", "dev"],
  });
  const up = Object.keys(upstream.arrived.at(-1)?.headers ?? {});
  t.notOk(
    up.some((name) => name.includes("forwarded")),
    "no word of it goes up",
  );

  const before = upstream.arrived.length;
  const token = await bearer(issuer);
  for (const headers of [
    ["x-forwarded-user", "alice"],
    ["X_Forwarded_User", "alice"],
    ["x_forwarded-user", "alice"],
    ["X-FORWARDED-USER", "alice"],
    ["x.forwarded.user", "alice"],
    ["x-forwarded-groups", "ops"],
    ["x-forwarded-user", ""],
    ["x-forwarded-for", PROXY, "x-forwarded-user", "alice"],
    ["forwarded", `for=${PROXY}`, "x-forwarded-tenant", "acme"],
    [...token, "x_forwarded_groups", "ops"],
  ]) {
    t.match(await send(ELSEWHERE, headers), REFUSED, headers.join(" "));
    t.match(gateway.audit.at(-1), { outcome: "refused", code: "untrusted_header", cause: "peer" });
  }
  t.equal(upstream.arrived.length, before, "nothing went up");
  t.equal((await send(ELSEWHERE, token)).status, 200, "a token alone is honest");
  t.equal(
    (await send(ELSEWHERE, [...token, "x-forwarded-for", "192.0.2.1"])).status,
    200,
    "so is an address",
  );
  t.equal((await send(ELSEWHERE, [...token, "x-user", "alice"])).status, 200, "and a header of no meaning");

  t.match(await send(PROXY, ["x-forwarded-user", "bob"], retryOf(state)), { status: 400 });
  t.equal(gateway.audit.at(-1)?.cause, "principal", "a state is its caller's");
  const others = ["x-forwarded-user", "alice", "x-forwarded-tenant", "other"];
  t.match(await send(PROXY, others, retryOf(state)), { status: 400 }, "and its tenant's");
  t.match((await send(PROXY, all, retryOf(state))).json.result, JSON.parse(DONE));
});

t.test("copies that a listed proxy lets through", async (t) => {
  const { gateway, upstream, issuer, send } = await open(t, { headers: HEADERS });
  for (const [cause, headers] of [
    ["spelling", ["x-forwarded-user", "alice", "X_Forwarded_User", "root"]],
    ["spelling", ["X_Forwarded_User", "root"]],
    ["spelling", ["x-forwarded-user", "alice", "x-forwarded_groups", "ops"]],
    ["repeated_header", ["x-forwarded-user", "alice", "X-Forwarded-User", "root"]],
    ["connection_names_header", ["connection", "close, X-Forwarded-Tenant", "x-forwarded-user", "alice"]],
    ["connection_names_header", ["connection", "x_forwarded_tenant"]],
    ["repeated_header", ["x-forwarded-user", "alice", "x-forwarded-user", "alice"]],
  ] as const) {
    t.match(await send(PROXY, headers), REFUSED, headers.join(" "));
    t.equal(gateway.audit.at(-1)?.cause, cause);
  }
  for (const [cause, headers] of [
    ["no_token", ["x-forwarded-user", ""]],
    ["forwarded_no_user", ["x-forwarded-groups", "ops"]],
    ["forwarded_value", ["x-forwarded-user", "a".repeat(1_025)]],
    ["forwarded_value", ["x-forwarded-user", "al\xffice"]],
    ["forwarded_value", ["x-forwarded-user", "alice\tbob"]],
    ["ambiguous", ["x-forwarded-user", "alice", ...(await bearer(issuer))]],
  ] as const) {
    t.equal((await send(PROXY, headers)).status, 401, headers.join(" ").slice(0, 60));
    t.equal(gateway.audit.at(-1)?.cause, cause);
  }
  t.equal(upstream.arrived.length, 0);
  t.equal((await send(PROXY, await bearer(issuer))).status, 200, "a proxy may pass on a token");
  const name = Buffer.from("Zoë", "utf8").toString("latin1");
  t.equal((await send(PROXY, ["x-forwarded-user", name])).status, 200, "UTF-8 is text");
  t.match(gateway.audit.at(-1)?.principal, { subject: "Zoë" });
});

t.test("addresses in other spellings", async (t) => {
  const { send } = await open(t, { headers: HEADERS }, {}, "[::]:0");
  t.equal((await send(PROXY, ["x-forwarded-user", "alice"])).status, 200, "IPv4 on a socket of IPv6");
  t.match(await send(ELSEWHERE, ["x-forwarded-user", "alice"]), REFUSED);
  const narrow = await open(t, { headers: { ...HEADERS, from: ["127.0.0.4/31"] } });
  t.equal((await narrow.send("127.0.0.5", ["x-forwarded-user", "alice"])).status, 200);
  t.match(await narrow.send("127.0.0.6", ["x-forwarded-user", "alice"]), REFUSED);
});

t.test("a proxy that is trusted for addresses is not trusted for names", async (t) => {
  const { send } = await open(t, { headers: HEADERS }, { trustedProxies: [ELSEWHERE] });
  const claimed = ["x-forwarded-for", PROXY, "x-forwarded-user", "alice"];
  t.match(await send(ELSEWHERE, claimed), REFUSED);
  t.equal((await send(PROXY, claimed)).status, 200);
});

t.test("signed assertions", async (t) => {
  const front = await startIssuer();
  t.teardown(() => front.close());
  const assertion = {
    issuer: front.issuer,
    jwks: { url: front.jwksUrl },
    algorithms: ["RS256", "ES256"],
    maxLifetime: "60s",
  };
  const { gateway, upstream, issuer, send } = await open(t, { assertion, headers: HEADERS });
  const now = Math.floor(gateway.clock.now / 1000);
  const good = {
    sub: "https://login.example#alice",
    aud: RESOURCE,
    iat: now,
    exp: now + 60,
    client_id: "app",
  };
  const asserted = async (claims: object, by = front): Promise<string[]> => [
    "X-Sealgate-Assertion",
    await by.token({ ...good, ...claims }),
  ];
  const state = stateOf(
    await send(ELSEWHERE, await asserted({ groups: ["ops"], tenant: "acme", scope: "a b" })),
  );
  t.match(gateway.audit.at(-1)?.principal, {
    ...{ issuer: front.issuer, subject: good.sub, client: "app", tenant: "acme" },
    ...{ groups: ["ops"], scopes: ["a", "b"] },
  });
  for (const [cause, headers] of [
    ["assertion_lifetime", await asserted({ exp: now + 61 })],
    ["assertion_lifetime", await asserted({ iat: undefined })],
    ["assertion_audience", await asserted({ aud: "https://elsewhere.example/mcp" })],
    ["assertion_expired", await asserted({ iat: now - 200, exp: now - 150 })],
    ["assertion_issued_in_future", await asserted({ iat: now + 200, exp: now + 230 })],
    ["assertion_missing_subject", await asserted({ sub: undefined, anonymous: true })],
    ["assertion_subject_claim", await asserted({ sub_id: "alice" })],
    ["assertion_subject_claim", await asserted({ sub_id: { format: "opaque", id: "alice" } })],
    [
      "assertion_subject_claim",
      await asserted({ sub_id: { format: "iss_sub", iss: "https://a", sub: "alice" } }),
    ],
    [
      "assertion_subject_claim",
      await asserted({ sub: "a#b", sub_id: { format: "iss_sub", iss: "https://a#a", sub: "b" } }),
    ],
    ["assertion_unknown_issuer", await asserted({}, issuer)],
    ["assertion_unknown_key", await asserted({ iss: front.issuer }, issuer)],
    ["assertion_malformed", ["x-sealgate-assertion", "alice"]],
    ["ambiguous", [...(await asserted({})), ...(await bearer(issuer))]],
  ] as const) {
    const before = upstream.arrived.length;
    const reply = await send(ELSEWHERE, headers);
    t.equal(reply.status, 401, cause);
    t.equal(gateway.audit.at(-1)?.cause, cause);
    t.equal(upstream.arrived.length, before);
  }
  t.equal((await send(PROXY, [...(await asserted({})), "x-forwarded-user", "alice"])).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "forwarded_ambiguous");
  const [name = "", value = ""] = await asserted({});
  t.match(await send(ELSEWHERE, [name, value, name, value]), REFUSED, "twice");
  t.match(await send(ELSEWHERE, ["x_sealgate_assertion", value]), REFUSED, "in another spelling");
  // As a bearer token it is one of an issuer that nobody listed.
  t.equal((await send(ELSEWHERE, ["authorization", `Bearer ${value}`])).status, 401);
  const stranger = await asserted({ sub: "https://login.example#bob" });
  t.match(await send(ELSEWHERE, stranger, retryOf(state)), { status: 400 });
  t.equal(gateway.audit.at(-1)?.cause, "principal");
  // The bare name in sub: whose issuer it is of stands beside it.
  const plain = (iss: string) =>
    asserted({ sub: "alice", tenant: "acme", sub_id: { format: "iss_sub", iss, sub: "alice" } });
  t.match(await send(ELSEWHERE, await plain("https://other.example"), retryOf(state)), { status: 400 });
  t.equal(gateway.audit.at(-1)?.cause, "principal");
  const owner = await plain("https://login.example");
  t.match((await send(ELSEWHERE, owner)).json.result, { resultType: "input_required" });
  t.match(gateway.audit.at(-1)?.principal, { subject: "https://login.example#alice" });
  const fresh = await asserted({ tenant: "acme", iat: now + 5, exp: now + 50 });
  t.match((await send(ELSEWHERE, fresh, retryOf(state))).json.result, JSON.parse(DONE), "by a fresh one");
});

t.test("an assertion from a listed gateway only", async (t) => {
  const front = await startIssuer();
  t.teardown(() => front.close());
  const { gateway, send } = await open(t, {
    assertion: {
      issuer: front.issuer,
      jwks: { url: front.jwksUrl },
      algorithms: ["RS256", "ES256"],
      from: [PROXY],
    },
  });
  const now = Math.floor(gateway.clock.now / 1000);
  const headers = [
    "x-sealgate-assertion",
    await front.token({ sub: "a", aud: RESOURCE, iat: now, exp: now + 60 }),
  ];
  t.match(await send(ELSEWHERE, headers), REFUSED);
  t.equal((await send(PROXY, headers)).status, 200);
});
