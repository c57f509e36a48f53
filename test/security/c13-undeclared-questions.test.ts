/** C13: a question that this request's client did not declare, or that policy forbids. */
import t from "tap";
import { answers, passes, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url } },
      { path: "/strict", upstream: { url }, capability: { allow: ["elicitation.form"] } },
    ],
  }),
});
const schema = { type: "object", properties: { secret_word: { type: "string" } } };
const form = (mode?: string) => ({
  method: "elicitation/create",
  params: { ...(mode === undefined ? {} : { mode }), message: "secret_word", requestedSchema: schema },
});
const url = {
  method: "elicitation/create",
  params: { mode: "url", message: "secret_word", url: "https://connect.example/secret_word" },
};
const sampling = (more: Record<string, unknown> = {}) => ({
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: { type: "text", text: "secret_word" } }],
    maxTokens: 9,
    ...more,
  },
});
const tools = [{ name: "secret_word", inputSchema: { type: "object" } }];
const roots = { method: "roots/list" };
const input = (...questions: object[]): string =>
  JSON.stringify({
    resultType: "input_required",
    requestState: "secret_word",
    inputRequests: Object.fromEntries(questions.map((question, i) => [`secret_word_${i}`, question])),
  });

type Row = readonly [string, Record<string, unknown>, readonly object[], Record<string, unknown>];
const UNDECLARED: readonly Row[] = [
  ["url to a client of forms", { elicitation: {} }, [url], { elicitation: { url: {} } }],
  ["no mode means form", { elicitation: { url: {} } }, [form()], { elicitation: { form: {} } }],
  ["form by name", { elicitation: { url: {} } }, [form("form")], { elicitation: { form: {} } }],
  ["nothing declared", {}, [form()], { elicitation: { form: {} } }],
  ["sampling", { elicitation: {} }, [sampling()], { sampling: {} }],
  ["sampling with tools", { sampling: {} }, [sampling({ tools })], { sampling: { tools: {} } }],
  ["roots", { sampling: {} }, [roots], { roots: {} }],
  ["one of two", { elicitation: {} }, [form(), url], { elicitation: { url: {} } }],
  ["both of two", {}, [url, roots], { elicitation: { url: {} }, roots: {} }],
];

t.test("-32021 names what is missing and not a word of the question", async (t) => {
  for (const [name, capabilities, questions, required] of UNDECLARED) {
    scene.upstream.script = answers(input(...questions));
    const reply = await scene.gateway.call(TRANSFER, { capabilities });
    t.equal(reply.status, 400, name);
    t.equal(reply.json.error.code, -32021);
    t.same(reply.json.error.data.requiredCapabilities, required, name);
    t.notMatch(reply.body, /secret_word|connect\.example|sg1\./);
    t.equal(scene.gateway.audit.at(-1)?.jti, undefined, "nothing was sealed");
  }
});

const DECLARED: readonly (readonly [Record<string, unknown>, object])[] = [
  [{ elicitation: {} }, form()],
  [{ elicitation: { form: {} } }, form("form")],
  [{ elicitation: { url: {} } }, url],
  [{ elicitation: { form: {}, url: {} } }, form()],
  [{ sampling: {} }, sampling()],
  [{ sampling: { tools: {} } }, sampling({ tools })],
  [{ roots: {} }, roots],
];

t.test("what is declared passes as it was sent", async (t) => {
  for (const [capabilities, question] of DECLARED) {
    scene.upstream.script = answers(input(question));
    const reply = await scene.gateway.call(TRANSFER, { capabilities });
    t.equal(reply.status, 200, reply.body);
    t.same(reply.json.result.inputRequests, { secret_word_0: question });
  }
});

t.test(
  "what policy forbids is taken from the declaration, and refused if it is asked all the same",
  async (t) => {
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
    for (const question of [url, sampling(), roots]) {
      scene.upstream.script = answers(input(question));
      const reply = await scene.gateway.call(TRANSFER, { capabilities, path: "/strict" });
      t.equal(reply.status, 403);
      t.equal(reply.json.error.code, -32603);
      t.notMatch(reply.body, /secret_word|connect\.example|sg1\.|requiredCapabilities/);
      const declared =
        scene.upstream.arrived.at(-1)?.json.params._meta["io.modelcontextprotocol/clientCapabilities"];
      t.same(declared, { elicitation: { form: {} } });
    }
    scene.upstream.script = answers(input(form()));
    t.equal((await scene.gateway.call(TRANSFER, { capabilities, path: "/strict" })).status, 200);
  },
);

t.test("a client that can do nothing the policy allows declares nothing, not everything", async (t) => {
  scene.upstream.script = answers('{"resultType":"complete","content":[]}');
  await passes(t, scene, () =>
    scene.gateway.call(TRANSFER, { capabilities: { elicitation: { url: {} } }, path: "/strict" }),
  );
  const meta = scene.upstream.arrived.at(-1)?.json.params._meta;
  t.same(meta["io.modelcontextprotocol/clientCapabilities"], {});
});

t.test("a declaration of an earlier round counts for nothing", async (t) => {
  scene.upstream.script = answers(input({ ...form() }));
  const first = await scene.gateway.call(TRANSFER, { capabilities: { elicitation: {} } });
  const state = first.json.result.requestState;
  scene.upstream.script = answers(input(url));
  const reply = await scene.retry(state, { inputResponses: {} }, { capabilities: { elicitation: {} } });
  t.match(reply.json.error, { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } });
});
