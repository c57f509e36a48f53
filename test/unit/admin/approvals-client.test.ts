/** What `approve` makes of the answers of an admin listener, or of whoever is there in its place. */
import t from "tap";
import { decideThere, listApprovalsThere } from "../../../src/admin/client.ts";
import { adminListener, json, messageOf } from "../../support/admin-listener.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const WAITING = {
  ...{ id: ID, route: "/mcp", kind: "tool", target: "pay", chain: ID, policies: ["two"] },
  principal: { issuer: "https://idp.example", subject: "alice" },
  since: "2026-11-30T20:00:00.000Z",
  until: "2026-11-30T20:10:00.000Z",
  ...{ code: "0BADC0DE", message: "Approve this call?", needs: { two: 2 }, approvedBy: [{ operator: "x" }] },
};

t.test("honest ones", async (t) => {
  const place = await adminListener(t, json(200, { waiting: [{ ...WAITING, later: 1 }], remembered: [] }));
  t.same(await listApprovalsThere(place, "waiting"), [WAITING]);
  t.same(await listApprovalsThere(place, "remembered"), []);
  const decided = await adminListener(t, json(200, WAITING));
  t.same(await decideThere(decided, ID, "approve", "ops"), WAITING);
  t.same(decided.heard, [
    { method: "POST", url: `/v1/approvals/${ID}`, body: '{"decision":"approve","by":"ops"}' },
  ]);
  await decideThere(decided, "../grants/x", "deny", "ops");
  t.equal(decided.heard.at(-1)?.url, "/v1/approvals/..%2Fgrants%2Fx");
});

t.test("there is none", async (t) => {
  const place = await adminListener(t, json(404, { error: "there is no such entry" }));
  t.equal(await decideThere(place, ID, "forget", "ops"), undefined);
});

t.test("others", async (t) => {
  for (const value of [
    {},
    { waiting: {} },
    { waiting: [1] },
    { waiting: [{ ...WAITING, id: "x" }] },
    { waiting: [{ ...WAITING, until: "\u001b[2J" }] },
    { waiting: [{ ...WAITING, kind: "other" }] },
    { waiting: [{ ...WAITING, principal: "alice" }] },
    { waiting: Array(10_001).fill(WAITING) },
  ]) {
    const place = await adminListener(t, json(200, value));
    t.match(await messageOf(listApprovalsThere(place, "waiting")), /does not answer as a gateway does$/);
  }
  const odd = await adminListener(t, json(200, { id: 1 }));
  t.match(await messageOf(decideThere(odd, ID, "approve", "ops")), /it may have taken effect all the same/);
  const busy = await adminListener(t, json(503, { error: "the store cannot be used now" }));
  t.match(await messageOf(decideThere(busy, ID, "approve", "ops")), /answers with 503: the store cannot/);
  const wrong = await adminListener(t, json(401, {}));
  t.match(await messageOf(decideThere(wrong, ID, "approve", "ops")), /does not accept the token/);
  const bare = await adminListener(t, json(404, { error: "not found" }));
  t.match(await messageOf(decideThere(bare, ID, "approve", "ops")), /has no admin verbs/);
  const silent = await adminListener(t, () => undefined);
  t.match(
    await messageOf(decideThere(silent, ID, "approve", "ops")),
    /it may have taken effect all the same/,
  );
});
