/** The three channels of a bad state: `error`, `tool-error`, `reprompt`; and what never goes through the last two. */
import t, { type Test } from "tap";
import { type Message, startGateway } from "../support/gateway.ts";
import { anyRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";
import { ASK, asksOnce, DONE, INNER, retryOf, sendAs, stateOf, TRANSFER, YES } from "./rounds.ts";

const PROMPT: Message = { method: "prompts/get", params: { name: "brief" } };
const READ: Message = { method: "resources/read", params: { uri: "file:///a" } };
const FROZEN = `{"jsonrpc":"2.0","id":"r\\u0031","error":{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}}`;

async function setUp(t: Test, roundTrip: Record<string, unknown>) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, { roundTrip });
  t.teardown(() => gateway.close(0));
  const retry = (state: unknown, answers?: unknown, message?: Message) =>
    sendAs(gateway, '"r\\u0031"', retryOf(state, answers, message));
  return { upstream, gateway, retry };
}

t.test("error: the same bytes for every method, nothing goes up", async (t) => {
  const { upstream, gateway, retry } = await setUp(t, {});
  for (const message of [TRANSFER, PROMPT, READ]) {
    const reply = await retry("sg1.forged", YES, message);
    t.equal(reply.status, 400);
    t.equal(reply.body, FROZEN);
    t.match(gateway.audit.at(-1), { code: "invalid_request_state", state: "rejected" });
  }
  t.equal(upstream.arrived.length, 0);
});

t.test("tool-error: a result that a model can read, for tools/call only", async (t) => {
  const { upstream, gateway, retry } = await setUp(t, { rejection: "tool-error" });
  const bodies = new Set<string>();
  for (const state of ["sg1.forged", "", 7, { a: 1 }]) {
    const reply = await retry(state);
    t.equal(reply.status, 200);
    t.match(reply.json, {
      id: "r1",
      result: { resultType: "complete", isError: true, content: [{ type: "text" }] },
    });
    t.equal(reply.json.error, undefined);
    bodies.add(reply.body);
    const record = gateway.audit.at(-1);
    t.match(record, { outcome: "refused", code: "invalid_request_state", state: "rejected" });
    t.equal(record?.requestId, reply.headers["x-request-id"]);
  }
  t.equal(bodies.size, 1, "the same bytes whatever the cause");
  t.match([...bodies][0], /"id":"r\\u0031"/, "the id as it was sent");
  for (const message of [PROMPT, READ]) t.equal((await retry("sg1.forged", YES, message)).body, FROZEN);
  t.equal(upstream.arrived.length, 0);

  const state = stateOf(await gateway.call(TRANSFER));
  t.match(await retry(state), { status: 200, json: { result: JSON.parse(DONE) } }, "its honest neighbour");
  const again = await retry(state);
  t.match(again, { status: 400, json: { error: { data: { reason: "already_redeemed" } } } });
});

t.test("reprompt: state and answers are dropped and the server asks again", async (t) => {
  const { upstream, gateway, retry } = await setUp(t, { rejection: "reprompt" });
  for (const message of [TRANSFER, PROMPT, READ]) {
    const reply = await retry("sg1.forged", YES, message);
    t.equal(reply.status, 200);
    t.same(reply.json.result.inputRequests, JSON.parse(ASK).inputRequests);
    t.match(stateOf(reply), /^sg1\./);
    const { params } = upstream.arrived.at(-1)?.json ?? {};
    t.same([params.requestState, params.inputResponses], [undefined, undefined]);
    t.match(gateway.audit.at(-1), { outcome: "input_required", state: "reprompted", cause: "encoding" });
  }
  const [sent] = upstream.arrived;
  t.same(sent?.json.params.arguments, TRANSFER.params?.["arguments"]);
});

t.test("reprompt never where somebody said no, or said what cannot be read", async (t) => {
  const { upstream, retry } = await setUp(t, { rejection: "reprompt" });
  const accept = { action: "accept", content: {} };
  for (const answers of [
    { confirm: { action: "decline" } },
    { confirm: { action: "cancel" } },
    { a: accept, b: { action: "decline" } },
    { a: accept, never: { action: "cancel" } },
    { confirm: { action: "Decline" } },
    { confirm: { action: null } },
    [{ action: "decline" }],
    "decline",
  ]) {
    const reply = await retry("sg1.forged", answers);
    t.equal(reply.body, FROZEN, JSON.stringify(answers));
  }
  t.equal(upstream.arrived.length, 0);
});

t.test("reprompt never for a state that was redeemed, and each reprompt is a chain of its own", async (t) => {
  const { upstream, gateway, retry } = await setUp(t, { rejection: "reprompt" });
  const state = stateOf(await gateway.call(TRANSFER));
  t.match(await retry(state), { json: { result: JSON.parse(DONE) } });
  t.match(await retry(state), { status: 400, json: { error: { data: { reason: "already_redeemed" } } } });
  t.equal(upstream.arrived.length, 2);
  const fresh = stateOf(await retry(`${state}x`));
  t.equal(gateway.audit.at(-1)?.round, 1);
  t.match(await gateway.call(retryOf(fresh)), { json: { result: JSON.parse(DONE) } });
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
});

t.test("an expired state goes through the channel too", async (t) => {
  for (const [rejection, expected] of [
    ["tool-error", { result: { isError: true } }],
    ["reprompt", { result: { resultType: "input_required" } }],
    ["error", { error: { data: { reason: "invalid_request_state" } } }],
  ] as const) {
    const { gateway, retry } = await setUp(t, { rejection });
    const state = stateOf(await gateway.call(TRANSFER));
    gateway.clock.now += 601_000;
    t.match((await retry(state)).json, expected, rejection);
    t.equal(gateway.audit.at(-1)?.cause, "expired");
  }
});

t.test("expired by the store's clock, where the gateway's is late: the channel too", async (t) => {
  const { url, keyPrefix } = await anyRedis(t);
  const key = `${t.testdir({ key: "k".repeat(43) })}/key`;
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  for (const [rejection, expected] of [
    ["tool-error", { result: { isError: true } }],
    ["error", { error: { data: { reason: "invalid_request_state" } } }],
  ] as const) {
    const sections = {
      keys: { primary: "k", ring: [{ id: "k", secret: { file: key } }] },
      redis: { url, keyPrefix },
      redemption: { store: "redis" },
      roundTrip: { rejection },
    };
    const gateway = await startGateway(upstream.url, sections, { clock: Date.now() - 3_600_000 });
    t.teardown(() => gateway.close(0));
    let first = await gateway.call(TRANSFER);
    // Until the store's epoch has been read there is nothing to seal under.
    while (first.status === 503) first = await gateway.call(TRANSFER);
    const before = upstream.arrived.length;
    t.match((await gateway.call(retryOf(stateOf(first)))).json, expected, rejection);
    t.match(gateway.audit.at(-1), { cause: "expired", state: "rejected" });
    t.equal(upstream.arrived.length, before);
  }
});

t.test("answers without a state: refused, dropped or forwarded as the route says", async (t) => {
  const retry = { ...TRANSFER, params: { ...TRANSFER.params, inputResponses: YES } };
  for (const [answersWithoutState, ups, answers] of [
    ["refuse", 0, undefined],
    ["drop", 1, undefined],
    ["forward", 1, YES],
  ] as const) {
    const { gateway, upstream } = await setUp(t, { answersWithoutState });
    const reply = await sendAs(gateway, '"r\\u0031"', retry);
    t.equal(upstream.arrived.length, ups, answersWithoutState);
    if (ups === 0) t.equal(reply.body, FROZEN);
    else t.same(upstream.arrived[0]?.json.params.inputResponses, answers);
    t.match(gateway.audit.at(-1), ups === 0 ? { cause: "absent", state: "rejected" } : { era: "modern" });
  }
});
