/**
 * `when`: what a server says of its own tools raises a demand and never lowers one. Servers that change their mind, contradict
 * themselves, say nothing, or flood the memory.
 */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { type Arrived, result, type Script, startUpstream } from "../support/upstream.ts";

type Tool = Readonly<Record<string, unknown>>;

const CLEAR = { readOnlyHint: true };
const DONE = '{"resultType":"complete","content":[]}';

async function open(t: Test, when: readonly string[], more: Record<string, unknown> = {}) {
  const shown = { tools: [] as readonly Tool[], text: undefined as string | undefined };
  const calls: Arrived[] = [];
  const script: Script = (arrived, response) => {
    if (arrived.json.method === "tools/list") {
      const text = shown.text ?? JSON.stringify(shown.tools);
      return result(
        arrived,
        response,
        `{"resultType":"complete","tools":${text},"ttlMs":0,"cacheScope":"private"}`,
      );
    }
    if (arrived.json.method === "tools/call") calls.push(arrived);
    // An echo: what a caller sends stands in the result.
    else return result(arrived, response, JSON.stringify({ resultType: "complete", ...arrived.json.params }));
    return result(arrived, response, DONE);
  };
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const { legacy, ...others } = more;
  const sections = {
    ...(legacy === true
      ? { routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }] }
      : {}),
    authorization: { default: "allow", policies: [{ id: "ask", effect: "approve", tools: ["*"], when }] },
    ...others,
  };
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(() => gateway.close(0));
  return {
    gateway,
    calls,
    list: async (...tools: readonly Tool[]) => {
      Object.assign(shown, { tools, text: undefined });
      return gateway.call({ method: "tools/list" });
    },
    listText: async (text: string) => {
      shown.text = text;
      return gateway.call({ method: "tools/list" });
    },
    /** Whether the user is asked before `name` runs. */
    asks: async (name: string): Promise<boolean> => {
      const before = calls.length;
      const reply = await gateway.call({ method: "tools/call", params: { name, arguments: {} } });
      const asked = reply.json.result.resultType === "input_required";
      t.equal(calls.length - before, asked ? 0 : 1, "asked, or carried out");
      return asked;
    },
  };
}

const tool = (name: string, annotations?: unknown): Tool => ({
  name,
  inputSchema: { type: "object" },
  ...(annotations === undefined ? {} : { annotations }),
});

t.test("by annotations and their defaults", async (t) => {
  const cases: readonly (readonly [unknown, boolean, boolean])[] = [
    [{ readOnlyHint: true }, false, false],
    [{ readOnlyHint: true, destructiveHint: false }, false, false],
    [{ readOnlyHint: false, destructiveHint: false }, false, true],
    [{ destructiveHint: false }, false, true],
    [{}, true, true],
    [undefined, true, true],
    [{ destructiveHint: true }, true, true],
    [{ readOnlyHint: false }, true, true],
    // Contradictions, other types and other spellings.
    [{ readOnlyHint: true, destructiveHint: true }, true, true],
    [{ readOnlyHint: "true" }, true, true],
    [{ readOnlyHint: 1 }, true, true],
    [{ destructiveHint: null }, true, true],
    [{ readOnlyHint: true, ReadOnlyHint: false }, true, true],
    [{ readonlyhint: true }, true, true],
    [[{ readOnlyHint: true }], true, true],
    ["readOnly", true, true],
    [null, true, true],
  ];
  for (const [at, [annotations, destructive, notReadOnly]] of cases.entries()) {
    for (const [when, expected] of [
      [["destructive"], destructive],
      [["notReadOnly"], notReadOnly],
      [["destructive", "notReadOnly"], notReadOnly],
    ] as const) {
      const { list, asks } = await open(t, when);
      await list(tool("tool", annotations));
      t.equal(await asks("tool"), expected, `case ${at} ${when}: ${JSON.stringify(annotations)}`);
    }
  }
});

t.test("what was not seen is asked about, look-alikes of what was seen too", async (t) => {
  const { list, asks } = await open(t, ["notReadOnly"]);
  t.equal(await asks("read"), true, "no list was seen");
  await list(tool("read", CLEAR));
  t.equal(await asks("read"), false);
  for (const name of ["Read", "read2", "rеad", "re-ad"])
    t.equal(await asks(name.normalize("NFKD")).catch(() => true), true, name);
});

t.test("what was said once stays", async (t) => {
  const { list, asks } = await open(t, ["destructive"]);
  await list(tool("a", CLEAR), tool("b", { destructiveHint: true }));
  t.same([await asks("a"), await asks("b")], [false, true]);
  await list(tool("a", { destructiveHint: true }), tool("b", CLEAR));
  t.same([await asks("a"), await asks("b")], [true, true], "raised at once, lowered never");
  await list(tool("a", CLEAR), tool("b", CLEAR));
  await list();
  t.same([await asks("a"), await asks("b")], [true, true]);
  await list(tool("c", CLEAR), tool("c", { destructiveHint: true }), tool("d"), tool("d", CLEAR));
  t.same([await asks("c"), await asks("d")], [true, true], "one name, two tools");
});

t.test("a list that cannot be read teaches nothing", async (t) => {
  const { listText, asks } = await open(t, ["destructive"]);
  for (const text of [
    '[{"name":"a","Name":"b","annotations":{"readOnlyHint":true}}]',
    '[{"name":"a","annotations":{"readOnlyHint":true},"Annotations":{}}]',
    '[{"name":"a","annotations":{"readOnlyHint":true},"annotations":{}}]',
    '[{"name":["a"],"annotations":{"readOnlyHint":true}}]',
    '{"a":{"name":"a","annotations":{"readOnlyHint":true}}}',
  ]) {
    await listText(text);
    t.equal(await asks("a"), true, text);
  }
});

t.test("what stands in other answers teaches nothing: callers may have put it there", async (t) => {
  const { gateway, asks } = await open(t, ["destructive"], { legacy: true });
  for (const method of ["vendor/echo", "prompts/list", "completion/complete", "server/discover"]) {
    const params = { tools: [tool("wipe", CLEAR)], ref: { type: "ref/prompt", name: "x" } };
    await gateway.call({ method, params });
    await gateway.send({
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    t.equal(await asks("wipe"), true, method);
  }
});

t.test("a flood of tools makes no known one forgotten", async (t) => {
  const { list, asks } = await open(t, ["destructive"]);
  await list(tool("wipe", { destructiveHint: true }));
  for (let page = 0; page < 6; page++)
    await list(...Array.from({ length: 2_000 }, (_, i) => tool(`t${page}-${i}`, CLEAR)));
  await list(tool("wipe", CLEAR), tool("late", CLEAR));
  t.equal(await asks("wipe"), true);
  t.equal(await asks("late"), true, "beyond the bound nothing is known");
  t.equal(await asks("t0-5"), false);
});

t.test("such a policy allows nothing, whatever the annotations", async (t) => {
  const { list, asks, gateway, calls } = await open(t, ["destructive"], {
    authorization: {
      default: "deny",
      policies: [
        { id: "read", effect: "allow", tools: ["read_*"] },
        { id: "ask", effect: "approve", tools: ["*"], when: ["destructive"] },
      ],
    },
  });
  const listed = await list(tool("read_a", CLEAR), tool("read_b"), tool("wipe"), tool("look", CLEAR));
  t.same(
    listed.json.result.tools.map(({ name }: Tool) => name),
    ["read_a", "read_b"],
    "lists do not depend on what tools are said to do",
  );
  t.same([await asks("read_a"), await asks("read_b")], [false, true]);
  for (const name of ["wipe", "look"]) {
    const before = calls.length;
    const reply = await gateway.call({ method: "tools/call", params: { name, arguments: {} } });
    t.match(reply.json, { error: { data: { reason: "unknown_tool" } } });
    t.equal(calls.length, before);
  }
});

t.test("an approve without when is not lowered by anything, an allow beside it least of all", async (t) => {
  const { list, asks } = await open(t, ["destructive"], {
    authorization: {
      default: "allow",
      policies: [
        { id: "all", effect: "allow" },
        { id: "ask", effect: "approve", tools: ["pay"] },
        { id: "hints", effect: "approve", tools: ["*"], when: ["destructive"] },
      ],
    },
  });
  await list(tool("pay", CLEAR), tool("read", CLEAR));
  t.same([await asks("pay"), await asks("read")], [true, false]);
});
