import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import { resultFindings } from "../../../src/mcp/result-findings.ts";
import { sensitiveIn } from "../../../src/mcp/sensitive.ts";
import { stateFindings } from "../../../src/mcp/state-findings.ts";

const found = (text: string): string[] => {
  const { credentials, personal } = sensitiveIn(text);
  return [...credentials, ...personal];
};
const encoded = (text: string): string => Buffer.from(text).toString("base64url");
const JWT = `eyJhbGciOiJIUzI1NiJ9.${encoded('{"sub":"x"}')}.c2lnbmF0dXJl`;

t.test("states of honest servers", async (t) => {
  const states = [
    "",
    "s",
    "flow=7",
    "come back",
    '{"amount":10,"to":"Zoë"}',
    "end\u0000\ud83d\udd11",
    "5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    `v1.${encoded('{"p":{"step":2,"token_count":9},"exp":1893456000}')}.c2lnbmF0dXJl`,
    encoded('{"step":2,"at":1700000000000,"version":"1.2.3"}'),
    '{"password_policy":"strong","keyId":"k-1"}',
    "order 4111111111111112",
  ];
  for (const state of states) t.same(found(state), [], state);
});

t.test("credentials and personal data, also one layer down", async (t) => {
  const cases: [text: string, kinds: string[]][] = [
    ['{"user":{"email":"zoe@b.example"},"apiKey":"abcd1234"}', ["named", "email", "named"]],
    [encoded('{"access_token":"abcdef","card":"4111 1111 1111 1111"}'), ["named", "card"]],
    [Buffer.from("password=hunter2&x=1").toString("base64"), ["named"]],
    [`{"t":"${JWT}"}`, ["jwt"]],
    ["-----BEGIN RSA PRIVATE KEY-----", ["private_key"]],
    ["AKIAIOSFODNN7EXAMPLE", ["cloud_key"]],
    ["ghp_0123456789abcdefghijABCDEFGHIJ012345", ["vendor_token"]],
    ["Authorization: Bearer abcdefghijklmnop", ["authorization"]],
    ["postgres://app:hunter2@db.internal/x", ["userinfo"]],
    ["DE89 3704 0044 0532 0130 00", ["iban"]],
    ["+49 30 1234567", ["phone"]],
    ["078-05-1120", ["national_id"]],
    ["529.982.247-25", ["national_id"]],
    ["11010519491231002X", ["national_id"]],
    ["RSSMRA85T10A562S", ["national_id"]],
    ['{"dob":"1990-01-01"}', ["named"]],
  ];
  for (const [text, kinds] of cases)
    for (const kind of kinds) t.ok(found(text).includes(kind), `${text}: ${kind}`);
});

t.test("said by kind and size", async (t) => {
  t.same(stateFindings('{"apiKey":"abcd1234"}'), [
    { rule: "mrtr/state-credentials", detail: "credential_named_to_256" },
  ]);
  t.same(stateFindings(`zoe@b.example ${"x".repeat(2000)}`), [
    { rule: "mrtr/state-personal-data", detail: "personal_email_to_4k" },
  ]);
  t.same(stateFindings("flow=7"), []);
  t.same(stateFindings(JWT), [], "a state that is a signed token is how a server protects it");
});

t.test("names and values whose letters are written as escapes of JSON", async (t) => {
  const escapes = (text: string): string =>
    Array.from(text, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const cases: [text: string, kinds: string[]][] = [
    ['{"\\u0070assword":"hunter2"}', ["named"]],
    [`{"${escapes("password")}":"hunter2"}`, ["named"]],
    [`{"t":"${escapes(token)}"}`, ["vendor_token"]],
    [`{"t":"\\u0067hp_${token.slice(4)}"}`, ["vendor_token"]],
    [encoded(`{"t":"${escapes(token)}"}`), ["vendor_token"]],
    [JSON.stringify({ t: JSON.stringify({ password: "hunter2" }) }), ["named"]],
    [JSON.stringify({ t: `{"${escapes("password")}":"hunter2"}` }), ["named"]],
    ['{"u":"postgres:\\/\\/app:hunter2@db.internal\\/x"}', ["userinfo", "email"]],
    ['{"m":"zoe\\u0040b.example"}', ["email"]],
    ['Here it is: {"password": "hunter2"}', ["named"]],
    [`{"password"${" ".repeat(500)}:${" ".repeat(500)}"hunter2"}`, ["named"]],
    [`{"password${"_".repeat(1000)}":"hunter2"}`, ["named"]],
    ['[{"password":"hunter2"},', ["named"]],
    ['{"a":[[[[{"password":12345}]]]]}', ["named"]],
    ['{"note":"say \\"hi\\"","password":"a\\"b\\"c"}', ["named"]],
  ];
  for (const [text, kinds] of cases) t.same(found(text), kinds, text);
  for (const text of [
    '{"note":"caf\\u00e9 \\u0070ass"}',
    `{"${escapes("amount")}":"${escapes("twelve")}"}`,
    '{"path":"C:\\\\users\\\\new","password":""}',
    'the word "password": see the manual',
    '{"password":null,"secret":[],"token":"\\t"}',
  ])
    t.same(found(text), [], text);
});

t.test("what is not looked into is said", async (t) => {
  const rows = Array.from({ length: 1000 }, (_, i) => `{"id":${i},"name":"row"}`).join(",");
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `"n${i}":"v"`).join(",");
  for (const [text, isWhole] of [
    ["x".repeat(64 * 1024), true],
    ["x".repeat(64 * 1024 + 1), false],
    [`[${rows}]`, true],
    [`{${names(512)}}`, true],
    [`{${names(513)}}`, false],
    ["a=b ".repeat(1000), true],
  ] as const)
    t.equal(sensitiveIn(text).isWhole, isWhole, text.slice(0, 30));
  t.same(
    stateFindings("x".repeat(64 * 1024 + 1)).map(({ detail }) => detail),
    ["credential_unread_over_16k", "personal_unread_over_16k"],
  );
  t.same(stateFindings("x".repeat(64 * 1024)), []);
});

t.test("results: nothing hides behind a long text", async (t) => {
  const judge = (result: object): string[] => {
    const doc = scan(Buffer.from(JSON.stringify(result)), { bytes: 1 << 24, depth: 64 });
    return resultFindings(doc, doc.root).map(({ detail }) => detail);
  };
  const text = (...texts: string[]) => ({ content: texts.map((text) => ({ type: "text", text })) });
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const long = "x".repeat(64 * 1024);
  t.same(judge(text(long)), [], "as much as is looked into");
  t.same(judge(text(`${long}x`)), ["returned_unread"]);
  t.same(judge(text(long, token)), ["returned_unread"]);
  t.same(judge(text(token, long)), ["returned_vendor_token", "returned_unread"]);
  t.same(judge({ structuredContent: { long }, ...text(token) }), ["returned_unread"]);
  t.same(judge({ structuredContent: { password: "hunter2", long } }), ["returned_named", "returned_unread"]);
  t.same(judge({ structuredContent: { amount: 1 }, ...text("done") }), []);
  t.same(judge({ contents: [{ uri: "file:///x", text: token }] }), ["returned_vendor_token"]);
  t.same(judge({ messages: [{ role: "user", content: { type: "text", text: token } }] }), [
    "returned_vendor_token",
  ]);
  const doc = scan(Buffer.from('{"structuredContent":{"\\u0070assword":"hunter2"}}'), {
    bytes: 99,
    depth: 9,
  });
  t.same(
    resultFindings(doc, doc.root).map(({ detail }) => detail),
    ["returned_named"],
  );
});

t.test("long states", async (t) => {
  for (const unit of ["a", "eyJ", "eyJa.", "4111", "4 ", "a@", "a@a.", "+1 ", "://a:", "DE89", "bearer ", "sk-", "-----BEGIN ", "a=", "{", "[[", '{"a":', "a.", "123-", "A1 ", '\\"', '"a":"', '"\\', '"a":"\\', '"a" ', '"a" :', "\\u0022", '\\\\"', "xox", "é@"]) // biome-ignore format: one list
    t.doesNotThrow(() => found(unit.repeat((64 * 1024) / unit.length)), unit);
});
