/** Lists in pages, filtered lists, and what a list teaches about headers: also when the server changes it behind the gateway. */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { LIST, SERVER, type Stage, setStages, tools } from "./stage.ts";

const tool = (name: string, properties: string): string =>
  `{"name":"${name}","inputSchema":{"type":"object","properties":{${properties}}}}`;
const region = (header: string, of = "region"): string =>
  `"${of}":{"type":"string","x-mcp-header":"${header}"}`;

async function enforcing(t: Test): Promise<Stage> {
  const [stage] = await setStages(t);
  if (stage?.mode !== "enforce") throw new Error("no stage");
  return stage;
}

/** A stage where one rule is enforced and all others only report. */
async function enforcingOne(t: Test, rule: string): Promise<Stage> {
  const [, stage] = await setStages(t);
  if (stage?.mode !== "report") throw new Error("no stage");
  const gateway = await startGateway(stage.upstream.url, { rules: { [rule]: "enforce" } });
  t.teardown(() => gateway.close(0));
  return {
    ...stage,
    gateway,
    answered: (message, text, options) => {
      stage.upstream.script = (arrived, response) => result(arrived, response, text);
      return gateway.call(message, options);
    },
  };
}

const call = (stage: Stage, args: object, headers: Record<string, string> = {}, name = "route") =>
  stage.answered(
    { method: "tools/call", params: { name, arguments: args } },
    `{"resultType":"complete","content":[],${SERVER}}`,
    {
      headers,
    },
  );
const list = (stage: Stage, items: string, cursor?: string) =>
  stage.answered({ ...LIST, ...(cursor === undefined ? {} : { params: { cursor } }) }, tools(items));

t.test("a tool that no list has shown is only forwarded", async (t) => {
  const stage = await enforcing(t);
  const reply = await call(stage, { region: "eu" }, { "mcp-param-region": "us" });
  t.equal(reply.status, 200);
  t.equal(stage.last()?.headers["mcp-param-region"], "us");
});

t.test(
  "tools of every page are known, and a difference is refused before the server hears of it",
  async (t) => {
    const stage = await enforcing(t);
    await list(stage, tool("first", region("Region")));
    await list(
      stage,
      tool("second", `"where":{"type":"object","properties":{${region("Zone", "zone")}}}`),
      "2",
    );
    const before = stage.upstream.arrived.length;
    const wrong = await call(stage, { region: "eu" }, { "mcp-param-region": "us" }, "first");
    t.match(wrong, { status: 400, json: { error: { code: -32020, data: { header: "mcp-param-region" } } } });
    t.equal((await call(stage, { where: { zone: "a" } }, { "mcp-param-zone": "b" }, "second")).status, 400);
    t.equal(stage.upstream.arrived.length, before);
    t.equal((await call(stage, { where: { zone: "a" } }, { "mcp-param-zone": "a" }, "second")).status, 200);
  },
);

t.test(
  "a client with the newer list is not refused: a header that vanished, moved or was renamed",
  async (t) => {
    const strict = await enforcingOne(t, "http/param-header-differs");
    await list(strict, tool("route", `${region("Region")},"zone":{"type":"string"}`));
    for (const [args, headers] of [
      [{ region: "eu" }, {}],
      [{ zone: "b" }, { "mcp-param-region": "b" }],
      [{ region: "eu", zone: "b" }, { "mcp-param-region": "b" }],
      [{ region: "eu" }, { "mcp-param-area": "eu" }],
      [{ place: { region: "eu" } }, { "mcp-param-region": "eu" }],
    ] as const)
      t.equal((await call(strict, args, headers)).status, 200, JSON.stringify([args, headers]));
    t.equal((await call(strict, { region: "eu" }, { "mcp-param-region": "us" })).status, 400);
  },
);

t.test("a header that moved excuses no other", async (t) => {
  const stage = await enforcingOne(t, "http/param-header-differs");
  await list(stage, tool("route", `${region("Region")},${region("Area", "area")},"zone":{"type":"string"}`));
  const moved = { "mcp-param-region": "b", "mcp-param-area": "x" };
  for (const [args, status] of [
    [{ region: "eu", area: "x", zone: "b" }, 200],
    [{ region: "x", area: "b" }, 200],
    [{ region: "eu", area: "y", zone: "b" }, 400],
    [{ region: "eu", area: "y", zone: "x" }, 400],
    [{ zone: "b" }, 400],
  ] as const) {
    const reply = await call(stage, args, moved);
    t.equal(reply.status, status, JSON.stringify(args));
    if (status === 400) {
      const header = "zone" in args && args.zone === "b" ? "mcp-param-area" : "mcp-param-region";
      t.match(reply.json.error, { code: -32020, data: { header } });
    }
  }
});

t.test("a client with the older list is not refused either", async (t) => {
  const stage = await enforcing(t);
  await list(stage, tool("route", `${region("Region")},"zone":{"type":"string"}`));
  await list(stage, tool("route", `"region":{"type":"string"},${region("Region", "zone")}`));
  t.equal((await call(stage, { region: "eu", zone: "b" }, { "mcp-param-region": "eu" })).status, 200);
  t.equal((await call(stage, { region: "eu", zone: "b" }, { "mcp-param-region": "b" })).status, 200);
  t.equal((await call(stage, { region: "eu", zone: "b" }, { "mcp-param-region": "c" })).status, 400);
  await list(stage, tool("route", '"region":{"type":"string"}'));
  t.equal((await call(stage, { region: "eu" }, { "mcp-param-region": "c" })).status, 200, "unknown again");
});

t.test("an illegal annotation is logged with the tool and the reason, and teaches nothing", async (t) => {
  const stage = await enforcing(t);
  const reply = await list(stage, `${tool("good", region("Region"))},${tool("bad", region("My Region"))}`);
  t.same(
    reply.json.result.tools.map(({ name }: { name: string }) => name),
    ["good"],
  );
  const line =
    stage.gateway
      .logged()
      .split("\n")
      .find((text) => text.includes('"about":"bad"')) ?? "{}";
  t.match(JSON.parse(line), {
    rule: "http/param-annotation",
    detail: "token",
    mode: "enforce",
    msg: "rule broken",
  });
  t.equal((await call(stage, { region: "eu" }, { "mcp-param-region": "us" }, "bad")).status, 200);
});

t.test("a page that is filtered empty keeps its cursor and leaves as private", async (t) => {
  const page = tools(tool("admin_x", ""), '"ttlMs":60000,"cacheScope":"public","nextCursor":"c 2"');
  const upstream = await startUpstream((arrived, response) => result(arrived, response, page));
  t.teardown(() => upstream.close());
  const policies = [{ id: "no", effect: "deny", tools: ["admin_*"] }];
  const gateway = await startGateway(upstream.url, { authorization: { default: "allow", policies } });
  t.teardown(() => gateway.close(0));
  for (const cursor of [undefined, "c 1"]) {
    const { json } = await gateway.call({ ...LIST, ...(cursor === undefined ? {} : { params: { cursor } }) });
    t.match(json.result, { tools: [], nextCursor: "c 2", ttlMs: 0, cacheScope: "private" });
    t.equal(upstream.arrived.at(-1)?.json.params.cursor, cursor);
  }
});

t.test("of a tool that is hidden no header is judged: it reads as an unknown name", async (t) => {
  const upstream = await startUpstream((arrived, response) =>
    result(arrived, response, tools(`${tool("admin_x", region("Region"))},${tool("ok", region("Region"))}`)),
  );
  t.teardown(() => upstream.close());
  const policies = [{ id: "no", effect: "deny", tools: ["admin_*"] }];
  const gateway = await startGateway(upstream.url, { authorization: { default: "allow", policies } });
  t.teardown(() => gateway.close(0));
  await gateway.call(LIST);
  const ask = (name: string) =>
    gateway.call(
      { id: 1, method: "tools/call", params: { name, arguments: { region: "eu" } } },
      { headers: { "mcp-param-region": "us" } },
    );
  const [hidden, unknown] = [await ask("admin_x"), await ask("admin_y")];
  t.equal(hidden.status, unknown.status);
  const bare = (body: string): string => body.replace(/"requestId":"[^"]*"/, "");
  t.equal(bare(hidden.body), bare(unknown.body));
  t.equal((await ask("ok")).json.error.code, -32020);
});
