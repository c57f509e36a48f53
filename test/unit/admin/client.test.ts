/** What commands make of the answers of an admin listener, or of whoever is there in its place. */
import type { ServerResponse } from "node:http";
import t from "tap";
import { listThere, removeThere, setThere } from "../../../src/admin/client.ts";
import { printList } from "../../../src/commands/override-lines.ts";
import { MAX_ENTRIES } from "../../../src/overrides/entry.ts";
import { adminListener, json, messageOf } from "../../support/admin-listener.ts";
import { freePort } from "../../support/redis.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const GRANT = {
  ...{
    id: ID,
    setAt: "2026-11-30T20:00:00.000Z",
    until: "2026-11-30T21:00:00.000Z",
    by: "ops",
    signed: true,
  },
  ...{ effect: "allow", tool: "pay_*", capability: ["sampling"] },
};
const { effect: _, tool: __, capability: ___, ...SET } = GRANT;
const REVOCATION = { ...SET, route: "/mcp", bornBefore: "2026-11-30T20:00:02.000Z" };
const ORDER = { by: "ops", effect: "deny", tool: "x" } as const;

t.test("lists of entries", async (t) => {
  const place = await adminListener(
    t,
    json(200, { grants: [GRANT, { ...GRANT, later: [1], principal: { issuer: "i", subject: "s" } }] }),
  );
  t.same(await listThere(place, "grants"), [GRANT, { ...GRANT, principal: { issuer: "i", subject: "s" } }]);
  const revocations = await adminListener(t, json(200, { revocations: [REVOCATION] }));
  t.same(await listThere(revocations, "revocations"), [REVOCATION]);
});

t.test("what is no list of entries is said to be none", async (t) => {
  const bad: unknown[] = [
    {},
    { grants: {} },
    { grants: [null] },
    { grants: ["x"] },
    { grants: [{}] },
    { grants: [GRANT, { ...GRANT, by: undefined }] },
    { grants: [{ ...GRANT, id: "short" }] },
    { grants: [{ ...GRANT, reason: "a\u009b31mb" }] },
    { grants: [{ ...GRANT, by: "a\nb" }] },
    { grants: [{ ...GRANT, tool: 7 }] },
    { grants: [{ ...GRANT, capability: "sampling" }] },
    { grants: [{ ...GRANT, capability: ["\u001b[31m"] }] },
    { grants: [{ ...GRANT, principal: [] }] },
    { grants: [{ ...GRANT, principal: { issuer: "i", subject: "s", role: "r" } }] },
    { grants: [{ ...GRANT, until: "\u001b" }] },
    { grants: Array.from({ length: MAX_ENTRIES + 1 }, () => GRANT) },
  ];
  for (const value of bad) {
    const place = await adminListener(t, json(200, value));
    t.match(
      await messageOf(listThere(place, "grants")),
      /^http:\/\/127\.0\.0\.1:\d+ does not answer as a gateway does$/,
      JSON.stringify(value).slice(0, 200),
    );
  }
  const endless = await adminListener(t, (response) => {
    const more = (): void => {
      while (response.write(" ".repeat(1 << 20)));
      response.once("drain", more);
    };
    response.writeHead(200);
    more();
  });
  t.match(
    await messageOf(listThere({ ...endless, timeoutMs: 60_000 }, "grants")),
    /the answer is too large$/,
  );
});

t.test("a change of which nobody knows whether it took effect", async (t) => {
  const unsure = /; it may have taken effect all the same: look at the list before you try again$/;
  const silent = (): void => undefined;
  const cut = (response: ServerResponse): unknown => response.socket?.destroy();
  const half = (response: ServerResponse): unknown => {
    response.writeHead(201, { "content-length": 100 }).write("{");
    return setImmediate(() => response.socket?.destroy());
  };
  const cases: [string, (response: ServerResponse) => unknown][] = [
    ["no answer", silent],
    ["cut off", cut],
    ["half an answer", half],
    ["an answer of something else", json(200, { ok: true })],
    ["no JSON", (response) => response.end("<html>")],
    ["somebody on the way gave up", (response) => response.writeHead(504).end()],
  ];
  for (const [name, answer] of cases) {
    const place = await adminListener(t, answer);
    t.match(await messageOf(setThere(place, ORDER)), unsure, `${name}: set`);
    t.match(await messageOf(removeThere(place, "grants", ID)), unsure, `${name}: remove`);
    t.notMatch(await messageOf(listThere(place, "grants")), unsure, `${name}: a list changes nothing`);
    t.equal(place.heard.length, 3, "each was asked once");
  }
  const sure: [number, unknown, RegExp][] = [
    [400, { error: "by is 1 to 64 printable characters" }, /answers with 400: by is 1 to 64/],
    [401, { error: "no" }, /does not accept the token/],
    [409, { error: "there are 10000 entries" }, /answers with 409/],
    [503, { error: "others\u009b change" }, /answers with 503: others\? change$/],
  ];
  for (const [status, value, said] of sure) {
    const message = await messageOf(setThere(await adminListener(t, json(status, value)), ORDER));
    t.match(message, said);
    t.notMatch(message, unsure);
  }
  const nobody = await messageOf(
    setThere({ url: `http://127.0.0.1:${await freePort()}`, token: "x" }, ORDER),
  );
  t.match(nobody, /cannot be asked: connect ECONNREFUSED/);
  t.notMatch(nobody, unsure, "nobody has heard of it");
});

t.test("a change that is answered", async (t) => {
  const place = await adminListener(t, json(201, { ...GRANT, warning: "no such route" }));
  t.same(await setThere(place, ORDER), { ...GRANT, warning: "no such route" });
  t.equal(
    await removeThere(await adminListener(t, json(404, { error: "there is no such entry" })), "grants", ID),
    undefined,
  );
});

t.test("what is printed obeys no terminal", async (t) => {
  const printed = t.capture(process.stdout, "write", () => true);
  const reason = "a\u202eb\u00adc\u{e0001}d\u0085";
  printList([{ ...GRANT, reason } as never], true, "");
  printList([{ ...GRANT, reason } as never], false, "");
  const [asJson = "", asTable = ""] = printed().map(({ args }) => String(args[0]));
  for (const text of [asJson, asTable]) t.notMatch(text, /[^\P{C}\n]/u);
  t.equal(JSON.parse(asJson)[0].reason, reason, "JSON says the same");
  t.match(asTable, "a?b?c?d?");
});
