import t from "tap";
import { Inconclusive, NotAllowed, type Session } from "../../../src/review/check.ts";
import type { Exchange, Received } from "../../../src/review/exchange.ts";
import type { PlannedCall } from "../../../src/review/plan.ts";
import { createSession } from "../../../src/review/session.ts";
import type { Outgoing } from "../../../src/review/wire.ts";
import { plannedCall } from "../../support/reviewed.ts";

const FORM = {
  method: "elicitation/create",
  params: {
    message: "?",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  },
};
const asks = (requestState: unknown, inputRequests: object = { q: FORM }): object => ({
  ...{ resultType: "input_required", inputRequests },
  ...(requestState === undefined ? {} : { requestState }),
});
const DONE = { content: [] };

/** A session whose server gives these results in turn, the last one for ever. */
function scene(
  results: readonly object[],
  { call = plannedCall(), hasSecond = true }: { call?: PlannedCall; hasSecond?: boolean } = {},
): { readonly session: Session; readonly sent: Outgoing[] } {
  const sent: Outgoing[] = [];
  const send = async (outgoing: Outgoing): Promise<Exchange> => {
    sent.push(outgoing);
    const result = { ...(results[Math.min(sent.length, results.length) - 1] ?? DONE) } as Record<
      string,
      unknown
    >;
    const resultType = String(result["resultType"] ?? "complete");
    const status = Number(result["status"] ?? 200);
    const received: Received = { kind: "result", status, headers: {}, resultType, result };
    const { label, caller, headers, message } = outgoing;
    return { number: sent.length, label, sent: { caller, headers, message }, received, at: 0, ms: 0 };
  };
  const ids: number[] = [];
  const session = createSession({
    ...{ wire: { send }, call, hasSecond, listed: undefined, mapped: [], version: "0", label: "test" },
    nextId: () => ids.push(0),
    wait: async () => false,
  });
  return { session, sent };
}

const paramsOf = (outgoing: Outgoing | undefined): Record<string, unknown> =>
  (outgoing?.message["params"] ?? {}) as Record<string, unknown>;

t.test("an honest retry repeats the call, with the state as it came and a new id", async (t) => {
  const { session, sent } = scene([asks({ odd: "state" }), DONE]);
  await session.complete(await session.begin());
  t.match(paramsOf(sent[1]), {
    name: "transfer",
    arguments: { amount: 10, to: "Zoë" },
    requestState: { odd: "state" },
    inputResponses: { q: { action: "accept", content: { ok: true } } },
  });
  t.strictSame(
    sent.map(({ message }) => message["id"]),
    [1, 2],
  );
  t.match(sent[1]?.headers, {
    "mcp-method": "tools/call",
    "mcp-name": "transfer",
    "mcp-protocol-version": "2026-07-28",
  });
});

t.test("a retry goes where its question came from, and as who asked", async (t) => {
  const { session, sent } = scene([asks("s")]);
  const asked = await session.begin({ caller: "second", target: "refund" });
  await session.retry(asked);
  t.match(sent[1], { caller: "second" });
  t.match(paramsOf(sent[1]), { name: "refund" });
});

t.test("changes change what they name, and nothing else", async (t) => {
  const { session, sent } = scene([asks("s")]);
  const asked = await session.begin();
  await session.retry(asked, { requestState: undefined, id: "same" });
  t.notOk("requestState" in paramsOf(sent[1]));
  t.equal(sent[1]?.message["id"], "same");
  await session.retry(asked, { inputResponses: undefined });
  t.notOk("inputResponses" in paramsOf(sent[2]));
  t.equal(paramsOf(sent[2])["requestState"], "s");
  await session.retry(asked, { method: "resources/read" });
  t.match(paramsOf(sent[3]), { uri: "transfer", requestState: "s" });
  await session.retry(asked, {
    headers: { "Mcp-Method": "tools/list", "mcp-name": undefined, Authorization: "Bearer mine" },
  });
  t.equal(sent[4]?.headers["mcp-method"], "tools/list");
  t.notOk("mcp-name" in (sent[4]?.headers ?? {}));
  t.notOk("authorization" in (sent[4]?.headers ?? {}), "who calls is decided by the caller alone");
});

t.test("a round that asks nothing is answered with its state alone", async (t) => {
  const { session, sent } = scene([asks("s", {}), DONE]);
  await session.complete(await session.begin());
  t.notOk("inputResponses" in paramsOf(sent[1]));
  t.equal(paramsOf(sent[1])["requestState"], "s");
});

t.test("what is not allowed is not sent", async (t) => {
  const { session, sent } = scene([asks("s")], { hasSecond: false });
  await t.rejects(session.first({ target: "delete" }), NotAllowed);
  await t.rejects(session.first({ arguments: { amount: 1_000_000 } }), NotAllowed);
  await t.rejects(session.first({ caller: "second" }), NotAllowed);
  await t.rejects(session.first({ headers: { "mcp-name": "delete" } }), NotAllowed);
  await t.rejects(session.ask("tools/call", { name: "delete", arguments: {} }), NotAllowed);
  await t.rejects(session.ask("tools/list", {}, { method: "tasks/cancel" }), NotAllowed);
  t.equal(sent.length, 0);
  await session.first({ caller: "nobody" });
  t.equal(sent.length, 1);
});

t.test("where the plan does not allow to accept, an honest retry is not sent either", async (t) => {
  const { session, sent } = scene([asks("s")], { call: plannedCall({ complete: false }) });
  const asked = await session.begin();
  await t.rejects(session.retry(asked), NotAllowed);
  await t.rejects(session.complete(asked), NotAllowed);
  t.equal(sent.length, 1);
  await session.retry(asked, { inputResponses: session.answers(asked, "decline") });
  t.equal(sent.length, 2);
});

t.test("what does not come about is inconclusive, with what was seen of it", async (t) => {
  await t.rejects(scene([DONE]).session.begin(), { name: "Inconclusive", exchanges: [{ number: 1 }] });
  const endless = scene([asks("s")], { call: plannedCall({ maxRounds: 3 }) });
  await t.rejects(endless.session.complete(await endless.session.begin()), Inconclusive);
  t.equal(endless.sent.length, 4);
  const failing = scene([asks("s"), { ...DONE, isError: true }]);
  await t.rejects(failing.session.complete(await failing.session.begin()), Inconclusive);
  const odd = scene([asks("s", { q: { method: "questions/ask" } })]);
  await t.rejects(
    odd.session.begin().then((asked) => odd.session.retry(asked)),
    Inconclusive,
  );
  const sampling = scene([asks("s", { q: { method: "sampling/createMessage", params: {} } })]);
  const asked = await sampling.session.begin();
  t.throws(() => sampling.session.answers(asked, "decline"), Inconclusive, "nobody can decline sampling");
});

t.test("answers: the plan's by key, then its common one, then one made from the schema", async (t) => {
  const answers = { a: { content: { ok: false } }, "*": { result: { roots: [] } } };
  const { session } = scene([asks("s", { a: FORM, b: FORM, c: { method: "roots/list" } })], {
    call: plannedCall({ answers }),
  });
  t.strictSame(session.answers(await session.begin()), {
    a: { action: "accept", content: { ok: false } },
    b: { action: "accept", content: { ok: true } },
    c: { roots: [] },
  });
});

t.test("a refusal of whatever comes is none of what was tried", async (t) => {
  for (const status of [401, 429, 502, 503, 504]) {
    const { session } = scene([asks("s"), { ...DONE, status }]);
    const asked = await session.begin();
    await t.rejects(
      session.retry(asked),
      { name: "Inconclusive", exchanges: [{ number: 2 }] },
      String(status),
    );
  }
  for (const status of [400, 403, 404, 500]) {
    const { session } = scene([asks("s"), { ...DONE, status }]);
    await t.resolves(session.retry(await session.begin()), String(status));
  }
  const { session } = scene([asks("s"), { ...DONE, status: 401 }]);
  await t.resolves(session.retry(await session.begin(), { caller: "nobody" }), "nobody is to be refused");
});
