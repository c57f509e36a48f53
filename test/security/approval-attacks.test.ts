/**
 * Ways around the user's consent: another call under the same yes, a yes of somebody else, a yes that nobody gave, and channels in which
 * nobody is asked. What reaches the server is counted in bytes.
 */
import t, { type Test } from "tap";
import { type Message, meta, mirrored, type Reply } from "../support/gateway.ts";
import { result, type Script } from "../support/upstream.ts";
import { ASK, DONE, refuses, refusesState, request, type Scene, setScene, TRANSFER } from "./scene.ts";

const YES = { approval: { action: "accept", content: {} } };
const done: Script = (arrived, response) => result(arrived, response, DONE);
const POLICY = { id: "ask", effect: "approve", tools: ["transfer"] };

async function open(
  t: Test,
  more: Record<string, unknown> = {},
  policies: readonly object[] = [POLICY],
  route: Record<string, unknown> = {},
): Promise<Scene> {
  return setScene(t, {
    users: true,
    script: done,
    sections: (url, { issuer, jwksUrl }) => ({
      authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
      authorization: { default: "allow", policies },
      routes: [{ path: "/mcp", upstream: { url }, legacy: "refuse", ...route }],
      ...more,
    }),
  });
}

const yes = (scene: Scene, state: unknown, change: Parameters<Scene["retry"]>[1] = {}) =>
  scene.retry(state, { inputResponses: YES, ...change });

/** The honest neighbour: the state is still good, runs once, and as the first call. */
async function stillGood(t: Test, scene: Scene, state: string): Promise<void> {
  const before = scene.upstream.arrived.length;
  const reply = await yes(scene, state, { id: "honest" });
  t.match(reply.json, { result: { resultType: "complete" } }, reply.body);
  t.equal(scene.upstream.arrived.length, before + 1, "runs once");
  const { params } = scene.upstream.arrived.at(-1)?.json ?? {};
  t.same(Object.keys(params).sort(), ["_meta", "arguments", "name"], "without answers and state");
  t.same(params.arguments, TRANSFER.params?.["arguments"]);
}

const asksOnly = async (t: Test, scene: Scene, attempt: () => Promise<Reply>): Promise<Reply> => {
  const before = scene.bytesUp();
  const reply = await attempt();
  t.match(
    reply.json,
    { result: { resultType: "input_required", inputRequests: { approval: {} } } },
    reply.body,
  );
  t.equal(scene.bytesUp(), before, "not a byte went up");
  return reply;
};

t.test("other parameters under the same yes", async (t) => {
  const scene = await open(t);
  const state = await scene.ask();
  const args = (text: string) =>
    request(
      `"name":"transfer","arguments":${text},"requestState":${JSON.stringify(state)},"inputResponses":${JSON.stringify(YES)}`,
    );
  for (const text of [
    '{"to":"acct-8","amount":50}',
    '{"to":"acct-9","amount":5000}',
    '{"to":"acct-9","amount":50.0}',
    '{"to":"acct-9","amount":5e1}',
    '{"to":"acct-9","amount":"50"}',
    '{"to":"acct-9","amount":50,"x":null}',
    '{"to":"acct-9"}',
    '{"to":"acct\\u002d9 ","amount":50}',
    "null",
    "[]",
  ]) {
    await refusesState(t, scene, () => scene.raw(args(text)), { id: "7", cause: "params" });
  }
  for (const member of ['"task":{"ttl":60000}', '"extra":1', '"Name ":"x"']) {
    const body = args('{"to":"acct-9","amount":50}').replace(
      '"name":"transfer"',
      `${member},"name":"transfer"`,
    );
    await refusesState(t, scene, () => scene.raw(body), { id: "7", cause: "params" });
  }
  // Spelled otherwise it is the same call.
  const reply = await scene.raw(args('{ "amount" : 50, "to":"acct\\u002d9" }'));
  t.match(reply.json, { result: { resultType: "complete" } });
});

t.test("another tool, look-alikes of its name among them", async (t) => {
  const scene = await open(t, {}, [{ ...POLICY, tools: ["transfer*", "trаnsfer", "Transfer"] }]);
  const state = await scene.ask();
  for (const name of ["trаnsfer", "Transfer", "transfer ", "transfer\u200b", "transfer_all"]) {
    const params = { ...TRANSFER.params, name };
    const headers = { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` };
    await refusesState(t, scene, () => scene.retry(state, { params, inputResponses: YES }, { headers }), {
      cause: "target",
    });
  }
  await stillGood(t, scene, state);
});

t.test(
  "a name that no policy means is not let in by an approve, and a look-alike is not by its twin",
  async (t) => {
    const scene = await open(t, { authorization: { default: "deny", policies: [POLICY] } });
    for (const name of ["trаnsfer", "Transfer", "transfer ", "transfer\u200b", "other"]) {
      const message = { ...TRANSFER, params: { ...TRANSFER.params, name } };
      const headers = { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` };
      const token = scene.owner;
      await refuses(t, scene, () => scene.gateway.call(message, { headers, token }), {
        status: 200,
        reason: "unknown_tool",
      });
    }
    await stillGood(t, scene, await scene.ask());
  },
);

t.test("somebody else's yes, and a yes on another route", async (t) => {
  const scene = await open(t);
  const state = await scene.ask();
  await refusesState(t, scene, () => scene.retry(state, { inputResponses: YES }, { token: scene.stranger }), {
    cause: "principal",
  });
  await stillGood(t, scene, state);
});

t.test("replay, edits, and a no that would be a yes", async (t) => {
  const scene = await open(t);
  const state = await scene.ask();
  await refusesState(t, scene, () => yes(scene, `${state.slice(0, -2)}AA`), { cause: "aead" });
  await stillGood(t, scene, state);
  await refuses(t, scene, () => yes(scene, state, { id: "again" }), {
    status: 400,
    reason: "already_redeemed",
  });
  for (const action of ["decline", "cancel"]) {
    const other = await scene.ask();
    const before = scene.bytesUp();
    const no = await scene.retry(other, {
      inputResponses: { approval: { action, content: { approve: true } } },
    });
    t.match(no.json, { result: { isError: true, resultType: "complete" } });
    await refuses(t, scene, () => yes(scene, other, { id: "second thoughts" }), {
      status: 400,
      reason: "already_redeemed",
    });
    t.equal(scene.bytesUp(), before);
  }
  const late = await scene.ask();
  scene.gateway.clock.now += 11 * 60_000;
  const token = await scene.issuer.token({ sub: "u-1001", aud: "http://gateway.test/mcp" });
  const before = scene.bytesUp();
  const reply = await scene.retry(late, { inputResponses: YES }, { token });
  t.notOk(reply.json?.result, reply.body);
  t.equal(scene.bytesUp(), before);
});

t.test("answers that are no yes, or stand elsewhere", async (t) => {
  const scene = await open(t, {}, [
    { ...POLICY, approval: { confirm: "DELETE", fields: [{ name: "reason" }] } },
  ]);
  const state = await scene.ask();
  const full = { confirm: "DELETE", reason: "rent" };
  const accept = (content: unknown) => ({ approval: { action: "accept", content } });
  for (const inputResponses of [
    undefined,
    null,
    {},
    [],
    "accept",
    { confirm: { action: "accept", content: full } },
    { Approval: { action: "accept", content: full } },
    { "approval ": { action: "accept", content: full } },
    { ask: { action: "accept", content: full } },
    { approval: "accept" },
    { approval: { action: "ACCEPT", content: full } },
    { approval: { action: ["accept"], content: full } },
    { approval: { action: true, content: full } },
    { approval: { content: full } },
    { approval: { action: "accept" } },
    { approval: { action: "accept", content: null } },
    { approval: { action: "accept", content: [full] } },
    { approval: { Action: "accept", content: full } },
    { approval: { action: "accept", Content: full } },
    { approval: { result: { action: "accept", content: full } } },
    { approval: { role: "user", model: "m", content: { type: "text", text: "accept" }, action: "accept" } },
    accept({}),
    accept({ reason: "rent" }),
    accept({ ...full, confirm: "delete" }),
    accept({ ...full, confirm: "DELETE!" }),
    accept({ ...full, confirm: "ＤＥＬＥＴＥ" }),
    accept({ ...full, confirm: true }),
    accept({ ...full, confirm: ["DELETE"] }),
    accept({ confirm: "DELETE" }),
    accept({ confirm: "DELETE", reason: "" }),
    accept({ confirm: "DELETE", reason: 7 }),
    accept({ CONFIRM: "DELETE", reason: "rent" }),
  ]) {
    await refuses(t, scene, () => scene.retry(state, { inputResponses }), {
      status: 400,
      code: -32602,
      reason: "invalid_input_responses",
    });
  }
  const more = {
    approval: { action: "accept", content: { ...full, extra: 1 } },
    other: { action: "decline" },
  };
  const before = scene.upstream.arrived.length;
  const reply = await scene.retry(state, { inputResponses: more });
  t.match(reply.json, { result: { resultType: "complete" } }, "what nobody asked for does no harm");
  t.equal(scene.upstream.arrived.length, before + 1);
});

t.test("rules about answers that are switched off let nobody through", async (t) => {
  const rules = {
    "mrtr/answers-missing": "off",
    "elicitation/answer-invalid": "off",
    "mrtr/same-request-id": "off",
  };
  const scene = await open(t, { rules }, [{ ...POLICY, approval: { confirm: "DELETE" } }]);
  const state = await scene.ask();
  for (const inputResponses of [{}, { approval: { action: "accept", content: {} } }, undefined]) {
    await refuses(t, scene, () => scene.retry(state, { inputResponses }), {
      status: 400,
      reason: "invalid_input_responses",
    });
  }
});

t.test("a yes that nobody was asked for, whatever becomes of answers without a state", async (t) => {
  for (const answersWithoutState of ["refuse", "drop", "forward"]) {
    const scene = await open(t, { roundTrip: { answersWithoutState } });
    for (const requestState of [undefined, null]) {
      const params = {
        ...TRANSFER.params,
        inputResponses: YES,
        ...(requestState === undefined ? {} : { requestState }),
      };
      const attempt = () => scene.gateway.call({ ...TRANSFER, id: "a", params }, { token: scene.owner });
      if (answersWithoutState === "refuse")
        await refusesState(t, scene, attempt, { id: '"a"', cause: "absent" });
      else {
        const reply = await asksOnly(t, scene, attempt);
        await stillGood(t, scene, reply.json.result.requestState);
      }
    }
  }
});

t.test("a bad state on a route that asks again is asked about again, and never goes up", async (t) => {
  const scene = await open(t, { roundTrip: { rejection: "reprompt" } });
  const state = await scene.ask();
  const other = { ...TRANSFER.params, arguments: { to: "acct-8", amount: 50 } };
  for (const attempt of [
    () => yes(scene, "sg1.AAAA"),
    () => yes(scene, "step=1"),
    () => yes(scene, ""),
    () => yes(scene, 7),
    () => yes(scene, state, { params: other }),
    () => scene.retry(state, { inputResponses: YES }, { token: scene.stranger }),
  ]) {
    await asksOnly(t, scene, attempt);
    t.match(scene.gateway.audit.at(-1), { state: "reprompted", approval: { policies: ["ask"] } });
  }
  await refusesState(
    t,
    scene,
    () => scene.retry("sg1.AAAA", { inputResponses: { approval: { action: "decline" } } }),
    {
      cause: "encoding",
    },
  );
  await stillGood(t, scene, state);
});

t.test(
  "a state of the server's own question, from before the policy was there or after, is no yes",
  async (t) => {
    const scene = await open(t, {}, []);
    scene.upstream.script = (arrived, response) =>
      result(arrived, response, arrived.json.params.inputResponses === undefined ? ASK : DONE);
    const before = await scene.ask();
    const answer = { confirm: { action: "accept", content: { ok: true } } };
    t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [POLICY] } }));
    await refusesState(t, scene, () => scene.retry(before, { inputResponses: answer }), {
      cause: "approval",
    });
    await refusesState(t, scene, () => scene.retry(before, { inputResponses: YES }), { cause: "approval" });
    // Approved, and in the middle of the server's own rounds.
    const approved = await yes(scene, await scene.ask(), { id: "yes" });
    const inner = approved.json.result.requestState;
    t.ok(
      await scene.gateway.configure({
        authorization: {
          default: "allow",
          policies: [POLICY, { id: "two", effect: "approve", tools: ["*"] }],
        },
      }),
    );
    await refusesState(t, scene, () => scene.retry(inner, { inputResponses: answer }), { cause: "approval" });
    t.ok(
      await scene.gateway.configure({
        authorization: { default: "allow", policies: [{ ...POLICY, approval: { confirm: "YES" } }] },
      }),
    );
    await refusesState(t, scene, () => scene.retry(inner, { inputResponses: answer }), { cause: "approval" });
    t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [POLICY] } }));
    const reply = await scene.retry(inner, { inputResponses: answer });
    t.match(reply.json, { result: { resultType: "complete" } }, "as it was approved it goes on");
  },
);

t.test("a question whose policy has changed is no yes to the new one", async (t) => {
  const scene = await open(t);
  const state = await scene.ask();
  const policies = [{ ...POLICY, approval: { message: "Send all the money?" } }];
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies } }));
  await refusesState(t, scene, () => yes(scene, state), { cause: "approval" });
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [] } }));
  await refusesState(t, scene, () => yes(scene, state), { cause: "approval" });
  t.ok(
    await scene.gateway.configure({
      authorization: { default: "allow", policies: [{ ...POLICY, id: "other" }] },
    }),
  );
  await refusesState(t, scene, () => yes(scene, state), { cause: "approval" });
  t.ok(
    await scene.gateway.configure({
      authorization: {
        default: "allow",
        policies: [POLICY, { id: "no", effect: "deny", tools: ["transfer"] }],
      },
    }),
  );
  await refuses(t, scene, () => yes(scene, state), { status: 200, reason: "unknown_tool" });
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [POLICY] } }));
  await stillGood(t, scene, state);
});

t.test("channels in which nobody is asked", async (t) => {
  const scene = await open(t, {}, [POLICY], { tasks: "pass", legacy: "pass" });
  const send = (body: string, headers: Record<string, string | undefined> = {}) =>
    scene.raw(body, TRANSFER, headers);
  const call = '"method":"tools/call","params":{"name":"transfer","arguments":{"to":"x","amount":1}}';
  const plain = { "mcp-protocol-version": undefined, "mcp-method": undefined, "mcp-name": undefined };
  // An older revision.
  for (const version of [undefined, "2025-06-18", "2025-11-25"]) {
    const headers = { ...plain, "mcp-protocol-version": version, "mcp-session-id": "s" };
    await refuses(t, scene, () => send(`{"jsonrpc":"2.0","id":1,${call}}`, headers), {
      status: 200,
      code: -32603,
      reason: "approval_required",
    });
  }
  // Without an id, in an array, as a notification, mixed.
  for (const body of [
    `{"jsonrpc":"2.0",${call}}`,
    `[{"jsonrpc":"2.0","id":1,${call}}]`,
    `{"jsonrpc":"2.0","id":null,${call}}`,
  ]) {
    for (const headers of [plain, {}]) {
      const before = scene.bytesUp();
      const reply = await send(body, headers);
      t.ok(reply.status >= 400, reply.body);
      t.equal(scene.bytesUp(), before);
    }
  }
  // A method that some server may read as the other.
  for (const method of ["Tools/Call", "tools/Call", "TOOLS/CALL", "tools/call ", "prompts/Get"]) {
    const message = { ...TRANSFER, method };
    const headers = { "mcp-method": method.trim() };
    const before = scene.bytesUp();
    const reply = await scene.gateway.call(message, { token: scene.owner, headers });
    t.ok(reply.status >= 400, reply.body);
    const older = await send(`{"jsonrpc":"2.0","id":1,${call.replace("tools/call", method)}}`, plain);
    t.ok(older.status >= 400, older.body);
    t.equal(scene.bytesUp(), before);
  }
  // Tasks are asked about before there is one, and others' methods name no tool.
  const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const task = { ...TRANSFER, params: { ...TRANSFER.params, task: { ttl: 60_000 } } };
  await asksOnly(t, scene, () => scene.gateway.call(task, { token: scene.owner, capabilities }));
  const update = { method: "tasks/update", params: { taskId: "t-1", inputResponses: YES } };
  await refuses(
    t,
    scene,
    () => scene.gateway.call(update, { token: scene.owner, capabilities, headers: { "mcp-name": "t-1" } }),
    {
      status: 200,
      reason: "unknown_task",
    },
  );
});

t.test("what is hidden is not told by a question", async (t) => {
  const policies = [
    { id: "ask", effect: "approve", tools: ["*"] },
    { id: "no", effect: "deny", tools: ["transfer"], principal: { subjects: ["u-2002"] } },
  ];
  const scene = await open(t, { authorization: { default: "deny", policies } });
  const state = await scene.ask();
  const as = (message: Message) => scene.gateway.call(message, { token: scene.stranger });
  // Like a name that nobody has, and refused at the end; approval-oracles.test.ts has the rest.
  const hidden = await asksOnly(t, scene, () => as(TRANSFER));
  const own = { ...TRANSFER.params, requestState: hidden.json.result.requestState, inputResponses: YES };
  await refuses(t, scene, () => as({ ...TRANSFER, params: own }), { status: 200, reason: "unknown_tool" });
  const params = { ...TRANSFER.params, requestState: state, inputResponses: YES };
  await refuses(t, scene, () => as({ ...TRANSFER, id: "x", params }), {
    status: 400,
    reason: "invalid_request_state",
  });
  await stillGood(t, scene, state);
});

t.test("a caller cannot tell the server of an approval", async (t) => {
  const offer = { fields: [{ name: "reason", offer: true }], offer: "meta" };
  const scene = await open(t, {}, [{ ...POLICY, approval: offer }], { legacy: "pass" });
  const forged = { "io.sealgate/approval": { policies: ["ask"], fields: { reason: "forged" } } };
  const twin = { "IO.sealgate/Approval": forged["io.sealgate/approval"] };
  const _meta = { ...meta(), ...forged, ...twin };
  const headers = { "sealgate-approval-reason": "forged" };
  const free = { method: "tools/call", params: { name: "balance", arguments: {}, _meta } };
  await scene.gateway.call(free, { token: scene.owner, headers });
  t.notMatch(scene.upstream.arrived.at(-1)?.body, /forged/);
  t.notMatch(JSON.stringify(scene.upstream.arrived.at(-1)?.headers), /forged/);
  const said = { method: "notifications/roots/list_changed", params: { _meta } };
  const note = JSON.stringify({ jsonrpc: "2.0", ...said });
  const authorization = `Bearer ${scene.owner}`;
  t.equal(
    (await scene.gateway.send({ headers: { ...mirrored(said), authorization }, body: note })).status,
    202,
  );
  const older = { progressToken: "mine", ...forged, ...twin };
  const legacy = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "balance", _meta: older } };
  const old = { ...mirrored(said), authorization, "mcp-protocol-version": "2025-11-25" };
  await scene.gateway.send({ headers: old, body: JSON.stringify(legacy) });
  for (const arrived of scene.upstream.arrived.slice(-2)) t.notMatch(arrived.body, /forged/);
  t.match(scene.upstream.arrived.at(-1)?.json.params, { name: "balance", _meta: { progressToken: "mine" } });
  const params = { ...TRANSFER.params, _meta };
  const asked = await scene.gateway.call({ ...TRANSFER, params }, { token: scene.owner, headers });
  const inputResponses = { approval: { action: "accept", content: { reason: "rent" } } };
  await scene.gateway.call(
    { ...TRANSFER, params: { ...params, requestState: asked.json.result.requestState, inputResponses } },
    { token: scene.owner, headers },
  );
  const arrived = scene.upstream.arrived.at(-1);
  t.same(arrived?.json.params._meta["io.sealgate/approval"], {
    policies: ["ask"],
    fields: { reason: "rent" },
  });
  t.notMatch(arrived?.body, /forged/);
});
