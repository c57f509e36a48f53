/** C33: a form that asks for a secret, in all its clothes. What is typed into it ends up with the model and in logs. */
import t from "tap";
import { answers, passes, setScene, TRANSFER, YES } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url }, rules: { "elicitation/secret-field": "enforce" } },
      { path: "/report", upstream: { url } },
      { path: "/off", upstream: { url }, rules: { "elicitation/secret-field": "off" } },
      {
        path: "/tool",
        upstream: { url },
        rules: { tools: [{ match: ["trans*"], "elicitation/secret-field": "enforce" }] },
      },
    ],
  }),
});

/** An upstream that asks with this form. */
function asks(
  properties: Record<string, unknown>,
  message = "Please fill in",
  required: string[] = [],
): void {
  const params = { mode: "form", message, requestedSchema: { type: "object", properties, required } };
  const inputRequests = { confirm: { method: "elicitation/create", params } };
  scene.upstream.script = answers(JSON.stringify({ resultType: "input_required", requestState: "LEAK", inputRequests })); // biome-ignore format: one text
}

const KEYS = {
  apiKey: { type: "string", description: "Your API key" },
  apiSecret: { type: "string" },
  env: { type: "string", enum: ["prod", "test"] },
};

t.test("the error names the field and nothing else; nothing is sealed", async (t) => {
  asks(KEYS, "Please enter your credentials", ["apiKey", "apiSecret"]);
  const reply = await scene.gateway.call(TRANSFER);
  t.equal(reply.status, 403);
  t.match(reply.json.error, {
    code: -32603,
    data: { reason: "question_forbidden", rule: "elicitation/secret-field", field: "apiKey" },
  });
  t.notMatch(reply.body, /LEAK|sg1\.|Your API key|credentials|apiSecret/);
  const record = scene.gateway.audit.at(-1);
  t.match(record, { outcome: "refused", rules: [{ id: "elicitation/secret-field", mode: "enforce", detail: "name" }] }); // biome-ignore format: one record
  t.equal(record?.jti, undefined);
  t.notMatch(JSON.stringify(record), /apiKey|LEAK|credentials/);
});

t.test("modes: report lets it pass and says so, off says nothing, a tool has its own", async (t) => {
  asks(KEYS);
  const reported = await scene.gateway.call(TRANSFER, { path: "/report" });
  t.equal(reported.status, 200);
  t.match(reported.json.result.requestState, /^sg1\./);
  t.match(scene.gateway.audit.at(-1)?.rules, [{ id: "elicitation/secret-field", mode: "report", detail: "name" }]); // biome-ignore format: one record
  t.equal((await scene.gateway.call(TRANSFER, { path: "/off" })).status, 200);
  t.equal(scene.gateway.audit.at(-1)?.rules, undefined);
  t.equal((await scene.gateway.call(TRANSFER, { path: "/tool" })).status, 403);
  const other = { method: "tools/call", params: { name: "other" } };
  t.equal((await scene.gateway.call(other, { path: "/tool" })).status, 200);
});

t.test("the whole kind", async (t) => {
  const forms: [properties: Record<string, unknown>, message?: string][] = [
    [{ p4ssw0rd: { type: "string" } }],
    [{ "pass\u200bword": { type: "string" } }],
    [{ "p\u0430ssw\u043erd": { type: "string" } }],
    [{ mot_de_passe: { type: "string" } }],
    [{ a: { type: "string", title: "密码" } }],
    [{ a: { type: "string", title: "Пароль" } }],
    [{ a: { type: "string", description: "16 digits of your credit card" } }],
    [{ cvv: { type: "integer" } }],
    [{ a: { type: "string", "x-secret": true } }],
    [{ value: { type: "string" } }, "Please enter your password"],
    [{ a: { type: "string" } }, "パスワードを入力してください"],
    [{ ok: { type: "boolean" }, otp: { type: "string", maxLength: 6 } }],
  ];
  for (const [properties, message] of forms) {
    asks(properties, message);
    const reply = await scene.gateway.call(TRANSFER);
    t.equal(reply.json.error?.data?.rule, "elicitation/secret-field", JSON.stringify([properties, message]));
    t.notMatch(reply.body, /sg1\.|LEAK/);
  }
});

t.test("honest: profile data, harmless words, and questions about secrets", async (t) => {
  const forms: [properties: Record<string, unknown>, message?: string][] = [
    [{ email: { type: "string", format: "email" } }],
    [{ tokenCount: { type: "integer" } }],
    [{ tokenCount: { type: "string" }, keyboard: { type: "string" }, passport_country: { type: "string" } }],
    [{ confirm: { type: "boolean", title: "Delete the API key?" } }, "Your API key will be revoked."],
    [{ kind: { type: "string", enum: ["password", "key"] } }, "How shall the server sign in?"],
    [{ note: { type: "string" } }, "Do not enter a password here."],
  ];
  for (const [properties, message] of forms) {
    asks(properties, message);
    const reply = await scene.gateway.call(TRANSFER);
    t.equal(reply.status, 200, reply.body);
    t.equal(scene.gateway.audit.at(-1)?.rules, undefined);
  }
  asks({ ok: { type: "boolean" } });
  const state = await scene.ask();
  const arrived = await passes(t, scene, () => scene.retry(state));
  t.same(arrived.json.params.inputResponses, YES);
});
