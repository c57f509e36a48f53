import t from "tap";
import {
  AnswerFault,
  BrokenAnswer,
  checkToken,
  checkUse,
  MAX_ANSWER_BYTES,
  parseAnswer,
} from "../../../src/principal/introspection-answer.ts";

const ISSUER = "https://login.example";
const NOW = 1_800_000_000_000;
const seconds = NOW / 1000;

const faultOf = (run: () => unknown): string => {
  try {
    run();
    return "good";
  } catch (error) {
    return error instanceof AnswerFault || error instanceof BrokenAnswer ? error.message : String(error);
  }
};

t.test("an answer is a JSON object that says true or false", async (t) => {
  const read = (text: string | Buffer) => parseAnswer(Buffer.from(text));
  t.same(read('{"active":true,"sub":"s"}'), { active: true, sub: "s" });
  t.equal(read('{"active":false}'), undefined);
  t.equal(read('{"active":false,"sub":"s","exp":1}'), undefined);
  for (const text of [
    "",
    "null",
    "true",
    "[]",
    '[{"active":true}]',
    "{}",
    '{"active":"true"}',
    '{"active":1}',
    '{"active":null}',
    '{"active":{}}',
    '{"active":[true]}',
    '{"Active":true}',
    '{"active":true',
    '{"active":true}x',
    '{"active":false,"active":true}',
    '{"active":true,"sub":"a","sub":"b"}',
    '{"active":true,"\\u0061ctive":false}',
    '\ufeff{"active":true}',
    `{"active":true,"a":${"[".repeat(40)}${"]".repeat(40)}}`,
    `{"active":true,"pad":"${"x".repeat(MAX_ANSWER_BYTES)}"}`,
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  ]) {
    t.throws(() => read(text as string), BrokenAnswer, String(text).slice(0, 40));
  }
  t.same(Object.keys(read('{"active":true,"__proto__":{"x":1}}') ?? {}), ["active", "__proto__"]);
});

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (claims: object) => `${segment({ alg: "ES256" })}.${segment(claims)}.AAAA`;

t.test("whose token an answer is about, and what kind it is", async (t) => {
  const table: [claims: Record<string, unknown>, token: string, fault: string][] = [
    [{}, "opaque", "good"],
    [{ iss: ISSUER }, "opaque", "good"],
    [{ iss: `${ISSUER}/` }, "opaque", "unknown_issuer"],
    [{ iss: "https://evil.example" }, "opaque", "unknown_issuer"],
    [{ iss: [ISSUER] }, "opaque", "unknown_issuer"],
    [{ iss: null }, "opaque", "unknown_issuer"],
    [{ token_type: "Bearer" }, "opaque", "good"],
    [{ token_type: "bearer" }, "opaque", "good"],
    [{ token_type: "DPoP" }, "opaque", "good"],
    [{ token_type: "mac" }, "opaque", "token_type"],
    [{ token_type: "refresh_token" }, "opaque", "token_type"],
    [{ token_type: null }, "opaque", "token_type"],
    [{ token_use: "access_token" }, "opaque", "good"],
    [{ token_use: "refresh_token" }, "opaque", "token_type"],
    [{ token_use: "id" }, "opaque", "token_type"],
    [{ typ: "Bearer" }, "opaque", "good"],
    [{ typ: "Refresh" }, "opaque", "token_type"],
    [{ typ: "ID" }, "opaque", "token_type"],
    [{ sub: "a", jti: "j" }, jwt({ iss: ISSUER, sub: "a", jti: "j" }), "good"],
    [{ sub: "b" }, jwt({ iss: ISSUER, sub: "a" }), "another_token"],
    [{ jti: "k" }, jwt({ iss: ISSUER, jti: "j" }), "another_token"],
    [{ client_id: "x" }, jwt({ iss: ISSUER, client_id: "y" }), "another_token"],
    [{ exp: 2 }, jwt({ iss: ISSUER, exp: 1 }), "another_token"],
    [{ iss: ISSUER }, jwt({ iss: "https://evil.example" }), "another_token"],
  ];
  for (const [claims, token, fault] of table) {
    t.equal(
      faultOf(() => checkToken(claims, ISSUER, token)),
      fault,
      JSON.stringify(claims),
    );
  }
});

t.test("when and where a token is good", async (t) => {
  const terms = { audiences: ["https://g.example/mcp", "api"], clockTolerance: 30_000 };
  const table: [claims: Record<string, unknown>, fault: string][] = [
    [{}, "good"],
    [{ aud: ["x", "https://g.example/mcp"] }, "good"],
    [{ aud: undefined }, "audience"],
    [{ aud: "https://g.example/mcp/" }, "audience"],
    [{ aud: "https://g.example" }, "audience"],
    [{ aud: [] }, "audience"],
    [{ aud: [["api"]] }, "audience"],
    [{ aud: { api: true } }, "audience"],
    [{ aud: "api https://other" }, "audience"],
    [{ exp: seconds - 29 }, "good"],
    [{ exp: seconds - 30 }, "expired"],
    [{ exp: String(seconds + 300) }, "expiry"],
    [{ exp: null }, "expiry"],
    [{ exp: Number.POSITIVE_INFINITY }, "expiry"],
    [{ nbf: seconds + 30 }, "good"],
    [{ nbf: seconds + 31 }, "not_yet"],
    [{ nbf: "0" }, "expiry"],
    [{ iat: seconds + 60 }, "good"],
    [{ iat: seconds + 61 }, "issued_in_future"],
  ];
  for (const [claims, fault] of table) {
    const all = { aud: "api", ...claims } as Parameters<typeof checkUse>[0];
    t.equal(
      faultOf(() => checkUse(all, terms, NOW)),
      fault,
      JSON.stringify(claims),
    );
  }
});
