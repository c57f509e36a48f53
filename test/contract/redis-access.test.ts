/** Getting in: users, passwords, TLS; and that no credential comes out again. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { freePort, ownRedis } from "../support/redis.ts";
import { LEAST_RIGHTS } from "../support/redis-kinds.ts";
import { redisStore, sealed } from "../support/redis-store.ts";

const PASSWORD = "p@ss/w:rd%41 x";

async function guarded(t: { teardown(run: () => unknown): void }) {
  const server = await ownRedis(t);
  await server.command("ACL", "SETUSER", "gate", "on", `>${PASSWORD}`, ...LEAST_RIGHTS);
  return server;
}

t.test("a user with the least rights, by options and by URL", async (t) => {
  const { url, port } = await guarded(t);
  const inUrl = `redis://gate:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  for (const access of [{ url, username: "gate", password: PASSWORD }, { url: inUrl }]) {
    const store = await redisStore(t, access);
    t.same(store.health(), { available: true });
    const mark = sealed(store);
    const first = await store.redeem(mark);
    t.match(first, { outcome: "redeemed" });
    t.same(await store.redeem(mark), { outcome: "already_redeemed" });
    if (first.outcome === "redeemed") await store.release(mark, first.attempt);
    t.match(await store.redeem(mark), { outcome: "redeemed" });
  }
});

t.test("a wrong password: not available, told once, and never printed", async (t) => {
  const { url, port } = await guarded(t);
  const wrong = "wr0ng/secret%20";
  const inUrl = `redis://gate:${encodeURIComponent(wrong)}@127.0.0.1:${port}`;
  for (const access of [{ url, username: "gate", password: wrong }, { url: inUrl }]) {
    const store = await redisStore(t, { ...access, redeemTimeoutMs: 150 });
    const error = await store.redeem({ jti: "a", epoch: "e", exp: 4_000_000_000 }).catch((error) => error);
    t.equal(error.reason, "unauthorized");
    t.same(store.health(), { available: false, reason: "unauthorized" });
    t.match(store.lines, [
      {
        level: "error",
        fields: { reason: "unauthorized", cause: /WRONGPASS/ },
        message:
          /^redemption store unavailable: Redis does not accept .* redis\.username and redis\.password$/,
      },
    ]);
    t.equal(store.lines.length, 1);
    const printed = JSON.stringify([store.lines, error, String(error.stack), error.cause]);
    for (const secret of [wrong, encodeURIComponent(wrong)]) t.notOk(printed.includes(secret));
  }
});

t.test("no password where one is wanted, or a user that is off", async (t) => {
  const server = await guarded(t);
  await server.command("ACL", "SETUSER", "gate", "off");
  const off = await redisStore(t, { url: server.url, username: "gate", password: PASSWORD });
  t.match(off.lines, [{ level: "error", fields: { reason: "unauthorized" }, message: /does not accept/ }]);
  await server.command("CONFIG", "SET", "requirepass", PASSWORD);
  const none = await redisStore(t, { url: server.url });
  t.same(none.health(), { available: false, reason: "unauthorized" });
  t.match(none.lines, [{ level: "error", message: /wants a password and got none; set redis\.password$/ }]);
  t.equal(none.epoch(""), undefined);
});

t.test("rights that do not reach are told, and nothing is spent", async (t) => {
  const server = await guarded(t);
  const access = { url: server.url, username: "gate", password: PASSWORD };
  const store = await redisStore(t, access);
  const mark = sealed(store);
  await server.command("ACL", "SETUSER", "gate", "-hsetnx");
  for (const _ of [1, 2]) t.equal(await store.redeem(mark).catch((error) => error.reason), "unauthorized");
  t.match(
    store.lines.filter(({ level }) => level === "error"),
    [{ fields: { reason: "unauthorized" }, message: /rights the gateway needs/ }],
    "once",
  );
  await server.command("ACL", "SETUSER", "gate", "+hsetnx");
  t.match(await store.redeem(mark), { outcome: "redeemed" });
  // A mark that was set before the right was wanted is given back.
  for (const right of ["hlen", "pexpireat"]) {
    const mark = sealed(store);
    await server.command("ACL", "SETUSER", "gate", `-${right}`);
    t.equal(await store.redeem(mark).catch((error) => error.reason), "unauthorized", right);
    await server.command("ACL", "SETUSER", "gate", `+${right}`);
    t.match(await store.redeem(mark), { outcome: "redeemed" }, right);
  }
  for (const [taken, given] of [
    ["-eval", "+eval"],
    ["-info", "+info"],
    ["-get", "+get"],
    ["-time", "+time"],
    ["resetkeys", "~sg:*"],
  ] as const) {
    await server.command("ACL", "SETUSER", "gate", taken);
    await server.command("SCRIPT", "FLUSH");
    const lacking = await redisStore(t, access);
    t.same(lacking.health(), { available: false, reason: "unauthorized" }, taken);
    t.match(lacking.lines, [{ level: "error", message: /rights the gateway needs/ }], taken);
    await server.command("ACL", "SETUSER", "gate", given);
    await lacking.refresh();
    t.same(lacking.health(), { available: true }, given);
  }
});

t.test("a database that cannot be selected is not another one", async (t) => {
  const server = await guarded(t);
  const store = await redisStore(t, { url: `${server.url}/1`, username: "gate", password: PASSWORD });
  t.same(store.health(), { available: false, reason: "unauthorized" });
  t.match(store.lines, [{ level: "error", fields: { cause: /select/ }, message: /rights/ }]);
  t.equal(store.epoch(""), undefined);
  await server.command("ACL", "SETUSER", "gate", "+select");
  await store.refresh();
  t.same(store.health(), { available: true });
  const none = await redisStore(t, { url: `${server.url}/99` });
  t.same(none.health(), { available: false, reason: "unreachable" });
  t.match(none.lines, [{ level: "warn", fields: { cause: /DB index is out of range/ } }]);
});

t.test("URLs that cannot be used are refused without repeating them", async (t) => {
  const urls = [
    "",
    "secret",
    "http://:secret@127.0.0.1/",
    "redis://",
    "redis://:secret@host:99999",
    "redis://:secret@host/db",
    "redis://:secret@host/0?enableOfflineQueue=true",
    "redis://:secret@host/0#x",
  ];
  for (const url of urls) {
    const error = await redisStore(t, { url }).catch((error) => error);
    t.match(error.message, /must have the form redis:/, url);
    t.notOk(/secret/.test(JSON.stringify([error, String(error.stack), Object.entries(error)])), url);
  }
  await t.rejects(
    redisStore(t, { url: "rediss://127.0.0.1", tls: { ca: "no certificate" } }),
    "a CA that is none",
  );
});

t.test("TLS", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sealgate-tls-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const ask = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "2",
  ];
  const names = ["-subj", "/CN=store.test", "-addext", "subjectAltName=DNS:store.test"];
  execFileSync("openssl", [...ask, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const tlsPort = await freePort();
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert];
  await ownRedis(t, ["--tls-port", String(tlsPort), ...files, "--tls-auth-clients", "no"]);
  const ca = readFileSync(cert);

  t.test("with the CA and the name of the certificate", async (t) => {
    for (const scheme of ["rediss", "redis"]) {
      const tls = { ca, servername: "store.test" };
      const store = await redisStore(t, { url: `${scheme}://127.0.0.1:${tlsPort}`, tls });
      t.match(await store.redeem(sealed(store)), { outcome: "redeemed" }, `${scheme} and tls`);
    }
  });

  t.test("an unknown CA or another name is not trusted", async (t) => {
    const url = `rediss://127.0.0.1:${tlsPort}`;
    for (const tls of [
      undefined,
      {},
      { servername: "store.test" },
      { ca },
      { ca, servername: "other.test" },
    ]) {
      const store = await redisStore(t, tls === undefined ? { url } : { url, tls });
      t.same(store.health(), { available: false, reason: "unreachable" });
      t.equal(store.epoch(""), undefined);
    }
  });
});
