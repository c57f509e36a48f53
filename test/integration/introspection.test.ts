/** Opaque tokens against a real introspection server: what is asked, how often, and what becomes of each kind of answer. */
import { inspect } from "node:util";
import t, { type Test } from "tap";
import type { Config } from "../../src/config/schema.ts";
import { openClient } from "../../src/oauth/client-authentication.ts";
import { createAuthenticator } from "../../src/principal/authenticators.ts";
import { issuerSettings, RESOURCE, recordingLog, refusalOf } from "../support/authentication.ts";
import {
  type IntrospectionBehaviour,
  startIntrospection,
  type TestIntrospection,
} from "../support/introspection.ts";
import { startIssuer } from "../support/issuer.ts";
import { authorized } from "../support/presented.ts";

type Settings = NonNullable<Config["authentication"]["introspection"]>[number];
const ISSUER = "https://login.example";
const NOW = 1_800_000_000_000;
const AUDIENCE = RESOURCE.url;
const client = { basic: { id: "gate way", secret: { env: "X" } } };

function settings(server: TestIntrospection, more: Partial<Settings> = {}): Settings {
  return {
    issuer: ISSUER,
    url: server.url,
    client,
    clockTolerance: 0,
    claims: { subject: "sub", client: ["client_id"], scope: ["scope"] },
    requiredScopes: [],
    cache: 30_000,
    ...more,
  };
}

async function setUp(t: Test, more: Partial<Settings> = {}, others: readonly Settings[] = []) {
  const server = await startIntrospection();
  const clock = { now: NOW };
  const now = () => clock.now;
  const log = recordingLog();
  const counted: string[] = [];
  const introspection = [settings(server, more), ...others];
  const clients = new Map(
    introspection.map((of) => [of.issuer, openClient(of.client, Buffer.from("s+cret/4711"), of.url, now)]),
  );
  const authenticator = createAuthenticator(
    { mode: "required", issuers: [], introspection },
    {
      ...{ log, now, clients, jwksFiles: new Map(), fetchTimeout: 250 },
      count: (outcome) => void counted.push(outcome),
    },
  );
  t.teardown(async () => {
    authenticator.close?.();
    await server.close();
  });
  const ask = (token: string, resource = RESOURCE) =>
    authenticator.authenticate(authorized(`Bearer ${token}`), resource);
  server.tokens.set("tok", { sub: "u-1", aud: AUDIENCE, client_id: "app", scope: "a b" });
  return { server, clock, log, counted, authenticator, ask };
}

t.test("an active token gives its principal, and the server is asked as it wants", async (t) => {
  const { server, ask, counted } = await setUp(t);
  const identity = await ask("tok");
  t.match(identity, {
    kind: "introspection",
    principal: { issuer: ISSUER, subject: "u-1", client: "app", scopes: ["a", "b"] },
  });
  t.notOk("confirmedBy" in identity);
  const [call] = server.calls;
  t.same(Object.fromEntries(call?.form ?? []), { token: "tok", token_type_hint: "access_token" });
  const [scheme, pair = ""] = (call?.headers.authorization ?? "").split(" ");
  t.equal(scheme, "Basic");
  t.equal(
    Buffer.from(pair, "base64").toString(),
    "gate+way:s%2Bcret%2F4711",
    "form-encoded (RFC 6749 2.3.1)",
  );
  t.match(call?.headers, { accept: "application/json", "content-type": "application/x-www-form-urlencoded" });
  t.same(counted, ["active"]);
});

t.test("client_secret_post", async (t) => {
  const { server, ask } = await setUp(t, { client: { post: { id: "gw", secret: { env: "X" } } } });
  await ask("tok");
  t.match(Object.fromEntries(server.calls[0]?.form ?? []), { client_id: "gw", client_secret: "s+cret/4711" });
  t.equal(server.calls[0]?.headers.authorization, undefined);
});

t.test("an answer is used again for so long and not a moment longer", async (t) => {
  const { server, ask, clock } = await setUp(t);
  const first = await ask("tok");
  clock.now += 29_999;
  t.equal(await ask("tok"), first, "the very same");
  t.equal(server.calls.length, 1);
  server.tokens.delete("tok");
  clock.now += 1;
  t.equal((await refusalOf(ask("tok"))).detail, "inactive", "a revocation is visible now");
  t.equal(server.calls.length, 2);
});

t.test("an answer is never used past exp, nor when the clock was set back", async (t) => {
  const { server, ask, clock } = await setUp(t);
  server.tokens.set("tok", { sub: "u-1", aud: AUDIENCE, exp: NOW / 1000 + 10 });
  await ask("tok");
  clock.now += 9_999;
  await ask("tok");
  t.equal(server.calls.length, 1);
  clock.now += 1;
  t.equal((await refusalOf(ask("tok"))).detail, "expired", "though the server still says active");
  server.tokens.set("other", { sub: "u-1", aud: AUDIENCE });
  clock.now = NOW + 60_000;
  await ask("other");
  clock.now = NOW;
  const before = server.calls.length;
  await ask("other");
  t.equal(server.calls.length, before + 1);
});

t.test("within its leeway a token past exp is asked about each time", async (t) => {
  const { server, ask, clock } = await setUp(t, { clockTolerance: 20_000 });
  server.tokens.set("tok", { sub: "u-1", aud: AUDIENCE, exp: NOW / 1000 + 10 });
  await ask("tok");
  clock.now += 10_000;
  for (const calls of [2, 3]) {
    await ask("tok");
    t.equal(server.calls.length, calls);
  }
  clock.now += 20_000;
  t.equal((await refusalOf(ask("tok"))).detail, "expired");
});

t.test("the time of an answer counts from the question", async (t) => {
  const { server, ask, clock } = await setUp(t);
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  const slow = ask("tok");
  clock.now += 20_000;
  gate.resolve();
  await slow;
  clock.now += 9_999;
  await ask("tok");
  t.equal(server.calls.length, 1);
  clock.now += 1;
  await ask("tok");
  t.equal(server.calls.length, 2);
});

t.test("cache: 0s asks each time", async (t) => {
  const { server, ask } = await setUp(t, { cache: 0 });
  await ask("tok");
  await ask("tok");
  await refusalOf(ask("bad"));
  await refusalOf(ask("bad"));
  t.equal(server.calls.length, 4);
});

t.test("requests that bring one token at once share one call; others do not", async (t) => {
  const { server, ask } = await setUp(t);
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  server.tokens.set("tok2", { sub: "u-2", aud: AUDIENCE });
  const many = [...Array.from({ length: 20 }, () => ask("tok")), ask("tok2")];
  gate.resolve();
  const subjects = (await Promise.all(many)).map(({ principal }) => principal.subject);
  t.same(new Set(subjects.slice(0, 20)), new Set(["u-1"]));
  t.equal(subjects[20], "u-2");
  t.equal(server.calls.length, 2);
});

t.test("a token that is not active is asked for again soon, and pushes out none that is", async (t) => {
  const { server, ask, clock } = await setUp(t, { cache: 60_000 });
  await ask("tok");
  await refusalOf(ask("later"));
  await refusalOf(ask("later"));
  t.equal(server.calls.length, 2);
  for (let n = 0; n < 2_100; n++) await refusalOf(ask(`made-up-${n}`));
  server.tokens.set("later", { sub: "u-3", aud: AUDIENCE });
  clock.now += 10_000;
  t.equal((await ask("later")).principal.subject, "u-3");
  const before = server.calls.length;
  await ask("tok");
  t.equal(server.calls.length, before);
});

t.test("each bad answer is an outage, and none is a bad token or a good one", async (t) => {
  const broken: IntrospectionBehaviour[] = [
    ...(["hang", "drip", "huge", "redirect", "gzip", "html", "jwt", "broken", "twins", "array"] as const),
    ...(["text-active", "no-active", "status-400", "status-401", "status-429", "status-500"] as const),
  ];
  for (const behaviour of broken) {
    const { server, ask, counted, log } = await setUp(t);
    server.behaviour = behaviour;
    const refusal = await refusalOf(ask("tok"));
    t.same([refusal.code, refusal.entry.status], ["issuer_unavailable", 503], behaviour);
    t.match(refusal.detail, /^introspection_(timeout|broken|status)$/, behaviour);
    t.equal(refusal.headers["www-authenticate"], undefined);
    t.equal(counted.length, 1);
    t.equal(log.lines.filter(({ level }) => level === "warn").length, 1);
    server.behaviour = "ok";
    t.equal((await ask("tok")).principal.subject, "u-1", `${behaviour}: nothing is remembered of it`);
  }
});

t.test("an endpoint that is down is left alone, and asked again by one", async (t) => {
  const { server, ask, clock, authenticator, counted } = await setUp(t);
  await ask("tok");
  server.behaviour = "status-500";
  for (const token of ["x1", "x2", "x3"]) t.equal((await refusalOf(ask(token))).code, "issuer_unavailable");
  const asked = server.calls.length;
  t.equal(authenticator.ready(), true, "of who was good before it can still be asked");
  t.equal((await refusalOf(ask("x4"))).detail, "introspection_resting");
  t.equal((await ask("tok")).principal.subject, "u-1", "what is remembered still counts");
  t.equal(server.calls.length, asked);
  clock.now += 1_000;
  t.equal(authenticator.ready(), true);
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  server.behaviour = "ok";
  const probe = refusalOf(ask("x5"));
  t.equal((await refusalOf(ask("x6"))).detail, "introspection_resting", "one is enough");
  gate.resolve();
  t.equal((await probe).detail, "inactive");
  t.equal((await refusalOf(ask("x6"))).detail, "inactive");
  t.equal(counted.filter((outcome) => outcome === "resting").length, 2);
});

t.test("calls that fail together begin one rest, and rests grow one after the other", async (t) => {
  const { server, ask, clock, authenticator } = await setUp(t);
  server.behaviour = "status-500";
  await Promise.all(Array.from({ length: 40 }, (_, n) => refusalOf(ask(`t-${n}`))));
  for (const rest of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    clock.now += rest - 1;
    t.equal(authenticator.ready(), false, `${rest}`);
    clock.now += 1;
    t.equal(authenticator.ready(), true, `${rest}`);
    t.equal((await refusalOf(ask("probe"))).detail, "introspection_status");
  }
  clock.now += 30_000;
  server.behaviour = "ok";
  await ask("tok");
  server.behaviour = "status-500";
  for (const token of ["x1", "x2", "x3"]) await refusalOf(ask(token));
  clock.now += 1_000;
  t.equal(authenticator.ready(), true, "it begins anew");
});

t.test("a token that the server finds odd keeps nobody else out", async (t) => {
  const { server, ask } = await setUp(t);
  server.behaviour = "status-400";
  for (let n = 0; n < 10; n++) await refusalOf(ask(`odd-${n}`));
  server.behaviour = "ok";
  t.equal((await ask("tok")).principal.subject, "u-1");
});

t.test("too many questions at once are refused, and not queued without end", async (t) => {
  const { server, ask } = await setUp(t);
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  const all = Array.from({ length: 70 }, (_, n) => refusalOf(ask(`flood-${n}`)));
  const joined = refusalOf(ask("flood-0"));
  gate.resolve();
  const details = (await Promise.all(all)).map(({ detail }) => detail);
  t.equal(details.filter((detail) => detail === "introspection_busy").length, 6);
  t.equal((await joined).detail, "inactive");
  t.equal(server.calls.length, 64);
});

t.test("what an active token must say", async (t) => {
  const { server, ask } = await setUp(t, { senderConstrained: "optional" });
  const table: [claims: Record<string, unknown>, detail: string][] = [
    [{ iss: "https://evil.example" }, "unknown_issuer"],
    [{ aud: "https://gateway.example/other" }, "audience"],
    [{ aud: undefined }, "audience"],
    [{ exp: NOW / 1000 }, "expired"],
    [{ nbf: NOW / 1000 + 1 }, "not_yet"],
    [{ token_type: "refresh_token" }, "token_type"],
    [{ sub: undefined }, "missing_subject"],
    [{ sub: "" }, "subject_claim"],
    [{ client_id: 7 }, "client_claim"],
    [{ scope: {} }, "scope_claim"],
    [{ cnf: { kid: "k" } }, "confirmation_claim"],
    [{ cnf: null }, "confirmation_claim"],
    [{ token_type: "DPoP" }, "confirmation_claim"],
    [{ cnf: { jkt: "A".repeat(43) } }, "proof_not_checked"],
    [{ cnf: { "x5t#S256": "A".repeat(43) } }, "certificate_missing"],
  ];
  const challenges = new Set<string | undefined>();
  for (const [index, [claims, detail]] of table.entries()) {
    const token = `t-${index}`;
    server.tokens.set(token, { sub: "u-1", aud: AUDIENCE, client_id: "app", ...claims });
    const refusal = await refusalOf(ask(token));
    t.same([refusal.code, refusal.detail], ["unauthorized", detail], JSON.stringify(claims));
    challenges.add(refusal.headers["www-authenticate"]);
  }
  t.equal((await refusalOf(ask("unknown"))).detail, "inactive");
  t.equal(challenges.size, 1, "no oracle");
});

t.test("audiences: the route's, else the issuer's, else the resource; one call for all", async (t) => {
  const { server, ask } = await setUp(t, { audiences: ["api://a"] });
  server.tokens.set("tok", { sub: "u-1", aud: "api://a" });
  server.tokens.set("routed", { sub: "u-1", aud: "api://route" });
  const route = { ...RESOURCE, audiences: ["api://route"] };
  t.ok(await ask("tok"));
  t.equal((await refusalOf(ask("tok", route))).detail, "audience");
  t.ok(await ask("routed", route));
  t.equal((await refusalOf(ask("routed"))).detail, "audience");
  t.equal(server.calls.length, 2);
});

t.test("who is asked about a token is known before it is sent", async (t) => {
  const second = await startIntrospection();
  t.teardown(() => second.close());
  const other = settings(second, { issuer: "https://other.example", tokenPrefixes: ["oth_", "ot2_"] });
  const { server, ask } = await setUp(t, {}, [other]);
  const all = { sub: "u-9", aud: AUDIENCE };
  for (const token of ["oth_1", "ot2_1", "othe"]) second.tokens.set(token, all);
  t.equal((await ask("oth_1")).principal.issuer, "https://other.example");
  t.equal((await ask("ot2_1")).principal.issuer, "https://other.example");
  t.equal(server.calls.length, 0);
  await refusalOf(ask("othe"));
  t.equal(server.calls.length, 1);
  await refusalOf(ask("oth_bad"));
  t.equal(server.calls.length, 1, "an answer of no sends it to nobody else");
  const named = { ...RESOURCE, introspection: "https://other.example" };
  t.equal((await refusalOf(ask("tok", named))).detail, "unknown_issuer", "the route takes others");
  t.ok(await ask("oth_1", named));
  t.equal((await refusalOf(ask("oth_1", { ...RESOURCE, introspection: ISSUER }))).detail, "inactive");
  const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const before = server.calls.length + second.calls.length;
  for (const iss of ["https://evil.example", undefined, "constructor"]) {
    const token = `${segment({ alg: "ES256" })}.${segment({ iss })}.AAAA`;
    t.equal((await refusalOf(ask(token))).detail, "unknown_issuer");
  }
  t.equal(server.calls.length + second.calls.length, before, "a stranger's JWT is shown to nobody");
});

t.test("a JWT of an issuer that is introspected goes there, and to nobody else", async (t) => {
  const signer = await startIssuer();
  t.teardown(() => signer.close());
  const server = await startIntrospection();
  t.teardown(() => server.close());
  const now = Date.now;
  const hidden = "https://hidden.example";
  const introspection = [settings(server, { issuer: hidden })];
  const authenticator = createAuthenticator(
    {
      mode: "required",
      issuers: [issuerSettings(signer.issuer, { jwks: { url: signer.jwksUrl } })],
      introspection,
    },
    {
      ...{ log: recordingLog(), now, jwksFiles: new Map() },
      clients: new Map([[hidden, openClient(client, Buffer.from("s"), server.url, now)]]),
    },
  );
  t.teardown(() => authenticator.close?.());
  const ask = (token: string) => authenticator.authenticate(authorized(`Bearer ${token}`), RESOURCE);
  t.equal((await ask(await signer.token())).kind, "jwt");
  t.equal(server.calls.length, 0);
  const token = await signer.token({ iss: hidden, sub: "u-5" });
  t.equal((await refusalOf(ask(token))).detail, "inactive", "however it is signed");
  server.tokens.set(token, { sub: "u-5", aud: AUDIENCE });
  const other = await signer.token({ iss: hidden, sub: "u-6" });
  server.tokens.set(other, { sub: "u-5", aud: AUDIENCE });
  t.equal((await refusalOf(ask(other))).detail, "another_token");
  server.tokens.set("opaque", { sub: "u-7", aud: AUDIENCE });
  t.equal((await ask("opaque")).principal.subject, "u-7");
  t.equal(
    (await refusalOf(ask(await signer.token({ iss: "https://evil.example" })))).detail,
    "unknown_issuer",
  );
});

t.test("a token without subject is refused, or its client's where the issuer is configured so", async (t) => {
  const mapping = { subject: "sub", client: ["client_id"], scope: ["scope"] };
  const strict = await setUp(t);
  strict.server.tokens.set("cc", { aud: AUDIENCE, client_id: "app" });
  t.equal((await refusalOf(strict.ask("cc"))).detail, "missing_subject");
  const open = await setUp(t, { claims: { ...mapping, absentSubject: "client" } });
  open.server.tokens.set("cc", { aud: AUDIENCE, client_id: "app" });
  open.server.tokens.set("nobody", { aud: AUDIENCE });
  t.match((await open.ask("cc")).principal, { subject: "app", client: "app" });
  t.equal((await refusalOf(open.ask("nobody"))).detail, "missing_subject");
  t.match((await open.ask("tok")).principal, { subject: "u-1", client: "app" });
});

t.test("required scopes", async (t) => {
  const { ask, server } = await setUp(t, { requiredScopes: ["a", "c"] });
  const refusal = await refusalOf(ask("tok"));
  t.same([refusal.code, refusal.context.principal?.subject], ["insufficient_scope", "u-1"]);
  t.match(refusal.headers["www-authenticate"], /scope="a c"/);
  server.tokens.set("both", { sub: "u-1", aud: AUDIENCE, scope: "c a" });
  t.ok(await ask("both"));
});

t.test("neither a token nor the gateway's secret is in logs, refusals or what is kept", async (t) => {
  const { server, ask, log, authenticator } = await setUp(t);
  server.tokens.set("canary-token", { sub: "canary-subject", aud: AUDIENCE });
  await ask("canary-token");
  server.behaviour = "status-500";
  const refusal = await refusalOf(ask("canary-other"));
  const shown = inspect([log.lines, refusal, { ...refusal, stack: refusal.stack, cause: refusal.cause }], {
    depth: 9,
    showHidden: true,
  });
  t.notMatch(shown, /canary|cret/);
  t.notMatch(inspect(authenticator, { depth: 20, showHidden: true }), /canary-token/);
});
