/** C11: the client brings the answer along without ever being asked. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { passes, refusesState, request, setScene, YES } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url } },
      { path: "/drop", upstream: { url }, roundTrip: { answersWithoutState: "drop" } },
    ],
  }),
});
const DELETE: Message = {
  method: "tools/call",
  params: { name: "delete_project", arguments: { id: "p-77" } },
};
const bare = (answers: unknown, message = DELETE, path = "/mcp") =>
  scene.gateway.call(
    { ...message, id: "x", params: { ...message.params, inputResponses: answers } },
    { path },
  );

t.test("answers alone are refused on every method, whatever they look like", async (t) => {
  const shapes = [YES, {}, [], "yes", 1, true, { confirm: null }, { confirm: { action: "decline" } }];
  for (const answers of shapes)
    await refusesState(t, scene, () => bare(answers), { id: '"x"', cause: "absent" });
  for (const message of [
    { method: "prompts/get", params: { name: "p" } },
    { method: "resources/read", params: { uri: "file:///a" } },
  ]) {
    await refusesState(t, scene, () => bare(YES, message), { id: '"x"', cause: "absent" });
  }
});

t.test("on methods that have no rounds they are refused too", async (t) => {
  for (const method of [
    "tools/list",
    "server/discover",
    "prompts/list",
    "completion/complete",
    "vendor/own",
  ]) {
    const params = method === "completion/complete" ? { ref: { type: "ref/prompt", name: "p" } } : {};
    await refusesState(t, scene, () => bare(YES, { method, params }), {
      id: '"x"',
      cause: "unsupported_method",
    });
  }
});

t.test("in notifications they are refused too", async (t) => {
  for (const member of ["requestState", "inputResponses"]) {
    await refusesState(
      t,
      scene,
      () => scene.gateway.call({ id: null, method: "notifications/cancelled", params: { [member]: {} } }),
      { id: "null", cause: "unsupported_method" },
    );
  }
});

t.test("spellings that another reader takes for the member", async (t) => {
  for (const name of [
    "InputResponses",
    "inputresponses",
    "INPUTRESPONSES",
    "requeststate",
    "reque\u017ftState",
  ]) {
    const before = scene.bytesUp();
    const reply = await scene.raw(request(`"name":"transfer","${name}":{"confirm":{"action":"accept"}}`));
    t.match(reply, { status: 400, json: { error: { code: -32600 } } }, name);
    t.equal(scene.bytesUp(), before);
  }
  const escaped = '"inputRespons\\u0065s":{"confirm":{"action":"accept"}}';
  await refusesState(t, scene, () => scene.raw(request(`"name":"transfer",${escaped}`)), {
    id: "7",
    cause: "absent",
  });
});

t.test("honest: the plain call asks, and its answer goes with the state", async (t) => {
  const state = await scene.ask(DELETE);
  const arrived = await passes(t, scene, () => scene.retry(state, DELETE));
  t.same(arrived.json.params.inputResponses, YES);
  // A tool may have an argument of that name.
  const args = { inputResponses: YES, requestState: "of its own" };
  await passes(t, scene, () =>
    scene.gateway.call({ method: "tools/call", params: { name: "x", arguments: args } }),
  );
});

t.test("where the route drops them, the server asks", async (t) => {
  const arrived = await passes(t, scene, () => bare(YES, DELETE, "/drop"));
  t.equal(arrived.json.params.inputResponses, undefined);
  t.notMatch(arrived.body, 'accept"');
});
