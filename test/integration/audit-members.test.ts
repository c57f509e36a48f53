/** What single members of records say, each on real requests; the schema itself is held to by every gateway of a test. */
import t from "tap";
import { asksOnce, DONE, setScene, TRANSFER, YES } from "../security/scene.ts";
import { meta } from "../support/gateway.ts";
import { result } from "../support/upstream.ts";

t.test("error codes of servers, as far as they are whole numbers", async (t) => {
  const { gateway, upstream } = await setScene(t);
  for (const [code, shown] of [
    ["-32000", -32_000],
    ["7", 7],
    ["1e999", undefined],
    ["1.5", undefined],
    ["12345678901234567890", undefined],
  ] as const) {
    upstream.script = (arrived, response) => {
      const { id } = arrived.json ?? {};
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":${code},"message":"no"}}`);
    };
    await gateway.call(TRANSFER);
    t.match(gateway.audit.at(-1), { outcome: /^(error|refused)$/, upstreamStatus: 200 }, code);
    t.equal(gateway.audit.at(-1)?.upstreamCode, shown, code);
  }
  upstream.script = (arrived, response) =>
    result(arrived, response, '{"content":[],"isError":true,"resultType":"complete"}');
  await gateway.call(TRANSFER);
  t.match(gateway.audit.at(-1), { outcome: "tool_error" });
  t.notOk("upstreamCode" in (gateway.audit.at(-1) ?? {}));
});

t.test("sensitivity: of policies that match, or else of the route; of what is denied, too", async (t) => {
  const { gateway } = await setScene(t, {
    script: (arrived, response) => result(arrived, response, DONE),
    sections: (url) => ({
      authorization: {
        default: "allow",
        policies: [
          { id: "no", effect: "deny", tools: ["secret_*"], sensitivity: "secret" },
          { id: "2nd", effect: "allow", tools: ["pay*", "read"], sensitivity: "financial" },
          { id: "ask", effect: "approve", tools: ["pay_out"], sensitivity: "critical" },
        ],
      },
      routes: [
        { path: "/mcp", upstream: { url }, sensitivity: "internal" },
        { path: "/open", upstream: { url } },
      ],
    }),
  });
  const labels = async (name: string, path = "/mcp") => {
    await gateway.call({ method: "tools/call", params: { name, arguments: {} } }, { path });
    return gateway.audit.at(-1)?.sensitivity;
  };
  t.same(await labels("pay"), ["financial"]);
  t.same(await labels("pay_out"), ["financial", "critical"]);
  t.same(await labels("secret_x"), ["secret"]);
  t.same(await labels("other"), ["internal"]);
  t.same(await labels("other", "/open"), undefined);
  t.same(await labels("read", "/open"), ["financial"]);
});

t.test("what clients call themselves only where it is asked for; what they declare always", async (t) => {
  const { gateway } = await setScene(t, { script: (arrived, response) => result(arrived, response, DONE) });
  const info = { name: "x\u202e".repeat(200), version: "1" };
  const _meta = {
    ...meta({ elicitation: { form: {}, url: {} }, roots: {} }),
    "io.modelcontextprotocol/clientInfo": info,
  };
  const send = async () => {
    await gateway.call({ method: "tools/call", params: { name: "t", arguments: {}, _meta } });
    return gateway.audit.at(-1);
  };
  t.same((await send())?.declared, ["form", "url", "roots"]);
  t.notOk("client" in ((await send()) ?? {}));
  t.equal(await gateway.configure({ audit: { client: true } }), true);
  t.same((await send())?.client, { name: `${"x?".repeat(64)}…`, version: "1" });
});

t.test("plain calls have nothing that is digested", async (t) => {
  const { gateway } = await setScene(t, { script: (arrived, response) => result(arrived, response, DONE) });
  await gateway.call(TRANSFER);
  const names = Object.keys(gateway.audit.at(-1) ?? {});
  for (const name of ["params", "rpcId", "questions", "brought", "chain", "roundLimit", "replay"])
    t.notOk(names.includes(name), name);
});

t.test(
  "a state that is refused and asked about again: a chain of its own, and which state came",
  async (t) => {
    const { gateway, ask } = await setScene(t, {
      script: asksOnce,
      sections: (url) => ({
        roundTrip: { rejection: "reprompt" },
        routes: [{ path: "/mcp", upstream: { url } }],
      }),
    });
    const state = await ask();
    const first = gateway.audit.at(-1);
    const params = {
      ...TRANSFER.params,
      arguments: { to: "acct-6" },
      requestState: state,
      inputResponses: YES,
    };
    await gateway.call({ ...TRANSFER, params });
    const again = gateway.audit.at(-1);
    t.match(again, { state: "reprompted", cause: "params", outcome: "input_required", round: 1 });
    t.match(again, { brought: { chain: first?.chain, round: 1, jti: first?.jti, rpcId: first?.rpcId } });
    t.not(again?.chain, first?.chain);
    await gateway.call({ ...TRANSFER, params: { ...params, requestState: `${state.slice(0, -8)}AAAAAAAA` } });
    t.notOk("brought" in (gateway.audit.at(-1) ?? {}), "what does not open is nobody's");
  },
);

t.test("a repeat of a retry whose answer was kept, and a replay of it", async (t) => {
  const { gateway, ask, retry, owner } = await setScene(t, {
    users: true,
    script: asksOnce,
    sections: () => ({ redemption: { store: "memory", results: "1m" } }),
  });
  const state = await ask();
  await retry(state, {}, { token: owner });
  t.match(gateway.audit.at(-1), { replay: "first_use", state: "redeemed" });
  await retry(state, {}, { token: owner });
  t.match(gateway.audit.at(-1), { replay: "repeated", state: "repeated", outcome: "complete" });
  await retry(state, { inputResponses: { confirm: { action: "decline" } } }, { token: owner });
  t.match(gateway.audit.at(-1), {
    replay: "already_redeemed",
    state: "already_redeemed",
    outcome: "refused",
  });
});
