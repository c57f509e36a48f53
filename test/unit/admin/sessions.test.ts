/** Sessions of the console: two halves, one token, an end. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { Attempts } from "../../../src/admin/attempts.ts";
import { ownOrigin } from "../../../src/admin/same-origin.ts";
import { cookieIn, SESSION_SECONDS, Sessions, setCookie } from "../../../src/admin/sessions.ts";

const TOKEN = "an-operator's-token-4711";

t.test("both halves of one session, and nothing else", async (t) => {
  const sessions = new Sessions(randomBytes, () => 0);
  const [one, two] = [sessions.open(TOKEN), sessions.open(TOKEN)];
  t.not(one.cookie, one.key);
  t.equal(sessions.holds(one, TOKEN), true);
  t.equal(sessions.holds({ cookie: one.cookie, key: two.key }, TOKEN), false);
  t.equal(sessions.holds({ cookie: one.cookie, key: one.cookie }, TOKEN), false);
  t.equal(sessions.holds({ cookie: one.key, key: one.key }, TOKEN), false);
  for (const other of [undefined, "", `${one.key}x`, one.key.slice(1), "__proto__"]) {
    t.equal(sessions.holds({ cookie: one.cookie, key: other }, TOKEN), false);
    t.equal(sessions.holds({ cookie: other, key: one.key }, TOKEN), false);
  }
  sessions.end(one.cookie);
  t.equal(sessions.holds(one, TOKEN), false);
  t.equal(sessions.holds(two, TOKEN), true);
  sessions.endAll();
  t.equal(sessions.holds(two, TOKEN), false);
});

t.test("ends after its time, however often it is used; and with its token", async (t) => {
  const clock = { now: 1_000 };
  const sessions = new Sessions(randomBytes, () => clock.now);
  const first = sessions.open(TOKEN);
  for (let at = 0; at < SESSION_SECONDS; at += 60) {
    t.equal(sessions.holds(first, TOKEN), true);
    clock.now += 60_000;
  }
  t.equal(sessions.holds(first, TOKEN), false);
  const second = sessions.open(TOKEN);
  t.equal(sessions.holds(second, `${TOKEN}2`), false);
  t.equal(sessions.holds(second, TOKEN), false, "the old token does not bring it back");
});

t.test("one more ends the oldest", async (t) => {
  const sessions = new Sessions(randomBytes, () => 0);
  const all = Array.from({ length: 65 }, () => sessions.open(TOKEN));
  t.equal(sessions.size, 64);
  t.same(all.map((one) => sessions.holds(one, TOKEN)).indexOf(true), 1);
});

t.test("the cookie, once, among others", async (t) => {
  t.equal(cookieIn("a=1; sealgate_console=x; b=2"), "x");
  for (const header of [
    undefined,
    "",
    "a=1",
    "xsealgate_console=x",
    "sealgate_console=x; sealgate_console=y",
  ])
    t.equal(cookieIn(header), undefined, String(header));
  t.equal(setCookie("x", false), "sealgate_console=x; Path=/v1/; Max-Age=3600; HttpOnly; SameSite=Strict");
  t.match(setCookie("x", true), /; Secure$/);
});

t.test("a page of this listener, and of no other", async (t) => {
  const host = "127.0.0.1:9090";
  t.same(ownOrigin({ host, origin: "http://127.0.0.1:9090" }), { secure: false });
  t.same(ownOrigin({ host: "Ops.example", origin: "https://ops.example", "sec-fetch-site": "same-origin" }), {
    secure: true,
  });
  t.same(ownOrigin({ host: "ops.example:443", origin: "https://ops.example" }), { secure: true });
  for (const headers of [
    { host },
    { host, origin: "null" },
    { host, origin: "http://127.0.0.1:9091" },
    { host, origin: "http://127.0.0.1" },
    { host, origin: "http://evil@127.0.0.1:9090" },
    { host, origin: "http://127.0.0.1:9090.evil.example" },
    { host, origin: "http://127.0.0.1:9090/" },
    { host, origin: "http://127.0.0.1:9090", "sec-fetch-site": "same-site" },
    { host, origin: "file://127.0.0.1:9090" },
    { origin: "http://127.0.0.1:9090" },
  ])
    t.equal(ownOrigin(headers), undefined, JSON.stringify(headers));
});

t.test("attempts: ten, then a wait; by address; bounded", async (t) => {
  const clock = { now: 0 };
  const attempts = new Attempts(() => clock.now);
  for (let at = 0; at < 9; at++) attempts.failed("a");
  t.equal(attempts.wait("a"), 0);
  attempts.failed("a");
  t.equal(attempts.wait("a"), 60);
  t.equal(attempts.wait("b"), 0);
  clock.now = 59_001;
  t.equal(attempts.wait("a"), 1);
  clock.now = 60_000;
  t.equal(attempts.wait("a"), 0);
  attempts.failed("a");
  t.equal(attempts.wait("a"), 0, "counted anew");
  for (let at = 0; at < 9; at++) attempts.failed("a");
  attempts.succeeded("a");
  t.equal(attempts.wait("a"), 0);
  for (let at = 0; at < 10; at++) attempts.failed("c");
  for (let at = 0; at < 1_024; at++) attempts.failed(`x${at}`);
  t.equal(attempts.wait("c"), 0, "the oldest went");
});
