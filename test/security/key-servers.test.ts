/**
 * Key servers under stress: storms of made-up key ids, servers that fail in every way, key sets with keys that must not count, and
 * addresses that a token or a document names. What arrives at the key server is counted; the clock is injected.
 */

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type JWK } from "jose";
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
import { AUDIENCE, type Behaviour, signingKey, startIssuer, type TestIssuer } from "../support/issuer.ts";
import { authorized } from "../support/presented.ts";

const NOW = 1_800_000_000_000;

async function setUp(
  t: Test,
  given: {
    issuers?: number;
    discovery?: boolean;
    settings?: Partial<IssuerSettings>;
    /** Milliseconds; short where a server is to be waited for in vain. */
    timeout?: number;
  } = {},
) {
  const clock = { ms: NOW };
  const now = () => clock.ms;
  const issuers: TestIssuer[] = [];
  for (let n = 0; n < (given.issuers ?? 1); n++) issuers.push(await startIssuer({ now }));
  const log = recordingLog();
  const settings = issuers.map(({ issuer, jwksUrl }) =>
    issuerSettings(issuer, {
      ...(given.discovery === true ? {} : { jwks: { url: jwksUrl } }),
      ...given.settings,
    }),
  );
  const authenticator = createAuthenticator(
    { mode: "required", issuers: settings },
    { log, jwksFiles: new Map(), now, fetchTimeout: given.timeout ?? 10_000 },
  );
  t.teardown(async () => {
    authenticator.close?.();
    for (const issuer of issuers) await issuer.close();
  });
  const ask = async (token: string) =>
    (await authenticator.authenticate(authorized(`Bearer ${token}`), RESOURCE)).principal;
  const wait = (ms: number) => {
    clock.ms += ms;
  };
  const fetches = () => issuers.reduce((sum, it) => sum + it.jwksFetches + it.discoveryFetches, 0);
  return { issuer: issuers[0] as TestIssuer, issuers, log, ask, wait, fetches, authenticator };
}
const detail = async (promise: Promise<unknown>) => (await refusalOf(promise)).detail;

t.test("a storm over many issuers: each key server is asked as often as if it were alone", async (t) => {
  const { issuers, ask, wait, fetches } = await setUp(t, { issuers: 12 });
  for (const issuer of issuers) t.ok(await ask(await issuer.token()));
  t.equal(fetches(), 12);
  const stranger = await signingKey();
  const storm = async (size: number) => {
    const asked: Promise<string>[] = [];
    for (const issuer of issuers) {
      for (let n = 0; n < size; n++) {
        const header = { kid: `k-${Math.random()}` };
        asked.push(detail(issuer.token({}, { key: stranger, header }).then(ask)));
      }
    }
    return new Set(await Promise.all(asked));
  };
  t.same(await storm(60), new Set(["unknown_key"]));
  t.equal(fetches(), 24, "one look for each");
  for (let minute = 0; minute < 10; minute++) {
    for (let half = 0; half < 2; half++) {
      wait(30_000);
      await storm(8);
    }
  }
  t.ok(fetches() <= 12 * (2 + 20 + 10), `${fetches()} in ten minutes`);
  for (const issuer of issuers) t.ok(await ask(await issuer.token({ sub: "honest" })));
});

t.test("a client with a wrong key id does not keep a new key from being found", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  await ask(await issuer.token());
  const wrong = await signingKey();
  for (let minute = 0; minute < 10; minute++) {
    for (let n = 0; n < 6; n++) {
      wait(10_000);
      t.equal(await detail(ask(await issuer.token({}, { key: wrong }))), "unknown_key");
      if (n === minute % 6) {
        wait(KEY_TIMES.coolDownMin);
        await issuer.rotate();
        t.ok(await ask(await issuer.token({ sub: `m-${minute}` })), "at once, but for the shortest pause");
      }
    }
  }
  // Two looks a minute for the one, one for each new key, and the renewals.
  t.ok(issuer.jwksFetches <= 1 + 20 + 10 + 3, `${issuer.jwksFetches} in ten minutes`);
});

t.test("a key that is published after its first token is found within the longest pause", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  await ask(await issuer.token());
  const early = await signingKey();
  const token = await issuer.token({ exp: NOW / 1000 + 600 }, { key: early });
  for (const _ of [1, 2, 3]) {
    t.equal(await detail(ask(token)), "unknown_key");
    wait(KEY_TIMES.coolDownMin);
  }
  issuer.published.push(early.publicJwk);
  wait(KEY_TIMES.coolDownMax);
  t.ok(await ask(token));
});

t.test("a clock that goes back makes no pause long", async (t) => {
  const { issuer, ask, wait } = await setUp(t);
  issuer.behaviour.jwks = "error";
  t.equal(await detail(ask(await issuer.token())), "issuer_unavailable");
  issuer.behaviour.jwks = "ok";
  wait(-86_400_000);
  t.ok(await ask(await issuer.token()));
  t.equal(await detail(ask(await issuer.token({}, { key: await signingKey() }))), "unknown_key");
  wait(-86_400_000);
  await issuer.rotate();
  t.ok(await ask(await issuer.token()));
});

t.test(
  "a storm on a server that does not answer: one request at a time, and long pauses between",
  async (t) => {
    for (const behaviour of ["hang", "drip", "error"] as const) {
      const { issuer, ask, wait } = await setUp(t, { timeout: 250 });
      issuer.behaviour.jwks = behaviour;
      const burst = async () =>
        new Set(
          await Promise.all(
            Array.from({ length: 40 }, async (_, n) => detail(ask(await issuer.token({ sub: `u-${n}` })))),
          ),
        );
      t.same(await burst(), new Set(["issuer_unavailable"]));
      t.equal(issuer.jwksFetches, 1, behaviour);
      for (let second = 0; second < 60; second++) {
        wait(1_000);
        if (second % 10 === 0) await burst();
      }
      t.ok(issuer.jwksFetches <= 1 + 6, `${behaviour}: ${issuer.jwksFetches} in a minute`);
    }
  },
);

t.test("whoever has a known key waits for no server that fails", async (t) => {
  const { issuer, ask, wait, log } = await setUp(t);
  await ask(await issuer.token());
  issuer.behaviour.jwks = "error";
  wait(KEY_TIMES.fresh);
  t.ok(await ask(await issuer.token({ sub: "a" })));
  t.equal(log.lines.filter(({ level }) => level === "warn").length, 1);
  issuer.behaviour.jwks = "hang";
  wait(KEY_TIMES.coolDownMax);
  const before = issuer.jwksFetches;
  t.ok(await ask(await issuer.token({ sub: "b" })));
  t.equal(log.lines.filter(({ level }) => level === "warn").length, 1, "the load is still under way");
  while (issuer.jwksFetches === before) await new Promise(setImmediate);
  wait(KEY_TIMES.stale);
  t.equal(await detail(ask(await issuer.token({ sub: "c" }))), "issuer_unavailable", "but not for ever");
});

t.test("servers that answer anything else than keys", async (t) => {
  const faults: [Behaviour, string][] = [
    ["bomb", "coding"],
    ["hidden-bomb", "json"],
    ["html", "json"],
    ["too-many", "status"],
    ["redirect", "status"],
  ];
  for (const [behaviour, fault] of faults) {
    const { issuer, ask, log, wait } = await setUp(t);
    issuer.behaviour.jwks = behaviour;
    t.equal(await detail(ask(await issuer.token())), "issuer_unavailable", behaviour);
    const [line] = log.lines;
    t.match(line?.fields, { fault }, behaviour);
    t.equal(issuer.followed, 0, "no redirect is followed");
    issuer.behaviour.jwks = "ok";
    wait(KEY_TIMES.coolDownMin);
    t.ok(await ask(await issuer.token()), behaviour);
  }
});

t.test("a key set without end in depth holds no key", async (t) => {
  const { issuer, ask } = await setUp(t);
  issuer.behaviour.jwks = "deep";
  t.equal(await detail(ask(await issuer.token())), "unknown_key");
});

t.test("the media type decides nothing, the content does", async (t) => {
  for (const mediaType of [
    "application/jwk-set+json",
    "text/plain",
    "text/html; charset=utf-8",
    "image/png",
  ]) {
    const { issuer, ask } = await setUp(t, { discovery: true });
    issuer.mediaType = mediaType;
    t.ok(await ask(await issuer.token()), mediaType);
  }
});

t.test("keys that must not count: private, symmetric, weak, for encryption, or none at all", async (t) => {
  const rsa = await signingKey("RS256");
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const weak: JWK = { ...(await exportJWK(small.publicKey)), kid: "weak", alg: "RS256", use: "sig" };
  const cases: [name: string, key: unknown, flaw: object | undefined][] = [
    ["private", { ...rsa.publicJwk, d: "AQAB" }, { private: 1 }],
    ["a prime of it", { ...rsa.publicJwk, p: "AQAB" }, { private: 1 }],
    ["symmetric", { kty: "oct", k: "c2VjcmV0", kid: rsa.kid, alg: "RS256" }, { symmetric: 1 }],
    ["weak", { ...weak, kid: rsa.kid }, { weak: 1 }],
    ["everybody's", { ...rsa.publicJwk, e: "AQ" }, { weak: 1 }],
    ["zeros before a short one", { ...weak, kid: rsa.kid, n: pad(weak.n) }, { weak: 1 }],
    ["no modulus", { ...rsa.publicJwk, n: undefined }, { malformed: 1 }],
    ["a number", 7, { malformed: 1 }],
    ["null", null, { malformed: 1 }],
    ["for encryption", { ...rsa.publicJwk, use: "enc" }, undefined],
    ["of a kind to come", { ...rsa.publicJwk, kty: "AKP" }, undefined],
    ["for another algorithm", { ...rsa.publicJwk, alg: "RSA-OAEP" }, undefined],
  ];
  for (const [name, key, flaw] of cases) {
    const { issuer, ask, log } = await setUp(t);
    issuer.published = [key as JWK, issuer.key.publicJwk];
    t.equal(await detail(ask(await issuer.token({}, { key: rsa }))), "unknown_key", name);
    t.ok(await ask(await issuer.token()), `${name}: the key beside it is good`);
    const told = log.lines.filter(({ message }) => message === "issuer publishes keys that are not used");
    t.equal(told.length, flaw === undefined ? 0 : 1, name);
    if (flaw !== undefined) t.same(Reflect.get(told[0]?.fields ?? {}, "keys"), flaw);
    t.notMatch(JSON.stringify(log.lines), /c2VjcmV0|AQAB/, "and no key is in the log");
  }
  const signed = { iss: "", sub: "u", aud: AUDIENCE, iat: NOW / 1000, exp: NOW / 1000 + 300 };
  const { issuer, ask } = await setUp(t);
  const small1024 = {
    kid: "weak",
    alg: "RS256",
    privateKey: await crypto.subtle.importKey(
      "pkcs8",
      small.privateKey.export({ type: "pkcs8", format: "der" }),
      { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
      false,
      ["sign"],
    ),
    publicJwk: weak,
  };
  issuer.published = [weak, issuer.key.publicJwk];
  const parts = [
    { alg: "RS256", typ: "at+jwt", kid: "weak" },
    { ...signed, iss: issuer.issuer },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const signature = await crypto.subtle.sign(
    "RSASSA-PKCS1-v1_5",
    small1024.privateKey,
    Buffer.from(parts.join(".")),
  );
  const token = [...parts, Buffer.from(signature).toString("base64url")].join(".");
  t.equal(await detail(ask(token)), "unknown_key", "a signature by 1024 bits");
});

const pad = (text = ""): string =>
  Buffer.concat([Buffer.alloc(160), Buffer.from(text, "base64url")]).toString("base64url");

t.test("hundreds of keys, and key ids that many have", async (t) => {
  const { issuer, ask } = await setUp(t);
  const many = await Promise.all(Array.from({ length: 300 }, () => signingKey()));
  issuer.published = many.map(({ publicJwk }) => publicJwk);
  for (const key of [many[0], many[150], many[299]]) {
    t.ok(await ask(await issuer.token({ sub: key?.kid }, key === undefined ? {} : { key })));
  }
  t.equal(issuer.jwksFetches, 1);
  const twins = await Promise.all(Array.from({ length: 3 }, () => signingKey("ES256", "twin")));
  issuer.published = [...many.slice(0, 2), ...twins].map(({ publicJwk }) => publicJwk);
  for (const key of twins) t.ok(await ask(await issuer.token({ sub: "t" }, { key })), "each is tried");
  const stranger = await signingKey("ES256", "twin");
  t.equal(await detail(ask(await issuer.token({}, { key: stranger }))), "signature");
});

t.test("no algorithm makes a public key a secret", async (t) => {
  const { issuer, ask, fetches } = await setUp(t, { settings: { algorithms: ["RS256", "ES256", "PS256"] } });
  const rsa = await signingKey("RS256");
  issuer.published = [rsa.publicJwk, issuer.key.publicJwk];
  t.ok(await ask(await issuer.token({}, { key: rsa })));
  const { createHmac } = await import("node:crypto");
  const claims = { iss: issuer.issuer, sub: "u", aud: AUDIENCE, exp: NOW / 1000 + 60 };
  const before = fetches();
  for (const [alg, hash] of [
    ["HS256", "sha256"],
    ["HS512", "sha512"],
    ["none", ""],
    ["RS256 ", "sha256"],
    ["hs256", "sha256"],
  ] as const) {
    const body = [{ alg, kid: rsa.kid }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    const secret = JSON.stringify(rsa.publicJwk);
    const mac = hash === "" ? "" : createHmac(hash, secret).update(body.join(".")).digest("base64url");
    t.equal(await detail(ask([...body, mac].join("."))), "algorithm", alg);
  }
  t.equal(await detail(ask(await issuer.token({}, { key: { ...issuer.key, kid: rsa.kid } }))), "unknown_key");
  t.equal(fetches() - before, 1, "an elliptic token that names the RSA key looks once");
});

t.test("addresses in a token are not looked at", async (t) => {
  let trapped = 0;
  const trap = createServer((_request, response) => {
    trapped += 1;
    response.end("{}");
  });
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  t.teardown(() => trap.close());
  const place = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const { issuer, ask, fetches } = await setUp(t, { discovery: true });
  const own = await signingKey();
  const header = { jku: `${place}/jwks`, x5u: `${place}/cert`, jwk: own.publicJwk, x5c: ["AAAA"] };
  t.equal(await detail(ask(await issuer.token({}, { key: own, header }))), "unknown_key");
  const before = fetches();
  for (const iss of [
    place,
    `${issuer.issuer}@127.0.0.1`,
    `${issuer.issuer}/../..`,
    "http://169.254.169.254/latest",
  ]) {
    t.equal(await detail(ask(await issuer.token({ iss }, { header }))), "unknown_issuer", iss);
  }
  t.equal(fetches(), before);
  t.ok(await ask(await issuer.token({}, { header })), "they do no harm beside a good signature");
  t.equal(trapped, 0);
});

t.test("addresses in a document: only the issuer's own, or public https", async (t) => {
  for (const jwksUri of [
    "https://169.254.169.254/latest/meta-data",
    "https://[::ffff:169.254.169.254]/keys",
    "https://[fd00:ec2::254]/keys",
    "https://10.0.0.1/keys",
    "https://user@idp.example/keys",
    "http://idp.example/keys",
    "//idp.example/keys",
    "gopher://127.0.0.1/keys",
    "data:application/json,{}",
    7,
    undefined,
  ]) {
    const { issuer, ask, log } = await setUp(t, { discovery: true });
    Object.assign(issuer.document, { jwks_uri: jwksUri });
    t.equal(await detail(ask(await issuer.token())), "issuer_unavailable", String(jwksUri));
    t.match(log.lines[0]?.fields, { fault: /^(address|jwks_uri)$/ }, String(jwksUri));
    t.equal(issuer.jwksFetches, 0);
  }
});

t.test("keys that move: a new key at a new place is found, though the old place still answers", async (t) => {
  const { issuer, ask, wait } = await setUp(t, { discovery: true });
  const { key } = issuer;
  await ask(await issuer.token());
  const next = await startIssuer({ now: () => NOW });
  t.teardown(() => next.close());
  issuer.document["jwks_uri"] = next.jwksUrl;
  next.published = [key.publicJwk, next.key.publicJwk];
  const moved = () => issuer.token({ sub: "moved" }, { key: next.key });
  wait(KEY_TIMES.refresh);
  t.ok(await ask(await moved()));
  t.equal(next.jwksFetches, 1);
  issuer.behaviour.oauth = "error";
  issuer.behaviour.oidc = "error";
  wait(KEY_TIMES.place);
  t.ok(await ask(await issuer.token({ iat: NOW / 1000, exp: NOW / 1000 + 9_000 }, { key: next.key })));
  t.equal(next.jwksFetches, 2, "the known place serves while no document says otherwise");
  Object.assign(issuer, { behaviour: { jwks: "ok", oauth: "ok", oidc: "ok" } });
  issuer.document["issuer"] = "https://somebody.example";
  wait(KEY_TIMES.place);
  t.equal(
    await detail(ask(await issuer.token({ exp: NOW / 1000 + 90_000 }, { key: next.key }))),
    "issuer_unavailable",
  );
  t.equal(next.jwksFetches, 2, "but not against the issuer's word");
});

t.test("a key that was withdrawn dies within its time, whatever its server does", async (t) => {
  for (const later of ["ok", "error"] as const) {
    const { issuer, ask, wait } = await setUp(t);
    const old = issuer.key;
    const token = await issuer.token({ exp: NOW / 1000 + 9_000 });
    await ask(token);
    await issuer.rotate({ drop: true });
    issuer.behaviour.jwks = later;
    wait(later === "ok" ? KEY_TIMES.fresh : KEY_TIMES.stale);
    const fresh = await issuer.token({ exp: NOW / 1000 + 9_000 }, { key: old });
    for (const one of [token, fresh]) {
      t.match(await detail(ask(one)), later === "ok" ? "unknown_key" : "issuer_unavailable");
    }
  }
});
