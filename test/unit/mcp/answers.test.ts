import t from "tap";
import type { Asked } from "../../../src/envelope/format.ts";
import { scan } from "../../../src/json/scan.ts";
import { splice } from "../../../src/json/splice.ts";
import { checkAnswers } from "../../../src/mcp/answers.ts";

const SCHEMA =
  '{"type":"object","properties":{"ok":{"type":"boolean"},"n":{"type":"number"}},"required":["ok"]}';
const ASKED: Asked[] = [
  { key: "f", kind: "form", schema: SCHEMA },
  { key: "o", kind: "form", schema: '{"type":"object","properties":{"s":{"type":"string"}}}' },
  { key: "u", kind: "url" },
  { key: "s", kind: "sampling" },
  { key: "r", kind: "roots" },
];

function check(text: string, asked: readonly Asked[] = ASKED): string {
  const doc = scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
  return splice(doc.bytes, checkAnswers(doc, doc.root, asked)).toString();
}

t.test("what fits passes byte by byte", async (t) => {
  const answers = [
    "{}",
    '{ "f" : { "action" : "accept" , "content" : { "ok" : true , "n" : 1.10 } } }',
    '{"f":{"action":"\\u0061ccept","content":{"o\\u006b":false}}}',
    '{"f":{"action":"decline"}}',
    '{"f":{"action":"cancel","_meta":{"x":12345678901234567890}}}',
    '{"o":{"action":"accept"}}',
    '{"o":{"action":"accept","content":{}}}',
    '{"o":{"action":"accept","content":{"s":"北京 🌍"}}}',
    '{"u":{"action":"accept"}}',
    '{"s":{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}}',
    '{"s":{"role":"user","content":[{"type":"text","text":"x"}],"model":"","stopReason":"other"}}',
    '{"r":{"roots":[]}}',
    '{"r":{"roots":[{"uri":"file:///home/x","name":"x"},{"uri":"file://host/a..b/...c"}]}}',
    '{"r":{"roots":[{"uri":"file:///%D0%BF/%20"}]}}',
    '{"f":{"action":"accept","content":{"ok":true}},"u":{"action":"cancel"},"r":{"roots":[]}}',
  ];
  for (const text of answers) t.equal(check(text), text, text);
});

t.test("what does not belong is dropped", async (t) => {
  const cases: [before: string, after: string][] = [
    ['{"x":{"action":"accept"}}', "{}"],
    ['{"x":1,"f":{"action":"decline"},"F":{"anything":["\\ud800"]}}', '{"f":{"action":"decline"}}'],
    [
      '{"__proto__":{"action":"accept"},"u":{"action":"accept"},"constructor":1}',
      '{"u":{"action":"accept"}}',
    ],
    ['{"u":{"action":"accept","content":{"token":"x"}}}', '{"u":{"action":"accept"}}'],
    ['{"u":{"content":[],"action":"decline"}}', '{"u":{"action":"decline"}}'],
    ['{"f":{"action":"decline","content":{"ok":true}}}', '{"f":{"action":"decline"}}'],
    ['{"f":{"action":"cancel","content":"x"}}', '{"f":{"action":"cancel"}}'],
    ['{"o":{"action":"accept","content":null}}', '{"o":{"action":"accept"}}'],
    ['{"f":{"action":"accept","content":{"a":1,"ok":true,"b":{"c":[]}}}}', '{"f":{"action":"accept","content":{"ok":true}}}'], // biome-ignore format: one case, one line
    ['{"f":{"action":"accept","content":{"ok":true,"OK":false,"__proto__":1}}}', '{"f":{"action":"accept","content":{"ok":true}}}'], // biome-ignore format: one case, one line
    ['{"x":1,"f":{"action":"accept","content":{"y":1,"ok":true,"n":1.10}},"z":2}', '{"f":{"action":"accept","content":{"ok":true,"n":1.10}}}'], // biome-ignore format: one case, one line
  ];
  for (const [before, after] of cases) t.equal(check(before), after, before);
  t.equal(check('{"f":{"action":"accept"}}', []), "{}", "nothing was asked");
});

t.test("what does not fit is refused", async (t) => {
  const text = '{"type":"text","text":"x"}';
  const cases: [answers: string, detail: string][] = [
    ["[]", "input_responses"],
    ["null", "input_responses"],
    ['"x"', "input_responses"],
    ['{"f":null}', "answer"],
    ['{"f":[]}', "answer"],
    ['{"f":"accept"}', "answer"],
    ['{"f":{"action":"accept","content":{"ok":true},"x":"\\ud800"}}', "lone_surrogate"],
    ['{"o":{"action":"accept","content":{"s":"\\udc00"}}}', "lone_surrogate"],
    // wrapped
    ['{"f":{"method":"elicitation/create","result":{"action":"accept"}}}', "answer_wrapped"],
    ['{"f":{"result":{"action":"accept","content":{"ok":true}}}}', "answer_wrapped"],
    ['{"f":{"action":"accept","content":{"ok":true},"Result":{}}}', "answer_wrapped"],
    ['{"s":{"jsonrpc":"2.0","role":"user"}}', "answer_wrapped"],
    // twins
    ['{"f":{"action":"decline","Action":"accept"}}', "answer_case_twin"],
    ['{"f":{"action":"decline","Content":{"ok":true}}}', "answer_case_twin"],
    ['{"s":{"role":"user","content":{},"model":"m","Model":"n"}}', "answer_case_twin"],
    // another kind
    [`{"f":{"role":"user","content":${text},"model":"m"}}`, "answer_kind"],
    ['{"f":{"action":"accept","content":{"ok":true},"roots":[]}}', "answer_kind"],
    ['{"u":{"roots":[]}}', "answer_kind"],
    ['{"s":{"action":"accept"}}', "answer_kind"],
    [`{"s":{"role":"user","content":${text},"model":"m","action":"accept"}}`, "answer_kind"],
    ['{"r":{"action":"decline"}}', "answer_kind"],
    ['{"r":{"roots":[],"role":"user"}}', "answer_kind"],
    // elicitation
    ['{"f":{}}', "action"],
    ['{"f":{"content":{"ok":true}}}', "action"],
    ['{"f":{"action":"Accept","content":{"ok":true}}}', "action"],
    ['{"f":{"action":"accepted"}}', "action"],
    ['{"f":{"action":null}}', "action"],
    ['{"u":{"action":["accept"]}}', "action"],
    ['{"f":{"action":"accept","content":[]}}', "content"],
    ['{"f":{"action":"accept","content":"x"}}', "content"],
    ['{"f":{"action":"accept"}}', "form_required"],
    ['{"f":{"action":"accept","content":null}}', "form_required"],
    ['{"f":{"action":"accept","content":{}}}', "form_required"],
    ['{"f":{"action":"accept","content":{"OK":true}}}', "form_required"],
    ['{"f":{"action":"accept","content":{"ok":"true"}}}', "form_type"],
    ['{"f":{"action":"accept","content":{"ok":true,"n":1e400}}}', "form_type"],
    ['{"x":1,"f":{"action":"accept","content":{"ok":null}}}', "form_type"],
    // sampling
    ['{"s":{}}', "sampling_result"],
    [`{"s":{"content":${text},"model":"m"}}`, "sampling_result"],
    [`{"s":{"role":"system","content":${text},"model":"m"}}`, "sampling_result"],
    [`{"s":{"role":"user","content":${text}}}`, "sampling_result"],
    [`{"s":{"role":"user","content":${text},"model":1}}`, "sampling_result"],
    ['{"s":{"role":"user","content":"x","model":"m"}}', "sampling_result"],
    ['{"s":{"role":"user","model":"m"}}', "sampling_result"],
    ['{"s":{"role":"user","content":[],"model":"m"}}', "sampling_result"],
    [`{"s":{"role":"user","content":[${text},1],"model":"m"}}`, "sampling_result"],
    // roots
    ['{"r":{}}', "roots_result"],
    ['{"r":{"roots":{}}}', "roots_result"],
    ['{"r":{"roots":["file:///x"]}}', "roots_result"],
    ['{"r":{"roots":[{"name":"x"}]}}', "roots_result"],
    ['{"r":{"roots":[{"uri":"file:///x","name":1}]}}', "roots_result"],
    ['{"r":{"roots":[{"uri":"file:///x","URI":"file:///"}]}}', "roots_result"],
  ];
  for (const [answers, detail] of cases)
    t.throws(() => check(answers), { code: "invalid_input_responses", detail, data: {} }, answers);
});

t.test("roots that climb or are no files", async (t) => {
  const bad = ["https://a.example/", "/x", "file:/x", "FILE:///x", "file:///a/../b", "file:///..", "file:///a/%2e%2e/b", "file:///a/%2E./b", "file:///a%2f..%2fb", "file:///a\\..\\b", "file:///a%5c..", "file://../x", "file:///a/..?x", "file:///a/..#x", "file:///a/..;x", "file:///%zz", "file:///%ff", "file:///a%00", "file:///a\u0001", "file:///a\n"]; // biome-ignore format: one list
  for (const uri of bad) {
    const answers = JSON.stringify({ r: { roots: [{ uri: "file:///fine" }, { uri }] } });
    t.throws(() => check(answers), { code: "invalid_input_responses", detail: "roots_result" }, uri);
  }
});

t.test("a sealed schema with names of object methods", async (t) => {
  const schema = '{"type":"object","properties":{"__proto__":{"type":"boolean"}},"required":["__proto__"]}';
  const asked: Asked[] = [{ key: "toString", kind: "form", schema }];
  const good = '{"toString":{"action":"accept","content":{"__proto__":true}}}';
  t.equal(check(good, asked), good);
  t.throws(() => check('{"toString":{"action":"accept","content":{}}}', asked), {
    code: "invalid_input_responses",
  });
});
