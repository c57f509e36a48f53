/** What somebody puts beside an answer, and a no that somebody dresses up. */
import t from "tap";
import { passes, refuses, refusesState, setScene, YES } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url } },
      { path: "/again", upstream: { url }, roundTrip: { rejection: "reprompt" } },
    ],
  }),
});

t.test("members that no answer has do not arrive; the answer does", async (t) => {
  for (const more of [
    { requestState: "U2==" },
    { inputResponses: { confirm: { action: "accept" } } },
    { inputRequests: {}, extra: { deep: [{ a: 1 }] }, arguments: { to: "acct-1" } },
    { RequestState: "x", stopReason: "endTurn", name: "other" },
  ]) {
    const state = await scene.ask();
    const inputResponses = { confirm: { ...more, ...YES.confirm } };
    const arrived = await passes(t, scene, () => scene.retry(state, { inputResponses }));
    t.same(arrived.json.params.inputResponses, YES, JSON.stringify(more));
  }
  const state = await scene.ask();
  const kept = { confirm: { ...YES.confirm, _meta: { "example.com/seen": true } } };
  const arrived = await passes(t, scene, () => scene.retry(state, { inputResponses: kept }));
  t.same(arrived.json.params.inputResponses, kept, "its own _meta stays");
});

t.test("members that make it another answer are refused, and nothing is spent", async (t) => {
  const state = await scene.ask();
  for (const more of [{ roots: [] }, { role: "user" }, { result: YES.confirm }, { Action: "decline" }]) {
    const inputResponses = { confirm: { ...YES.confirm, ...more } };
    const expected = { status: 400, reason: "invalid_input_responses" };
    await refuses(t, scene, () => scene.retry(state, { inputResponses }), expected);
  }
  await passes(t, scene, () => scene.retry(state));
});

t.test("reprompt: nobody is asked again whose answer is not exactly a yes", async (t) => {
  const retry = (answers: unknown) => () =>
    scene.retry("sg1.forged", { inputResponses: answers }, { path: "/again" });
  for (const answer of [
    { action: "decline" },
    { action: "DECLINE" },
    { Action: "decline" },
    { action: "accept", Action: "decline" },
    { action: "accepted" },
    { action: null },
    { content: { ok: false } },
    { result: { action: "decline" } },
    { method: "elicitation/create", result: { action: "accept" } },
    { error: { code: -1, message: "declined" } },
    { role: "user" },
    { roots: "none" },
    {},
    [],
    null,
    "no",
    false,
  ]) {
    await refusesState(t, scene, retry({ other: YES.confirm, confirm: answer }));
  }
  for (const answers of [[], "no", false, 0]) await refusesState(t, scene, retry(answers));
  for (const answers of [
    {},
    YES,
    { confirm: { action: "accept" } },
    { r: { roots: [] }, s: { role: "assistant", model: "m", content: { type: "text", text: "x" } } },
  ]) {
    const arrived = await passes(t, scene, retry(answers));
    t.equal(arrived.json.params.inputResponses, undefined);
    t.equal(scene.gateway.audit.at(-1)?.state, "reprompted");
  }
});
