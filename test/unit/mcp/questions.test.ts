import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import type { Declared } from "../../../src/mcp/capabilities.ts";
import { questionFindings } from "../../../src/mcp/question-findings.ts";
import { MAX_QUESTIONS, MAX_SCHEMA_BYTES, parseQuestions } from "../../../src/mcp/questions.ts";

function parse(text: string) {
  const doc = scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
  return parseQuestions(doc, doc.root);
}

/** What questions of the right shape break. */
function find(text: string, declared: Partial<Declared> = {}) {
  const doc = scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
  const nothing = {
    form: true,
    url: true,
    sampling: true,
    samplingTools: true,
    samplingContext: false,
    roots: true,
  };
  const anywhere = { hosts: undefined, loopbackHttp: true, ownHosts: new Set<string>() };
  return questionFindings(doc, doc.root, { ...nothing, ...declared }, anywhere);
}

const SCHEMA = '{"type":"object","properties":{"s":{"type":"string"}}}';
const elicit = (params: string) => `{"method":"elicitation/create","params":{${params}}}`;
const form = (schema = SCHEMA) => elicit(`"message":"m","requestedSchema":${schema}`);
const url = (address: string) => elicit(`"mode":"url","message":"m","url":${JSON.stringify(address)}`);
const sample = (params: string) => `{"method":"sampling/createMessage","params":{"maxTokens":9,${params}}}`;
const TEXT = '{"type":"text","text":"x"}';
const messages = (...turns: [role: string, content: string][]) =>
  `"messages":[${turns.map(([role, content]) => `{"role":"${role}","content":${content}}`).join()}]`;

t.test("honest questions", async (t) => {
  const schema = '{ "type":"object", "properties":{ "n":{"type":"number","minimum":1.10} } }';
  const cases: [question: string, read: object][] = [
    [form(schema), { kind: "form", needs: ["form"], schema }],
    [elicit(`"mode":"form","message":"北京 🌍?","requestedSchema":${SCHEMA},"_meta":{}`), { kind: "form", needs: ["form"], schema: SCHEMA }], // biome-ignore format: one case, one line
    [url("https://connect.example/c/1?x=%20#a@b"), { kind: "url", needs: ["url"] }],
    [sample(messages(["user", TEXT])), { kind: "sampling", needs: ["sampling"] }],
    [sample(`"includeContext":"none",${messages(["user", `[${TEXT}]`], ["assistant", TEXT])}`), { kind: "sampling", needs: ["sampling"] }], // biome-ignore format: one case, one line
    [sample(`"includeContext":"thisServer",${messages()}`), { kind: "sampling", needs: ["sampling"] }], // biome-ignore format: one case, one line
    [sample(`"tools":[],${messages()}`), { kind: "sampling", needs: ["sampling", "samplingTools"] }],
    [sample(`"toolChoice":{"mode":"auto"},${messages()}`), { kind: "sampling", needs: ["sampling", "samplingTools"] }], // biome-ignore format: one case, one line
    [sample(`"systemPrompt":"s","temperature":0.1,"stopSequences":["x"],"metadata":{},"modelPreferences":{},${messages()}`), { kind: "sampling", needs: ["sampling"] }], // biome-ignore format: one case, one line
    ['{"method":"roots/list"}', { kind: "roots", needs: ["roots"] }],
    ['{"method":"roots/list","params":{"_meta":{}}}', { kind: "roots", needs: ["roots"] }],
  ];
  for (const [question, read] of cases) {
    const doc = scan(Buffer.from(`{"q":${question}}`), { bytes: 1 << 20, depth: 64 });
    const node = doc.get(doc.root, "q");
    t.same(parseQuestions(doc, doc.root), [{ key: "q", node, ...read }], question);
  }
  t.same(parse("{}"), [], "an empty map asks nothing");
  t.same(
    parse(
      `{"b":${form()},"a":${url("https://a.example")},"__proto__":{"method":"roots/list"},"":${form()}}`,
    ).map(({ key, kind }) => [key, kind]),
    [
      ["b", "form"],
      ["a", "url"],
      ["__proto__", "roots"],
      ["", "form"],
    ],
  );
});

t.test("everything else is an upstream fault, and none of it is quoted", async (t) => {
  const cases: [question: string, detail: string][] = [
    ["null", "question"],
    ["[]", "question"],
    ['"roots/list"', "question"],
    ["{}", "unknown_kind"],
    ['{"method":null}', "unknown_kind"],
    ['{"method":"tools/call","params":{}}', "unknown_kind"],
    ['{"method":"Roots/list"}', "unknown_kind"],
    ['{"method":"elicitation/create"}', "question_params"],
    ['{"method":"elicitation/create","params":null}', "question_params"],
    ['{"method":"sampling/createMessage"}', "question_params"],
    ['{"method":"roots/list","params":[]}', "question_params"],
    ['{"method":"roots/list","Method":"elicitation/create"}', "question_case_twin"],
    ['{"method":"roots/list","Params":{}}', "question_case_twin"],
    // elicitation
    [elicit(`"requestedSchema":${SCHEMA}`), "message"],
    [elicit(`"message":1,"requestedSchema":${SCHEMA}`), "message"],
    [elicit(`"mode":"Form","message":"m","requestedSchema":${SCHEMA}`), "unknown_mode"],
    [elicit(`"mode":null,"message":"m","requestedSchema":${SCHEMA}`), "unknown_mode"],
    [elicit(`"mode":"voice","message":"m"`), "unknown_mode"],
    [elicit(`"mode":"form","Mode":"url","message":"m","requestedSchema":${SCHEMA}`), "question_case_twin"],
    [elicit(`"message":"m","requestedschema":${SCHEMA}`), "question_case_twin"],
    [elicit(`"message":"m","requestedSchema":${SCHEMA},"url":"https://a.example"`), "mode_mix"],
    [elicit(`"mode":"url","message":"m","url":"https://a.example","requestedSchema":${SCHEMA}`), "mode_mix"],
    [elicit('"message":"m"'), "schema_shape"],
    [form("{}"), "schema_shape"],
    [form('{"type":"object","properties":{"s":{"type":"object"}}}'), "schema_type"],
    [form('{"type":"object","properties":{"s":{"type":"string","format":"password"}}}'), "schema_format"],
    [form('{"type":"object","properties":{"s":{"$ref":"#"}}}'), "schema_combinator"],
    [elicit('"mode":"url","message":"m"'), "url"],
    [elicit('"mode":"url","message":"m","url":["https://a.example"]'), "url"],
    // surrogates anywhere
    [form().replace('"m"', '"\\ud800"'), "lone_surrogate"],
    [url("https://a.example").replace('"m"', '"m","x":{"deep":["\\udc00"]}'), "lone_surrogate"],
    // sampling
    ['{"method":"sampling/createMessage","params":{"messages":[]}}', "sampling_max_tokens"],
    [sample(messages()).replace("9", "1.5"), "sampling_max_tokens"],
    [sample(messages()).replace("9", '"9"'), "sampling_max_tokens"],
    [sample(messages()).replace("9", "1e400"), "sampling_max_tokens"],
    [sample('"x":1'), "sampling_messages"],
    [sample('"messages":{}'), "sampling_messages"],
    [sample('"messages":["x"]'), "sampling_messages"],
    [sample(messages(["system", TEXT])), "sampling_messages"],
    [sample(messages(["User", TEXT])), "sampling_messages"],
    [sample(messages(["user", '"text"'])), "sampling_messages"],
    [sample(messages(["user", "[1]"])), "sampling_messages"],
    [sample(messages(["user", '{"text":"no type"}'])), "sampling_messages"],
    [sample('"messages":[{"role":"user"}]'), "sampling_messages"],
    [sample(`"includeContext":"everything",${messages()}`), "sampling_context"],
    [sample(`"includeContext":null,${messages()}`), "sampling_context"],
    [sample(`"tools":{},${messages()}`), "sampling_tools"],
    [sample(`"tools":null,${messages()}`), "sampling_tools"],
    [sample(`"toolChoice":"auto",${messages()}`), "sampling_tools"],
    [sample(`"systemPrompt":1,${messages()}`), "sampling_params"],
    [sample(`"temperature":"hot",${messages()}`), "sampling_params"],
    [sample(`"stopSequences":[1],${messages()}`), "sampling_params"],
    [sample(`"metadata":[],${messages()}`), "sampling_params"],
    [sample(`"Tools":[],${messages()}`), "question_case_twin"],
    [sample(`"messages":[{"role":"user","Role":"assistant","content":${TEXT}}]`), "question_case_twin"],
    [sample(messages(["user", '{"type":"text","Type":"tool_use","text":"x"}'])), "question_case_twin"],
  ];
  for (const [question, detail] of cases)
    t.throws(
      () => parse(`{"secret-key":${question}}`),
      { code: "upstream_fault", detail, data: {} },
      question,
    );
  for (const map of ["[]", "null", '"x"', "1"])
    t.throws(() => parse(map), { code: "upstream_fault", detail: "input_requests" }, map);
});

t.test("tool uses and their results", async (t) => {
  const use = (id: string) => `{"type":"tool_use","id":"${id}","name":"n","input":{}}`;
  const result = (id: string) => `{"type":"tool_result","toolUseId":"${id}","content":[]}`;
  const read = (...turns: [role: string, content: string][]) => {
    const text = `{"q":${sample(messages(...turns))}}`;
    parse(text);
    return find(text);
  };
  t.same(read(["assistant", `[${TEXT},${use("a")},${use("b")}]`], ["user", `[${result("b")},${result("a")}]`], ["assistant", use("a")], ["user", result("a")]), []); // biome-ignore format: one conversation
  const broken: [role: string, content: string][][] = [
    [["assistant", use("a")]],
    [["assistant", use("a")], ["user", TEXT]],
    [["assistant", use("a")], ["assistant", TEXT], ["user", result("a")]],
    [["assistant", use("a")], ["user", `[${result("a")},${TEXT}]`]],
    [["assistant", use("a")], ["user", result("b")]],
    [["assistant", use("a")], ["assistant", result("a")]],
    [["assistant", `[${use("a")},${use("b")}]`], ["user", result("a")]],
    [["assistant", `[${use("a")},${use("a")}]`], ["user", result("a")]],
    [["assistant", use("a")], ["user", `[${result("a")},${result("a")}]`]],
    [["user", result("a")]],
    [["user", use("a")], ["user", result("a")]],
    [["assistant", '{"type":"tool_use"}'], ["user", result("a")]],
    [["user", '{"type":"tool_result","toolUseId":1}']],
  ]; // biome-ignore format: one conversation, one line
  for (const turns of broken)
    t.same(read(...turns), [{ rule: "sampling/tool-blocks", detail: "tool_blocks" }], String(turns));
});

t.test("addresses past what is read count as found, and lead where they may all the same", async (t) => {
  const long = `http://a.example/?x=${"y".repeat(12_000)}`;
  const asked = Array.from({ length: 6 }, (_, i) => `"q${i}":${url(long)}`).join();
  const found = find(`{${asked}}`).map(({ rule, detail }) => `${rule.slice(12)} ${detail}`);
  t.equal(found.filter((text) => text === "url-insecure http").length, 6);
  t.same(
    found.filter((text) => text.endsWith(" unread")),
    ["url-credentials unread", "url-personal-data unread"],
  );
});

t.test("context that the client did not declare", async (t) => {
  const asks = (context: string) =>
    `{"q":${sample(`"includeContext":"${context}",${messages(["user", TEXT])}`)}}`;
  const finding = (detail: string) => [{ rule: "sampling/undeclared-context", detail }];
  t.same(find(asks("thisServer")), finding("this_server"));
  t.same(find(asks("allServers")), finding("all_servers"));
  t.same(find(asks("none")), []);
  t.same(find(asks("allServers"), { samplingContext: true }), []);
});

t.test("addresses a user may be sent to", async (t) => {
  const good = [
    "https://connect.example/c/1",
    "HTTPS://connect.example",
    "https://connect.example:8443/?next=https://other.example/@x",
    "https://пример.example/",
    "https://[2001:db8::1]/",
    "http://localhost:3000/x",
    "http://app.localhost/",
    "http://127.0.0.1/",
    "http://127.1.2.3:9/",
    "http://[::1]:8080/",
  ];
  for (const address of good) t.equal(parse(`{"q":${url(address)}}`)[0]?.kind, "url", address);
  const bad: [address: string, detail: string][] = [
    ["", "url"],
    ["/c/1", "url"],
    ["//connect.example", "url"],
    ["connect.example", "url"],
    ["https:connect.example", "url"],
    ["https:/connect.example", "url"],
    ["https:///connect.example", "url"],
    ["https://", "url"],
    ["https://?x", "url"],
    ["https://a.example:99999/", "url"],
    ["https://a%40b.example/", "url"],
    [" https://connect.example", "url"],
    ["https://connect.example/ x", "url"],
    ["https://connect.example/\n", "url"],
    ["java\nscript:alert(1)", "url"],
    ["\u0000javascript:alert(1)", "url"],
    ["https://good.example\\@evil.example", "url"],
    ["https:\\\\evil.example", "url"],
    ["https://a\u202eb.example", "url"],
    ["javascript:alert(1)", "url_scheme"],
    ["JavaScript://connect.example/%0aalert(1)", "url_scheme"],
    ["data:text/html,x", "url_scheme"],
    ["file:///etc/passwd", "url_scheme"],
    ["ftp://a.example", "url_scheme"],
    ["blob:https://a.example/x", "url_scheme"],
    ["view-source:https://a.example", "url_scheme"],
    ["ws://localhost", "url_scheme"],
  ];
  for (const [address, detail] of bad)
    t.throws(
      () => parse(`{"q":${url(address)}}`),
      { code: "upstream_fault", detail },
      JSON.stringify(address),
    );
});

t.test("bounds", async (t) => {
  const sized = (bytes: number) => {
    const head = '{"type":"object","properties":{},"title":"';
    return form(`${head}${"x".repeat(bytes - head.length - 2)}"}`);
  };
  t.equal(parse(`{"q":${sized(MAX_SCHEMA_BYTES)}}`).length, 1, "exactly at the bound");
  const tooLarge = { code: "upstream_fault", detail: "schema_too_large" };
  t.throws(() => parse(`{"q":${sized(MAX_SCHEMA_BYTES + 1)}}`), tooLarge);
  const half = MAX_SCHEMA_BYTES / 2;
  t.equal(parse(`{"a":${sized(half)},"b":${sized(half)}}`).length, 2);
  t.throws(() => parse(`{"a":${sized(half)},"b":${sized(half)},"c":${form()}}`), tooLarge, "all together");
  const many = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"${i}":{"method":"roots/list"}`).join()}}`;
  t.equal(parse(many(MAX_QUESTIONS)).length, MAX_QUESTIONS);
  const tooMany = { code: "upstream_fault", detail: "too_many_questions" };
  t.throws(() => parse(many(MAX_QUESTIONS + 1)), tooMany);
  t.throws(() => parse(`{"${"k".repeat(20_000)}":{"method":"roots/list"}}`), tooMany, "a huge key");
});
