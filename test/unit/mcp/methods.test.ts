import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import { parseClientMessage } from "../../../src/mcp/message.ts";
import {
  isTaskMethod,
  LIST_METHODS,
  listenedResources,
  mirroredName,
  targetOf,
} from "../../../src/mcp/methods.ts";

function open(method: string, params: string) {
  const doc = scan(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`), {
    bytes: 1 << 20,
    depth: 64,
  });
  const message = parseClientMessage(doc);
  if (message.type !== "request") throw new Error("a request");
  return { doc, message };
}

t.test("finds what a call is aimed at", async (t) => {
  const cases: [method: string, params: string, target: object | undefined, mirrored: string | undefined][] =
    [
      ["tools/call", '{"name":"x"}', { kind: "tool", name: "x" }, "x"],
      ["tools/call", '{"name":""}', { kind: "tool", name: "" }, ""],
      ["tools/call", '{"name":"\\u0078"}', { kind: "tool", name: "x" }, "x"],
      ["prompts/get", '{"name":"p"}', { kind: "prompt", name: "p" }, "p"],
      ["resources/read", '{"uri":"file:///п"}', { kind: "resource", name: "file:///п" }, "file:///п"],
      ["resources/subscribe", '{"uri":"a:b"}', { kind: "resource", name: "a:b" }, undefined],
      [
        "completion/complete",
        '{"ref":{"type":"ref/prompt","name":"p"}}',
        { kind: "prompt", name: "p" },
        undefined,
      ],
      ["completion/complete", '{"ref":{"type":"ref/resource","uri":"a:{b}"}}', { kind: "resource", name: "a:{b}" }, undefined], // biome-ignore format: one case, one line
      ["tools/list", '{"name":"x"}', undefined, undefined],
      ["Tools/call", "{}", undefined, undefined],
      ["tasks/get", '{"taskId":"t"}', undefined, "t"],
      ["tasks/list", "{}", undefined, undefined],
    ];
  for (const [method, params, target, mirrored] of cases) {
    const { doc, message } = open(method, params);
    t.same(targetOf(doc, message), target, `${method} ${params}`);
    t.equal(mirroredName(doc, message), mirrored, `${method} ${params}`);
  }
});

t.test("a name that cannot be read is refused", async (t) => {
  const cases: [method: string, params: string, detail: string][] = [
    ["tools/call", "{}", "name"],
    ["tools/call", '{"name":null}', "name"],
    ["tools/call", '{"name":["x"]}', "name"],
    ["tools/call", '{"uri":"x"}', "name"],
    ["tools/call", '{"name":"\\ud800"}', "lone_surrogate"],
    ["prompts/get", '{"name":1}', "name"],
    ["resources/read", '{"name":"x"}', "uri"],
    ["completion/complete", "{}", "type"],
    ["completion/complete", '{"ref":{"type":"ref/tool","name":"x"}}', "ref"],
    ["completion/complete", '{"ref":{"type":"ref/prompt","uri":"x"}}', "name"],
  ];
  for (const [method, params, detail] of cases) {
    const { doc, message } = open(method, params);
    t.throws(() => targetOf(doc, message), { code: "invalid_params", detail }, `${method} ${params}`);
  }
  const { doc, message } = open("tasks/update", "{}");
  t.throws(() => mirroredName(doc, message), { code: "invalid_params", detail: "taskId" });
});

t.test("the resources of a listen request", async (t) => {
  const listen = (params: string) => {
    const { doc, message } = open("subscriptions/listen", params);
    return listenedResources(doc, message);
  };
  t.same(listen('{"notifications":{"toolsListChanged":true}}'), []);
  t.same(listen('{"notifications":{"resourceSubscriptions":["a:1","b:2"]}}'), ["a:1", "b:2"]);
  t.throws(() => listen('{"notifications":{"resourceSubscriptions":"a:1"}}'), { code: "invalid_params" });
  t.throws(() => listen('{"notifications":{"resourceSubscriptions":[1]}}'), { code: "invalid_params" });
  const { doc, message } = open("tools/list", '{"notifications":{"resourceSubscriptions":["a:1"]}}');
  t.same(listenedResources(doc, message), [], "only on listen");
});

t.test("lists and tasks by name", async (t) => {
  t.same(LIST_METHODS.get("resources/templates/list"), {
    kind: "resource",
    items: "resourceTemplates",
    name: "uriTemplate",
  });
  for (const method of ["tasks/get", "tasks/x", "notifications/tasks", "notifications/tasks/status"])
    t.ok(isTaskMethod(method), method);
  for (const method of ["tasks", "tools/tasks/", "notifications/tasksx"])
    t.notOk(isTaskMethod(method), method);
});
