/** Rules of elicitation, sampling and roots, broken and kept. */
import { answersMended, retry, SAMPLE, url } from "./mrtr-cases.ts";
import { asksOne, CALL, DONE, FORM, type RuleCase } from "./stage.ts";

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const ROOTS = '{"method":"roots/list"}';
const options = { capabilities: ALL };

/** A form with one field. */
const form = (name: string, field: string, message = "Please fill in"): string =>
  `{"method":"elicitation/create","params":{"message":"${message}","requestedSchema":{"type":"object","properties":{"${name}":${field}}}}}`;

type Id = RuleCase["rule"];

/** A question that breaks a rule, and one that does not. */
const question = (rule: Id, rows: number[], bad: string, honest: string, name = ""): RuleCase => ({
  rule,
  rows,
  name,
  bad: (stage) => stage.answered(CALL, asksOne(bad), options),
  honest: (stage) => stage.answered(CALL, asksOne(honest), options),
});

/** Answers to a question that break a rule, and such that do not. */
const answer = (
  rule: Id,
  rows: number[],
  asked: string,
  bad: unknown,
  honest: unknown,
  more: Partial<RuleCase> = {},
): RuleCase => ({
  rule,
  rows,
  bad: async (stage) => retry(stage, await stage.asked(CALL, asksOne(asked), options), { q: bad }, options),
  honest: async (stage) =>
    retry(stage, await stage.asked(CALL, asksOne(asked), options), { q: honest }, options),
  ...more,
});

const SAFE = url("https://pay.example/start");
const AGE = form("age", '{"type":"integer","minimum":0}');
const turns = (content: string, next: string): string =>
  SAMPLE.replace(
    /"messages":\[.*\],"maxTokens"/,
    `"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"user","content":[${content}]}${next}],"maxTokens"`,
  );
const RESULT = '{"type":"tool_result","toolUseId":"t","content":[]}';
const TEXT = '{"type":"text","text":"x"}';
const said = (text: string): object => ({ role: "assistant", model: "m", content: { type: "text", text } });

export const ELICITATION_CASES: readonly RuleCase[] = [
  question(
    "elicitation/secret-field",
    [29, 30],
    form("apiKey", '{"type":"string"}'),
    form("tokenCount", '{"type":"integer"}'),
  ),
  question(
    "elicitation/unknown-mode",
    [32],
    FORM.replace('"message"', '"mode":"modal","message"'),
    FORM.replace('"message"', '"mode":"form","message"'),
  ),
  question(
    "elicitation/schema-not-flat",
    [33],
    form("a", '{"type":"object","properties":{}}'),
    form("a", '{"type":"string","enum":["x","y"]}'),
  ),
  question(
    "elicitation/form-contradiction",
    [33],
    form("a", '{"type":"integer","minimum":3,"maximum":1}'),
    form("a", '{"type":"integer","minimum":1,"maximum":3}'),
  ),
  question(
    "elicitation/link-in-text",
    [34],
    form("a", '{"type":"string"}', "Go to https://login.example/x"),
    form("a", '{"type":"string"}', "Who are you?"),
  ),
  answer(
    "elicitation/answer-invalid",
    [37, 38],
    AGE,
    { action: "accept", content: { age: -1 } },
    { action: "accept", content: { age: 1 } },
  ),
  question("elicitation/url-shape", [41], url("//pay.example/start"), SAFE),
  question("elicitation/url-insecure", [42], url("http://pay.example/start"), SAFE),
  question("elicitation/url-userinfo", [43], url("https://u:p@pay.example/start"), SAFE),
  question(
    "elicitation/url-credentials",
    [43],
    url(
      "https://pay.example/start?access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg",
    ),
    url("https://pay.example/start?step=1"),
  ),
  question(
    "elicitation/url-personal-data",
    [43],
    url("https://pay.example/start?email=jane.doe%40mail.example"),
    url("https://pay.example/start?step=1"),
  ),
  question(
    "elicitation/url-presigned",
    [44],
    url(
      "https://files.example/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ),
    url("https://files.example/a"),
  ),
  question("elicitation/url-scheme", [46], url("javascript:alert(1)"), SAFE),
  question(
    "elicitation/url-punycode",
    [47],
    url("https://xn--bcher-kva.example/"),
    url("https://buecher.example/"),
  ),
  question(
    "elicitation/url-mixed-script",
    [47],
    url("https://p\u0430ypal.example/"),
    url("https://paypal.example/"),
  ),
  answer(
    "elicitation/url-accept-content",
    [48],
    SAFE,
    { action: "accept", content: { a: 1 } },
    { action: "accept" },
    { noted: false, acted: answersMended },
  ),
];

export const SAMPLING_CASES: readonly RuleCase[] = [
  question(
    "sampling/undeclared-context",
    [52],
    SAMPLE.replace('"maxTokens"', '"includeContext":"allServers","maxTokens"'),
    SAMPLE.replace('"maxTokens"', '"includeContext":"none","maxTokens"'),
  ),
  question("sampling/question-shape", [53], SAMPLE.replace(',"maxTokens":10', ""), SAMPLE),
  question("sampling/tool-blocks", [54], turns(`${RESULT},${TEXT}`, ""), turns(RESULT, "")),
  question("sampling/tool-blocks", [55], turns(TEXT, ""), turns(RESULT, ""), "unanswered"),
  answer("sampling/answer-size", [56], SAMPLE, said("long ".repeat(120_000)), said("short")),
  answer(
    "sampling/answer-shape",
    [57],
    SAMPLE,
    { role: "assistant", content: { type: "text", text: "x" } },
    said("x"),
  ),
  answer(
    "roots/file-uri",
    [60],
    ROOTS,
    { roots: [{ uri: "https://files.example/a" }] },
    { roots: [{ uri: "file:///home/a" }] },
  ),
  answer(
    "roots/traversal",
    [61],
    ROOTS,
    { roots: [{ uri: "file:///home/../etc" }] },
    { roots: [{ uri: "file:///home/a" }] },
  ),
];

export const CREDENTIAL_CASES: readonly RuleCase[] = [
  {
    rule: "elicitation/credentials-in-result",
    rows: [45],
    bad: async (stage) => {
      const state = await stage.asked(CALL, asksOne(SAFE), options);
      const text = DONE.replace("done", "token: ghp_0123456789abcdefghijABCDEFGHIJ012345");
      return retry(stage, state, { q: { action: "accept" } }, { ...options, text });
    },
    honest: async (stage) => {
      const state = await stage.asked(CALL, asksOne(SAFE), options);
      return retry(stage, state, { q: { action: "accept" } }, options);
    },
  },
];
