/** What `approve` makes of the answers of an admin listener, or of whoever is there in its place. */
import { createServer, type ServerResponse } from "node:http";
import t, { type Test } from "tap";
import { type AdminPlace, AdminRefused, decideThere, listApprovalsThere } from "../../../src/admin/client.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const WAITING = {
  ...{ id: ID, route: "/mcp", kind: "tool", target: "pay", chain: ID, policies: ["two"] },
  principal: { issuer: "https://idp.example", subject: "alice" },
  since: "2026-11-30T20:00:00.000Z",
  until: "2026-11-30T20:10:00.000Z",
  ...{ code: "0BADC0DE", message: "Approve this call?", needs: { two: 2 }, approvedBy: [{ operator: "x" }] },
};

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
}

async function listener(
  t: Test,
  answer: (response: ServerResponse) => unknown,
): Promise<AdminPlace & { readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    heard.push({ method: request.method, url: request.url, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, token: "token", timeoutMs: 500, heard };
}

const json =
  (status: number, value: unknown) =>
  (response: ServerResponse): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error) => (error instanceof AdminRefused ? error.message : `another error: ${error}`),
  );

t.test("honest ones", async (t) => {
  const place = await listener(t, json(200, { waiting: [{ ...WAITING, later: 1 }], remembered: [] }));
  t.same(await listApprovalsThere(place, "waiting"), [WAITING]);
  t.same(await listApprovalsThere(place, "remembered"), []);
  const decided = await listener(t, json(200, WAITING));
  t.same(await decideThere(decided, ID, "approve", "ops"), WAITING);
  t.same(decided.heard, [
    { method: "POST", url: `/v1/approvals/${ID}`, body: '{"decision":"approve","by":"ops"}' },
  ]);
  await decideThere(decided, "../grants/x", "deny", "ops");
  t.equal(decided.heard.at(-1)?.url, "/v1/approvals/..%2Fgrants%2Fx");
});

t.test("there is none", async (t) => {
  const place = await listener(t, json(404, { error: "there is no such entry" }));
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
    const place = await listener(t, json(200, value));
    t.match(await messageOf(listApprovalsThere(place, "waiting")), /does not answer as a gateway does$/);
  }
  const odd = await listener(t, json(200, { id: 1 }));
  t.match(await messageOf(decideThere(odd, ID, "approve", "ops")), /it may have taken effect all the same/);
  const busy = await listener(t, json(503, { error: "the store cannot be used now" }));
  t.match(await messageOf(decideThere(busy, ID, "approve", "ops")), /answers with 503: the store cannot/);
  const wrong = await listener(t, json(401, {}));
  t.match(await messageOf(decideThere(wrong, ID, "approve", "ops")), /does not accept the token/);
  const bare = await listener(t, json(404, { error: "not found" }));
  t.match(await messageOf(decideThere(bare, ID, "approve", "ops")), /has no admin verbs/);
  const silent = await listener(t, () => undefined);
  t.match(
    await messageOf(decideThere(silent, ID, "approve", "ops")),
    /it may have taken effect all the same/,
  );
});
