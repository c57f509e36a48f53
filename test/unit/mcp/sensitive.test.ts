import t from "tap";
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

t.test("long states", async (t) => {
  for (const unit of ["a", "eyJ", "eyJa.", "4111", "4 ", "a@", "a@a.", "+1 ", "://a:", "DE89", "bearer ", "sk-", "-----BEGIN ", "a=", "{", "[[", '{"a":', "a.", "123-", "A1 ", "xox", "é@"]) // biome-ignore format: one list
    t.doesNotThrow(() => found(unit.repeat((64 * 1024) / unit.length)), unit);
});
