import t, { type Test } from "tap";
import { createAuthenticator } from "../../src/principal/authenticators.ts";
import { KEY_TIMES } from "../../src/principal/jwks.ts";
import {
  type IssuerSettings,
  issuerSettings,
  RESOURCE,
  recordingLog,
  refusalOf,
} from "../support/authentication.ts";
import { type Behaviour, signingKey, startIssuer, type TestIssuer } from "../support/issuer.ts";
import { authorized } from "../support/presented.ts";

interface SetUp {
  readonly path?: string;
  /** Use discovery and not the operator's URL. */
  readonly discovery?: boolean;
  readonly settings?: Partial<IssuerSettings>;
}

async function setUp(t: Test, { path = "", discovery = false, settings = {} }: SetUp = {}) {
  const clock = { ms: 1_800_000_000_000 };
  const now = () => clock.ms;
  const issuer = await startIssuer({ path, now });
  const log = recordingLog();
  const jwks = discovery ? {} : { jwks: { url: issuer.jwksUrl } };
  const authenticator = createAuthenticator(
    { mode: "required", issuers: [issuerSettings(issuer.issuer, { ...jwks, ...settings })] },
    { log, jwksFiles: new Map(), now, fetchTimeout: 250 },
  );
  t.teardown(async () => {
    authenticator.close?.();
    await issuer.close();
  });
  const ask = async (token: string) =>
    (await authenticator.authenticate(authorized(`Bearer ${token}`), RESOURCE)).principal;
  const wait = (ms: number) => {
    clock.ms += ms;
  };
  return { issuer, log, authenticator, ask, wait };
}

const MINUTE = 60_000;

t.test("keys are fetched with the first token and then kept", async (t) => {
  const { issuer, ask } = await setUp(t);
  t.equal(issuer.jwksFetches, 0);
  await Promise.all(["a", "b", "c"].map(async (sub) => ask(await issuer.token({ sub }))));
  t.equal((await ask(await issuer.token({ sub: "d" }))).subject, "d");
  t.equal(issuer.jwksFetches, 1);
});

t.test("a hopeless token makes nobody fetch", async (t) => {
  const { issuer, ask } = await setUp(t, { discovery: true });
  await refusalOf(ask(await issuer.token({ iss: "https://evil.example" })));
  await refusalOf(ask(await issuer.token({}, { header: { typ: "dpop+jwt" } })));
  await refusalOf(ask("a.b.c"));
  t.same([issuer.jwksFetches, issuer.discoveryFetches], [0, 0]);
});

t.test("rotation: the new key works at once, the old one while it is published", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  const old = issuer.key;
  await ask(await issuer.token());
  await issuer.rotate();
  t.ok(await ask(await issuer.token({ sub: "new" })));
  t.ok(await ask(await issuer.token({ sub: "old" }, { key: old })));
  await issuer.rotate({ drop: true });
  wait(KEY_TIMES.coolDownMax);
  t.ok(await ask(await issuer.token({ sub: "newer" })));
  t.equal((await refusalOf(ask(await issuer.token({ sub: "x" }, { key: old })))).detail, "unknown_key");
});

t.test("a key that is withdrawn takes its verified tokens along", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  const long = await issuer.token({ exp: 1_800_000_000 + 3600 });
  await ask(long);
  await issuer.rotate({ drop: true });
  t.ok(await ask(long), "nobody can know yet");
  wait(KEY_TIMES.fresh);
  t.equal((await refusalOf(ask(long))).detail, "unknown_key");
});

t.test("keys are renewed behind the callers' backs before they are old", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  const token = await issuer.token({ exp: 1_800_000_000 + 3600 });
  await ask(token);
  await ask(token);
  for (const waits of [token, await issuer.token({ sub: "b", exp: 1_800_000_000 + 3600 })]) {
    const before = issuer.jwksFetches;
    issuer.behaviour.jwks = "hang";
    wait(KEY_TIMES.refresh);
    t.ok(await ask(waits), "nobody waits for it");
    while (issuer.jwksFetches === before) await new Promise(setImmediate);
    issuer.behaviour.jwks = "ok";
    wait(KEY_TIMES.fresh);
    t.ok(await ask(token), "who comes when they are old waits for the load under way, and kept keys serve");
    wait(KEY_TIMES.coolDownMax);
    t.ok(await ask(token));
  }
});

t.test("a storm of unknown key ids is not passed on", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  await ask(await issuer.token());
  const stranger = await signingKey();
  const storm = async (size: number) => {
    const tokens = Array.from({ length: size }, (_, n) =>
      issuer.token({}, { key: stranger, header: { kid: `k-${n}` } }),
    );
    return await Promise.all(tokens.map(async (token) => (await refusalOf(ask(await token))).detail));
  };
  t.same(new Set(await storm(100)), new Set(["unknown_key"]));
  t.equal(issuer.jwksFetches, 2, "one look for all of them");
  await storm(20);
  t.equal(issuer.jwksFetches, 2, "none while it cools down");
  for (let second = 0; second < 300; second += 1) {
    wait(1_000);
    await storm(1);
  }
  t.ok(issuer.jwksFetches <= 2 + 5 + 10, `${issuer.jwksFetches} in five minutes`);
  t.ok(await ask(await issuer.token({ sub: "u-2002" })), "honest callers do not notice");
  await issuer.rotate();
  wait(KEY_TIMES.coolDownMax);
  t.ok(await ask(await issuer.token({ sub: "u-3003" })), "and a rotation is seen after the cool-down");
});

t.test("a key server that misbehaves is an outage and not a bad token", async (t) => {
  const faults: [Behaviour, string][] = [
    ["error", "status"],
    ["missing", "status"],
    ["broken", "json"],
    ["huge", "too_large"],
    ["redirect", "status"],
    ["gzip", "coding"],
    ["hang", "timeout"],
    ["drip", "timeout"],
  ];
  for (const [behaviour, fault] of faults) {
    const { issuer, ask, wait, log, authenticator } = await setUp(t);
    issuer.behaviour.jwks = behaviour;
    const refusal = await refusalOf(ask(await issuer.token()));
    t.same([refusal.code, refusal.entry.status], ["issuer_unavailable", 503], behaviour);
    t.same(refusal.headers, {}, "no challenge: another token would not help");
    t.match(log.lines, [{ level: "warn", fields: { issuer: issuer.issuer, fault } }]);
    t.equal(authenticator.ready(), false);
    await refusalOf(ask(await issuer.token({ sub: "again" })));
    t.equal(issuer.jwksFetches, 1, "and is left in peace for a while");
    issuer.behaviour.jwks = "ok";
    wait(KEY_TIMES.coolDownMin);
    t.ok(await ask(await issuer.token()), "then all is well again");
    t.equal(authenticator.ready(), true);
  }
});

t.test("something else than a key set is an outage", async (t) => {
  const { issuer, ask, log } = await setUp(t);
  issuer.published = "keys" as never;
  t.equal((await refusalOf(ask(await issuer.token()))).detail, "issuer_unavailable");
  t.match(log.lines, [{ fields: { fault: "jwks" } }]);
});

t.test("secrets and private keys in a key set verify nothing", async (t) => {
  const { issuer, ask } = await setUp(t);
  const { key } = issuer;
  issuer.published = [
    { kty: "oct", k: "c2VjcmV0", kid: key.kid ?? "", alg: "HS256" },
    { ...key.publicJwk, use: "enc" },
  ];
  t.equal((await refusalOf(ask(await issuer.token()))).code, "unauthorized");
});

t.test("issuer down later: kept keys serve within their limit", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  await ask(await issuer.token());
  issuer.behaviour.jwks = "error";
  wait(30 * MINUTE);
  t.ok(await ask(await issuer.token({ sub: "b" })));
  const unknown = await refusalOf(ask(await issuer.token({}, { key: await signingKey() })));
  t.equal(unknown.detail, "issuer_unavailable", "whether this key is good cannot be known");
  wait(30 * MINUTE);
  t.equal((await refusalOf(ask(await issuer.token({ sub: "c" })))).detail, "issuer_unavailable");
});

t.test("readiness asks again by itself", async (t) => {
  const { issuer, ask, wait, authenticator, log } = await setUp(t);
  t.equal(authenticator.ready(), true, "an issuer that was never asked is no trouble");
  issuer.behaviour.jwks = "error";
  await refusalOf(ask(await issuer.token()));
  issuer.behaviour.jwks = "ok";
  wait(KEY_TIMES.coolDownMin);
  t.equal(authenticator.ready(), false);
  while (!log.lines.some(({ level }) => level === "info")) await new Promise(setImmediate);
  t.equal(authenticator.ready(), true);
});

t.test("keys by discovery", async (t) => {
  for (const path of ["", "/tenant"]) {
    const { issuer, ask, wait } = await setUp(t, { path, discovery: true });
    t.ok(await ask(await issuer.token()));
    t.same([issuer.discoveryFetches, issuer.jwksFetches], [1, 1]);
    wait(KEY_TIMES.fresh);
    t.ok(await ask(await issuer.token()));
    t.same([issuer.discoveryFetches, issuer.jwksFetches], [1, 2], "the place is remembered");
  }
});

t.test("discovery falls back from OAuth to OpenID Connect", async (t) => {
  for (const oauth of ["missing", "error", "broken", "redirect", "huge"] as const) {
    const { issuer, ask } = await setUp(t, { path: "/tenant", discovery: true });
    issuer.behaviour.oauth = oauth;
    t.ok(await ask(await issuer.token()), oauth);
  }
});

t.test("discovery that leads astray is an outage, and no key is fetched", async (t) => {
  const astray: [name: string, apply: (issuer: TestIssuer) => void, fault: string][] = [
    ["other issuer", (it) => Object.assign(it.document, { issuer: `${it.issuer}/` }), "issuer_mismatch"],
    [
      "http elsewhere",
      (it) => Object.assign(it.document, { jwks_uri: "http://idp.example/keys" }),
      "jwks_uri",
    ],
    ["inside", (it) => Object.assign(it.document, { jwks_uri: "https://169.254.169.254/keys" }), "address"],
    ["a file", (it) => Object.assign(it.document, { jwks_uri: "file:///etc/passwd" }), "jwks_uri"],
    [
      "no documents",
      (it) => Object.assign(it.behaviour, { oauth: "missing", oidc: "missing" }),
      "no_document",
    ],
    ["silence", (it) => Object.assign(it.behaviour, { oauth: "hang" }), "timeout"],
  ];
  for (const [name, apply, fault] of astray) {
    const { issuer, ask, log, wait } = await setUp(t, { discovery: true });
    apply(issuer);
    t.equal((await refusalOf(ask(await issuer.token()))).detail, "issuer_unavailable", name);
    t.match(log.lines, [{ fields: { fault } }], name);
    t.equal(issuer.jwksFetches, 0);
    Object.assign(issuer, { document: {}, behaviour: { jwks: "ok", oauth: "ok", oidc: "ok" } });
    wait(KEY_TIMES.coolDownMin);
    t.ok(await ask(await issuer.token()), `${name}: looked for anew`);
  }
});

t.test("the log says what could not be had, from where, and why", async (t) => {
  const lines = async (
    options: SetUp,
    apply: (issuer: TestIssuer) => unknown,
  ): Promise<{ at: string; line: object }> => {
    const { issuer, ask, log } = await setUp(t, options);
    const token = await issuer.token();
    await apply(issuer);
    await refusalOf(ask(token));
    const [line] = log.lines;
    t.equal(log.lines.length, 1);
    t.match(line, { level: "warn", message: "issuer keys cannot be loaded" });
    t.match(line?.fields, { issuer: issuer.issuer, retryInMs: 1_000 });
    t.notMatch(JSON.stringify(line), /hunter2/);
    return { at: issuer.issuer, line: line?.fields ?? {} };
  };
  const status = await lines({}, (it) => Object.assign(it.behaviour, { jwks: "missing" }));
  t.match(status.line, { fault: "status", status: 404, url: `${status.at}/jwks` });
  const gone = await lines({}, (it) => it.close());
  t.match(gone.line, { fault: "unreachable", code: "ECONNREFUSED", url: `${gone.at}/jwks` });
  const dns = await lines(
    { settings: { jwks: { url: "https://keys.invalid/set?key=hunter2" } } },
    () => undefined,
  );
  t.match(dns.line, {
    fault: "unreachable",
    code: /^(ENOTFOUND|EAI_AGAIN)$/,
    url: "https://keys.invalid/set",
  });
  const set = await lines({}, (it) => Object.assign(it, { published: "keys" }));
  t.match(set.line, { fault: "jwks", url: `${set.at}/jwks` });

  const discovery = { discovery: true, path: "/t" };
  const wellKnown = "/.well-known/oauth-authorization-server/t";
  const down = await lines(discovery, (it) => it.close());
  t.match(down.line, {
    fault: "unreachable",
    code: "ECONNREFUSED",
    url: down.at.replace(/\/t$/, wellKnown),
  });
  const none = await lines(discovery, (it) =>
    Object.assign(it.behaviour, { oauth: "missing", oidc: "broken" }),
  );
  t.match(none.line, {
    fault: "no_document",
    tried: [
      { fault: "status", status: 404, url: none.at.replace(/\/t$/, wellKnown) },
      { url: /openid-configuration/ },
      { fault: "json", url: `${none.at}/.well-known/openid-configuration` },
    ],
  });
  const other = await lines(discovery, (it) => Object.assign(it.document, { issuer: `${it.issuer}/` }));
  t.match(other.line, {
    fault: "issuer_mismatch",
    names: `${other.at}/`,
    url: /oauth-authorization-server|openid/,
  });
  const astray = await lines(discovery, (it) =>
    Object.assign(it.document, { jwks_uri: "http://u:hunter2@idp.example/keys?x=hunter2" }),
  );
  t.match(astray.line, { fault: "jwks_uri", jwksUri: "http://idp.example/keys" });
  const file = await lines(discovery, (it) => Object.assign(it.document, { jwks_uri: "file:///hunter2" }));
  t.match(file.line, { fault: "jwks_uri", jwksUri: "file:" });
});

t.test("closing ends what is under way", async (t) => {
  const { issuer, ask, authenticator } = await setUp(t);
  issuer.behaviour.jwks = "hang";
  const pending = refusalOf(ask(await issuer.token()));
  while (issuer.jwksFetches === 0) await new Promise(setImmediate);
  authenticator.close?.();
  t.equal((await pending).detail, "issuer_unavailable");
});
