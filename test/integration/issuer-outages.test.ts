/** An issuer that is down, at start and later: what callers get, what health and metrics say, and what a reload keeps. */
import t, { type Test } from "tap";
import { KEY_TIMES } from "../../src/principal/jwks.ts";
import { DONE, TRANSFER } from "../security/scene.ts";
import { exchange, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { signingKey, startIssuer } from "../support/issuer.ts";
import { result, startUpstream } from "../support/upstream.ts";

const aud = `${PUBLIC_URL}/mcp`;

async function setUp(t: Test, readiness: object = {}) {
  const clock = Date.now();
  const time = { now: clock };
  const issuer = await startIssuer({ now: () => time.now });
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  const authentication = (more: object = {}) => ({
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, ...more }] },
  });
  const gateway = await startGateway(
    upstream.url,
    { ...authentication(), admin: { listen: "127.0.0.1:0", readiness } },
    { clock },
  );
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
    await issuer.close();
  });
  const wait = (ms: number) => {
    time.now += ms;
    gateway.clock.now = time.now;
  };
  const get = (path: string) => exchange(gateway.adminUrl ?? "", { method: "GET", path });
  const ready = async () => {
    const { status, json } = await get("/readyz");
    return { status, issuers: json.issuers };
  };
  const metric = async (name: string, more = ""): Promise<number | undefined> => {
    const line = new RegExp(`^${name}\\{issuer="${issuer.issuer}"${more}\\} (\\S+)$`, "m");
    const value = line.exec((await get("/metrics")).body)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const call = async (claims: object = {}, key?: Awaited<ReturnType<typeof signingKey>>) =>
    (await gateway.call(TRANSFER, { token: await issuer.token({ aud, ...claims }, key && { key }) })).status;
  const settled = async (was: number) => {
    while (issuer.jwksFetches === was) await new Promise(setImmediate);
    for (;;) {
      const loads =
        ((await metric("sealgate_issuer_key_loads_total", ',outcome="failed"')) ?? 0) +
        ((await metric("sealgate_issuer_key_loads_total", ',outcome="loaded"')) ?? 0);
      if (loads === issuer.jwksFetches) return;
    }
  };
  return { issuer, gateway, wait, ready, metric, call, settled, authentication };
}

t.test("down at start: probes look, and say so before a caller meets it", async (t) => {
  const { issuer, wait, ready, metric, call, settled } = await setUp(t);
  issuer.behaviour.jwks = "error";
  t.same(await ready(), { status: 200, issuers: "ok" }, "nobody has looked yet");
  await settled(0);
  t.same(await ready(), { status: 200, issuers: "unavailable" });
  t.equal(await metric("sealgate_issuer_keys_usable"), 0);
  t.equal(await metric("sealgate_issuer_keys_age_seconds"), undefined);
  t.equal(await call(), 503);
  for (let probe = 0; probe < 20; probe++) await ready();
  t.equal(issuer.jwksFetches, 1, "probes make no storm");
  issuer.behaviour.jwks = "ok";
  wait(KEY_TIMES.coolDownMin);
  await ready();
  await settled(1);
  t.same(await ready(), { status: 200, issuers: "ok" });
  t.equal(await call(), 200);
  t.equal(issuer.jwksFetches, 2, "the probe had them already");
  t.equal(await metric("sealgate_issuer_keys_usable"), 1);
});

t.test("down later: kept keys serve within their limit, and health tells", async (t) => {
  const { issuer, wait, ready, metric, call, settled } = await setUp(t, { issuers: "required" });
  t.equal(await call(), 200);
  issuer.behaviour.jwks = "error";
  wait(KEY_TIMES.fresh);
  t.equal(await call({ sub: "b" }), 200);
  t.same(await ready(), { status: 200, issuers: "degraded" });
  t.equal(await metric("sealgate_issuer_keys_age_seconds"), KEY_TIMES.fresh / 1000);
  t.equal(await metric("sealgate_issuer_keys_usable"), 1);
  t.equal(await call({}, await signingKey()), 503, "whether that key is good cannot be known");
  wait(KEY_TIMES.stale);
  t.equal(await call({ sub: "c" }), 503);
  t.same(await ready(), { status: 503, issuers: "unavailable" }, "readiness.issuers: required");
  t.equal(await metric("sealgate_issuer_keys_usable"), 0);
  issuer.behaviour.jwks = "ok";
  wait(KEY_TIMES.coolDownMax);
  const was = issuer.jwksFetches;
  await ready();
  await settled(was);
  t.same(await ready(), { status: 200, issuers: "ok" });
  t.equal(await call({ sub: "d" }), 200);
});

t.test("a reload keeps the keys of an issuer that is down, and opens no way to a storm", async (t) => {
  const { issuer, gateway, call, authentication, metric } = await setUp(t);
  t.equal(await call(), 200);
  issuer.behaviour.jwks = "error";
  const stranger = await signingKey();
  for (let n = 0; n < 10; n++) {
    t.ok(await gateway.configure(authentication({ requiredScopes: [`s${n}`] })));
    t.equal(await call({ scope: `s${n}` }), 200);
    t.not(await call({ scope: `s${n}` }, stranger), 200);
  }
  t.equal(issuer.jwksFetches, 2, "one look for the stranger's key, whatever the configuration");
  const other = await startIssuer({ now: () => gateway.clock.now });
  t.teardown(() => other.close());
  t.ok(
    await gateway.configure({
      authentication: { issuers: [{ issuer: other.issuer, jwks: { url: other.jwksUrl } }] },
    }),
  );
  t.equal(await call(), 401, "an issuer that was taken out is forgotten at once");
  t.equal(await metric("sealgate_issuer_keys_usable"), undefined, "in metrics too");
});
