/** What policy is held against is bounded, stands in one case only, and is judged wherever a client could read it. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { answers, DONE, META, passes, refuses, request, setScene } from "./scene.ts";

const COMPLETED = '{"resultType":"complete","completion":{"values":[]}}';
const scene = await setScene(t, {
  script: answers(COMPLETED),
  sections: (url) => ({
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
    authorization: {
      policies: [
        { id: "p", effect: "allow", prompts: ["public*"], tools: ["a*"] },
        { id: "r", effect: "allow", resources: ["file:///public/*"] },
        { id: "v", effect: "allow", methods: ["vendor/*"] },
      ],
    },
  }),
});
const { gateway } = scene;
const LEGACY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const argument = { name: "a", value: "b" };
const completing = (ref: object, more: object = {}): Message => ({
  method: "completion/complete",
  params: { ref, argument, ...more },
});
const listening = (params: object): Message => ({ method: "subscriptions/listen", params: { ...params } });
const uri = (bytes: number): string => "file:///public/".padEnd(bytes, "a");
const PARAMS = { status: 400, code: -32602, reason: "invalid_params" };
const REQUEST = { status: 400, code: -32600, reason: "invalid_request" };

t.test("a name longer than any is refused before policy is asked, in both eras", async (t) => {
  const long = "a".repeat(1025);
  const messages: Message[] = [
    completing({ type: "ref/resource", uri: uri(8193) }),
    completing({ type: "ref/resource", uri: `file:///public/${"й".repeat(4090)}` }),
    completing({ type: "ref/prompt", name: `public${long}` }),
    listening({ notifications: { resourceSubscriptions: ["file:///public/a", uri(8193)] } }),
    listening({ notifications: { resourceSubscriptions: [`file:///public/a${" ".repeat(300_000)}b`] } }),
  ];
  for (const message of messages) {
    await refuses(t, scene, () => gateway.call(message), PARAMS);
    t.match(gateway.audit.at(-1), { cause: "name_too_long" });
  }
  await refuses(t, scene, () => gateway.call({ method: "tools/call", params: { name: long } }), PARAMS);
  for (const [method, params] of [
    ["tools/call", { name: long }],
    ["resources/subscribe", { uri: uri(8193) }],
  ] as const) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    await refuses(t, scene, () => gateway.send({ headers: LEGACY, body }), PARAMS);
  }
});

t.test("honest: names and uris as long as the bound, a thousand subscriptions", async (t) => {
  await passes(t, scene, () => gateway.call(completing({ type: "ref/resource", uri: uri(8192) })));
  await passes(t, scene, () =>
    gateway.call(completing({ type: "ref/prompt", name: "public".padEnd(1024, "a") })),
  );
  const resourceSubscriptions = Array.from({ length: 1000 }, (_, index) => `file:///public/${index}`);
  const full = listening({ notifications: { toolsListChanged: true, resourceSubscriptions } });
  await passes(t, scene, () => gateway.call(full));
  resourceSubscriptions.push("file:///public/x");
  await refuses(t, scene, () => gateway.call(full), PARAMS);
  t.match(gateway.audit.at(-1), { cause: "too_many_subscriptions" });
});

t.test("members that policy reads stand in one case", async (t) => {
  const hidden = { type: "ref/prompt", name: "secret" };
  const shown = { type: "ref/prompt", name: "public" };
  for (const message of [
    completing(shown, { Ref: hidden }),
    completing({ ...shown, Name: "secret" }),
    completing({ ...shown, TYPE: "ref/resource" }),
    completing({ type: "ref/resource", uri: "file:///public/a", URI: "file:///secret" }),
    completing(shown, { Argument: argument }),
    listening({ notifications: {}, Notifications: { resourceSubscriptions: ["file:///secret"] } }),
    listening({ notifications: { ResourceSubscriptions: ["file:///secret"] } }),
    listening({ notifications: { "re\u017fourceSubscriptions": ["file:///secret"] } }),
    listening({ notifications: { resourceSubscriptions: [], RESOURCESUBSCRIPTIONS: ["file:///secret"] } }),
  ]) {
    await refuses(t, scene, () => gateway.call(message), REQUEST);
    t.match(gateway.audit.at(-1), { cause: "case_twin" });
  }
  const odd = listening({ notifications: [{ resourceSubscriptions: ["file:///secret"] }] });
  await refuses(t, scene, () => gateway.call(odd), PARAMS);
  await passes(t, scene, () =>
    gateway.call(completing(shown, { context: { arguments: { Name: "x", name: "y" } } })),
  );
  const vendor = { method: "vendor/x", params: { Ref: 1, ref: 2, Notifications: 3 } };
  await passes(t, scene, () => gateway.call(vendor));
});

t.test("objects of the protocol have few members; arguments may have many", async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `"x${index}":0`).join();
  const like: Message = { method: "tools/call", params: { name: "a" } };
  const meta = (inner: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":${inner}}}`;
  const capabilities = META.replace('"elicitation":{', `${many(256)},"elicitation":{`);
  t.not(capabilities, META);
  for (const body of [
    request(`"name":"a",${many(255)}`),
    request('"name":"a"').replace("{", `{${many(253)},`),
    meta(META.replace("{", `{${many(256)},`)),
    meta(capabilities),
  ]) {
    await refuses(t, scene, () => scene.raw(body, like), REQUEST);
    t.match(gateway.audit.at(-1), { cause: "too_many_members" });
  }
  const method = "vendor/".padEnd(257, "x");
  const legacy = `{"jsonrpc":"2.0","id":1,"method":"${method}"}`;
  await refuses(t, scene, () => gateway.send({ headers: LEGACY, body: legacy }), REQUEST);
  await passes(t, scene, () => scene.raw(request(`"name":"a",${many(254)}`), like));
  await passes(t, scene, () => scene.raw(request(`"name":"a","arguments":{${many(5000)}}`), like));
});

t.test("lists of the server: filtered under any name, refused in two cases, data left alone", async (t) => {
  const both =
    '{"resultType":"complete","tools":[{"name":"hidden"}],"resources":[{"uri":"file:///secret","name":"n"}],"prompts":[{"name":"public"},{"name":"public","Name":"x"}]}';
  scene.upstream.script = answers(both);
  for (const method of ["prompts/list", "tools/list", "server/discover"]) {
    const { json } = await gateway.call({ method });
    t.match(json.result, { tools: [], resources: [], prompts: [{ name: "public" }] }, method);
    t.equal(json.result.prompts.length, 1);
  }
  const data = await gateway.call({ method: "tools/call", params: { name: "a" } });
  t.match(data.json.result.tools, [{ name: "hidden" }]);
  for (const text of ['{"prompts":[],"Prompts":[{"name":"secret"}]}', '{"Tools":[]}', '{"tools":{"0":{}}}']) {
    scene.upstream.script = answers(text);
    const { json } = await gateway.call({ method: "prompts/list" });
    t.equal(json.error?.data.reason, "upstream_fault", text);
  }
  const uris = ["file:///public/a", uri(8193), `file:///a${" ".repeat(100_000)}b`];
  scene.upstream.script = answers(
    JSON.stringify({ resources: uris.map((each) => ({ uri: each, name: "n" })) }),
  );
  const { json } = await gateway.call({ method: "resources/list" });
  t.same(json.result.resources, [{ uri: "file:///public/a", name: "n" }]);
  scene.upstream.script = answers(DONE);
});

t.test(
  "a modern notifications/cancelled does not go up, since it could be about anybody's request",
  async (t) => {
    const before = scene.bytesUp();
    const cancelled = { id: null, method: "notifications/cancelled", params: { requestId: 7 } };
    const reply = await gateway.call(cancelled);
    t.match(reply, { status: 202, body: "" });
    t.equal(scene.bytesUp(), before);
    t.match(gateway.audit.at(-1), { outcome: "accepted", method: "notifications/cancelled" });
    const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}';
    scene.upstream.script = (_, response) => void response.writeHead(202).end();
    t.equal((await gateway.send({ headers: LEGACY, body })).status, 202);
    t.equal(scene.upstream.arrived.at(-1)?.body, body, "of an older revision it goes up");
    const changed = { id: null, method: "notifications/roots/list_changed" };
    t.equal((await gateway.call(changed)).status, 202);
    t.equal(scene.upstream.arrived.at(-1)?.json.method, "notifications/roots/list_changed");
  },
);

t.test("legacy streams: updates of hidden resources are dropped, their ids stay", async (t) => {
  const update = (of: string) =>
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: of } });
  const events = ["file:///secret", "file:///public/a", uri(8193), "file:///public/../secret"];
  scene.upstream.script = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [index, of] of events.entries()) response.write(`id: e${index}\ndata: ${update(of)}\n\n`);
    response.end(`data: ${update("file:///secret")}\n\n`);
  };
  const headers = { accept: "text/event-stream", "mcp-session-id": "s" };
  const { body } = await gateway.send({ method: "GET", headers });
  t.equal(body.match(/data: \{/g)?.length, 1);
  t.ok(body.includes(`data: ${update("file:///public/a")}`));
  t.notMatch(body, /secret|aaaa/);
  for (const id of ["e0", "e1", "e2", "e3"]) t.ok(body.includes(`id: ${id}\n`), id);
  t.equal(body.match(/^event:/gm)?.length, 4);
});
