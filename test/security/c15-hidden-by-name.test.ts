/** C15: what is hidden from the list can still be called. */
import t from "tap";
import { type Message, startGateway } from "../support/gateway.ts";
import { answers, DONE, INNER, passes, QUESTION, refuses, setScene } from "./scene.ts";

process.env["SG_KEY_C15"] = "one secret for the gateway before and after";
const keys = { primary: "k", ring: [{ id: "k", secret: { env: "SG_KEY_C15" } }] };
const legacy = (url: string) => [{ path: "/mcp", upstream: { url }, legacy: "pass" }];
const scene = await setScene(t, {
  script: answers(DONE),
  sections: (url) => ({
    keys,
    routes: legacy(url),
    authorization: {
      policies: [
        { id: "lists", effect: "allow", methods: ["*/list", "resources/templates/list"] },
        { id: "notes", effect: "allow", methods: ["tools/call"], tools: ["read_note", "note_*"] },
        { id: "prompt", effect: "allow", methods: ["prompts/get"], prompts: ["greet"] },
        { id: "files", effect: "allow", methods: ["resources/read"], resources: ["file:///notes/*"] },
        { id: "never", effect: "deny", tools: ["note_secret"] },
      ],
    },
  }),
});
const tool = (name: string): Message => ({ method: "tools/call", params: { name, arguments: { id: 1 } } });
const prompt = (name: string): Message => ({ method: "prompts/get", params: { name } });
const read = (uri: string): Message => ({ method: "resources/read", params: { uri } });

const HIDDEN: readonly Message[] = [
  ...[
    "delete_note",
    "read_note ",
    " read_note",
    "Read_note",
    "READ_NOTE",
    "read_notes",
    "",
    "*",
    "note_secret",
  ].map(tool),
  ...["read_note\u0000", "read_note\u200b"].map(tool),
  ...["admin", "greet ", "read_note"].map(prompt),
  ...[
    "file:///etc/passwd",
    "FILE:///notes/a",
    "file:///notes",
    "file:/notes/a",
    "http://file:///notes/a",
  ].map(read),
];
const withName = (message: Message): { headers: Record<string, string> } => {
  const name = String(message.params?.["name"] ?? message.params?.["uri"]);
  return { headers: { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` } };
};
const TEXTS: Record<string, string> = {
  "tools/call": "Unknown tool",
  "prompts/get": "Unknown prompt",
  "resources/read": "Resource not found",
};

t.test("refused in every form, with the answer that an unknown name gets", async (t) => {
  for (const message of HIDDEN) {
    const call = () => scene.gateway.call({ ...message, id: 4 }, withName(message));
    const { json } = await refuses(t, scene, call, { status: 200, code: -32602 });
    t.equal(json.error.message, TEXTS[message.method]);
    t.notMatch(JSON.stringify(json), /polic|forbid|allow/);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 4, method: message.method, params: message.params });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    await refuses(t, scene, () => scene.gateway.send({ headers, body }), { status: 200, code: -32602 });
  }
});

t.test("the same bytes whether policy hides it or the server does not know it", async (t) => {
  const hidden = await scene.gateway.call({ ...tool("delete_note"), id: 4 });
  scene.upstream.script = (arrived, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const error = { code: -32602, message: "Tool note_gone not found", data: { hint: "server" } };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, error }));
  };
  const unknown = await scene.gateway.call({ ...tool("note_gone"), id: 4 });
  scene.upstream.script = answers(DONE);
  const blank = (text: string): string => text.replace(/"requestId":"[^"]*"/, "");
  t.equal(blank(unknown.body), blank(hidden.body));
  t.equal(unknown.status, hidden.status);
});

t.test("honest: what is shown can be called", async (t) => {
  for (const message of [tool("read_note"), tool("note_1"), prompt("greet"), read("file:///notes/a")]) {
    await passes(t, scene, () => scene.gateway.call(message));
  }
});

t.test("methods that no policy allows, and no policy knows", async (t) => {
  for (const method of ["completion/complete", "vendor/run", "tools/Call", "logging/setLevel"]) {
    const params = { name: "read_note", ref: { type: "ref/prompt", name: "admin" } };
    const call = () => scene.gateway.call({ method, params }, { headers: { "mcp-name": "read_note" } });
    const { json } = await refuses(t, scene, call, { status: method.startsWith("completion") ? 200 : 404 });
    t.ok([-32601, -32602].includes(json.error.code), method);
  }
});

t.test("updates of a hidden resource cannot be listened to", async (t) => {
  const listen = (uri: string): Message => ({
    method: "subscriptions/listen",
    params: { notifications: { resourceSubscriptions: ["file:///notes/a", uri] } },
  });
  await refuses(t, scene, () => scene.gateway.call(listen("file:///etc/passwd")), {
    status: 200,
    code: -32602,
  });
});

t.test("a state is no permission: policy is asked again on the retry", async (t) => {
  const before = await startGateway(scene.upstreamUrl, { keys, routes: legacy(scene.upstreamUrl) });
  t.teardown(() => before.close(0));
  scene.upstream.script = answers(
    JSON.stringify({
      resultType: "input_required",
      requestState: INNER,
      inputRequests: { confirm: QUESTION },
    }),
  );
  const params = { name: "delete_note", arguments: { id: 1 } };
  const { requestState } = (await before.call(tool("delete_note"))).json.result;
  const { json } = await refuses(t, scene, () => scene.retry(requestState, { params }), {
    status: 200,
    code: -32602,
  });
  t.equal(json.error.message, "Unknown tool");
});
