import t from "tap";
import { REFUSALS, Refusal, type RefusalCode } from "../../../src/errors.ts";
import { asRefusal, errorAnswer, errorBody, toolErrorBody } from "../../../src/http/respond.ts";

const place = { id: '"\\u0061"', requestId: "r-1", httpStatus: "spec" } as const;

t.test("the body: the id as sent, the fixed text, the reason, and what may be public", async (t) => {
  const refusal = new Refusal("missing_capability", "secret-detail", {
    data: { requiredCapabilities: { elicitation: { form: {} } } },
    context: { principal: { subject: "secret-context" } },
    cause: new Error("secret-cause"),
  });
  t.equal(
    errorBody(refusal, place),
    '{"jsonrpc":"2.0","id":"\\u0061","error":{"code":-32021,"message":"The request needs a client capability that was not declared","data":{"requiredCapabilities":{"elicitation":{"form":{}}},"reason":"missing_capability","requestId":"r-1"}}}',
  );
  for (const id of ["12345678901234567890", "-0", '""', null])
    t.match(errorBody(refusal, { ...place, id }), `"id":${id},`);
});

t.test("public members never replace the reason or the request id", async (t) => {
  const refusal = new Refusal("invalid_request", "x", { data: { reason: "forged", requestId: "forged" } });
  t.match(JSON.parse(errorBody(refusal, place)).error.data, { reason: "invalid_request", requestId: "r-1" });
});

t.test("a refused state is the same bytes whatever the cause", async (t) => {
  const bodies = ["aead", "expired", "principal"].map((detail, index) =>
    errorBody(new Refusal("invalid_request_state", detail, { data: { detail } }), {
      ...place,
      requestId: `r-${index}`,
    }),
  );
  t.equal(new Set(bodies).size, 1);
  t.notMatch(bodies[0], /r-0|aead/);
});

t.test("status and headers of every row, by errors.httpStatus and by whether there is an id", async (t) => {
  const http: RefusalCode[] = [
    ...(["unauthorized", "insufficient_scope", "malformed_http", "misdirected_host"] as const),
    ...(["forbidden_origin", "method_not_allowed", "not_found"] as const),
  ];
  for (const code of Object.keys(REFUSALS) as RefusalCode[]) {
    const refusal = new Refusal(code, "x", { headers: { allow: "POST" } });
    const { entry } = refusal;
    const spec = errorAnswer(refusal, place);
    t.equal(spec.status, entry.status, code);
    t.equal(
      spec.headers["retry-after"],
      entry.retryAfter === undefined ? undefined : String(entry.retryAfter),
    );
    t.equal(spec.headers["allow"], "POST");
    t.equal(spec.headers["content-type"], "application/json");
    const ok = errorAnswer(refusal, { ...place, httpStatus: "ok" });
    t.equal(ok.status, http.includes(code) ? entry.status : 200, code);
    t.equal(ok.body, spec.body);
    t.equal(
      errorAnswer(refusal, { ...place, id: null, httpStatus: "ok" }).status,
      entry.status,
      "no id, no JSON-RPC answer",
    );
  }
});

t.test(
  "the table: codes that the protocol has, texts that say nothing of us, waiting only where it helps",
  async (t) => {
    for (const [code, entry] of Object.entries(REFUSALS)) {
      t.ok([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022].includes(entry.rpc), code);
      t.ok(entry.status >= 200 && entry.status < 600);
      t.notMatch(entry.message, /redis|undici|node|fastify|envelope|aead/i);
      if ("retryAfter" in entry) t.ok([429, 502, 503, 504].includes(entry.status), code);
    }
  },
);

t.test("anything thrown is a refusal; what is not ours is internal and says nothing", async (t) => {
  const own = new Refusal("forbidden", "x");
  t.equal(asRefusal(own), own);
  for (const thrown of [new Error("secret"), "secret", undefined, { code: "forbidden" }]) {
    const refusal = asRefusal(thrown);
    t.equal(refusal.code, "internal");
    t.equal(refusal.cause, thrown);
    t.notMatch(errorBody(refusal, place), /secret/);
  }
});

t.test("the tool result for a model", async (t) => {
  t.match(toolErrorBody('"\\u0061"'), /^\{"jsonrpc":"2\.0","id":"\\u0061","result":/);
  const { result } = JSON.parse(toolErrorBody("1"));
  t.match(result, {
    resultType: "complete",
    isError: true,
    content: [{ type: "text", text: /Call the tool again/ }],
  });
});
