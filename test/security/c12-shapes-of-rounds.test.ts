/** C12: state without questions, questions without state, and neither. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import type { Script } from "../support/upstream.ts";
import { answers, DONE, passes, QUESTION, refusesState, setScene, TRANSFER, YES } from "./scene.ts";

const scene = await setScene(t);
const asks = JSON.stringify({ confirm: QUESTION });
const upstreamSays = (script: Script): void => {
  scene.upstream.script = script;
};
const MESSAGES: readonly Message[] = [
  TRANSFER,
  { method: "prompts/get", params: { name: "p" } },
  { method: "resources/read", params: { uri: "file:///a" } },
];

/** Odd but legal states, JSON text. */
const STATES = ['"U1=="', '""', '"\\u0000\\u2028 \\ud83d\\ude00"', '"a\\"b\\\\c"', '"sg1.AAAA"', '"null"'];

t.test("state alone leaves sealed, with no invented questions, and comes back exactly", async (t) => {
  for (const message of MESSAGES) {
    for (const state of STATES) {
      upstreamSays(answers(`{"resultType":"input_required","requestState":${state}}`));
      const reply = await scene.gateway.call(message);
      t.equal(reply.status, 200, reply.body);
      t.same(Object.keys(reply.json.result), ["resultType", "requestState"]);
      t.match(reply.json.result.requestState, /^sg1\.[\w-]+$/);
      upstreamSays(answers(DONE));
      const arrived = await passes(t, scene, () =>
        scene.retry(reply.json.result.requestState, { ...message, inputResponses: undefined }),
      );
      t.equal(arrived.json.params.requestState, JSON.parse(state));
      t.notOk("inputResponses" in arrived.json.params);
    }
  }
});

t.test("an empty question map stays: some clients retry only if it is there", async (t) => {
  upstreamSays(answers('{"resultType":"input_required","requestState":"U1","inputRequests":{}}'));
  const { result } = (await scene.gateway.call(TRANSFER)).json;
  t.same(result.inputRequests, {});
  upstreamSays(answers(DONE));
  const arrived = await passes(t, scene, () => scene.retry(result.requestState, { inputResponses: {} }));
  t.match(arrived.json.params, { requestState: "U1", inputResponses: {} });
});

t.test("questions alone leave with a state, and the upstream gets none back", async (t) => {
  for (const absent of ["", ',"requestState":null']) {
    for (const message of MESSAGES) {
      upstreamSays(answers(`{"resultType":"input_required","inputRequests":${asks}${absent}}`));
      const { result } = (await scene.gateway.call(message)).json;
      t.match(result.requestState, /^sg1\./);
      t.same(result.inputRequests, { confirm: QUESTION });
      upstreamSays(answers(DONE));
      // A client that strips what it should echo answers a question that nobody is known to have asked.
      const stripped = { ...message, id: "s", params: { ...message.params, inputResponses: YES } };
      await refusesState(t, scene, () => scene.gateway.call(stripped), { id: '"s"', cause: "absent" });
      const arrived = await passes(t, scene, () => scene.retry(result.requestState, message));
      t.notOk("requestState" in arrived.json.params);
      t.same(arrived.json.params.inputResponses, YES);
    }
  }
});

/** Faults of the upstream: nothing is sealed, nothing of it reaches the client. */
const FAULTS: readonly (readonly [string, string])[] = [
  ["neither", '{"resultType":"input_required"}'],
  ["no questions, no state", '{"resultType":"input_required","inputRequests":{}}'],
  ["both null", '{"resultType":"input_required","inputRequests":null,"requestState":null}'],
  ["a state that is a number", '{"resultType":"input_required","requestState":4711}'],
  ["a state that is an object", '{"resultType":"input_required","requestState":{"s":"LEAK"}}'],
  ["a state that is cut in a character", '{"resultType":"input_required","requestState":"LEAK\\ud800"}'],
  ["a state of 70 KB", `{"resultType":"input_required","requestState":"${"LEAK".repeat(17_500)}"}`],
  ["two states", '{"resultType":"input_required","requestState":"LEAK","requestState":"LEAK"}'],
  [
    "two states, one escaped",
    '{"resultType":"input_required","requestState":"LEAK","requestStat\\u0065":"LEAK"}',
  ],
  ["two states by case", '{"resultType":"input_required","requestState":"LEAK","RequestState":"LEAK"}'],
  ["questions in a list", `{"resultType":"input_required","requestState":"LEAK","inputRequests":[${asks}]}`],
  ["a complete result with questions", `{"resultType":"complete","inputRequests":${asks}}`],
  ["questions with no result type", `{"requestState":"LEAK","inputRequests":${asks}}`],
  ["a result type in another case", `{"resultType":"Input_Required","requestState":"LEAK"}`],
  ["a result type that is no text", `{"resultType":["input_required"],"requestState":"LEAK"}`],
];

t.test("faults of the upstream", async (t) => {
  for (const [name, text] of FAULTS) {
    upstreamSays(answers(text));
    const reply = await scene.gateway.call(TRANSFER);
    t.equal(reply.json?.error?.code, -32603, name);
    t.equal(reply.status, 502);
    t.notMatch(reply.body, /LEAK|sg1\.|Sure/);
  }
});

t.test("a state on a complete result never leaves in clear", async (t) => {
  for (const type of ['"resultType":"complete",', ""]) {
    upstreamSays(answers(`{${type}"requestState":"LEAK","content":[]}`));
    const reply = await scene.gateway.call(TRANSFER);
    t.equal(reply.status, 200);
    t.notMatch(reply.body, /LEAK|requestState/);
    t.same(reply.json.result.content, []);
  }
});

t.test("a method that has no rounds is not answered with one", async (t) => {
  upstreamSays(answers('{"resultType":"input_required","requestState":"LEAK","tools":[]}'));
  for (const method of ["tools/list", "server/discover", "resources/templates/list", "vendor/own"]) {
    const reply = await scene.gateway.call({ method });
    t.equal(reply.json?.error?.code, -32603, method);
    t.notMatch(reply.body, /LEAK/);
  }
});
