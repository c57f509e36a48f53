import t from "tap";
import type { Asked } from "../../../src/envelope/format.ts";
import { Refusal } from "../../../src/errors.ts";
import { scan } from "../../../src/json/scan.ts";
import { splice } from "../../../src/json/splice.ts";
import { MAX_ANSWER_BYTES, MAX_UNASKED } from "../../../src/mcp/answer-shape.ts";
import { agreesToAll, checkAnswers } from "../../../src/mcp/answers.ts";

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
  const { edits, findings } = checkAnswers(doc, doc.root, asked);
  // As where all rules are enforced.
  const [finding] = findings;
  if (finding !== undefined) throw new Refusal("invalid_input_responses", finding.detail);
  return splice(doc.bytes, edits).toString();
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
    '{"r":{"roots":[{"uri":"file:///home/x","name":"x"},{"uri":"file://localhost/a..b/..c/c..d/.e"}]}}',
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
  const odd = '"requestState":"x","inputResponses":{"f":1},"extra":[{"a":1}],"meta":2';
  const whole: [key: string, members: string][] = [
    ["f", '"action":"accept","content":{"ok":true},"_meta":{"requestState":1}'],
    ["f", '"action":"decline"'],
    ["u", '"action":"accept","_meta":{}'],
    [
      "s",
      '"role":"assistant","content":{"type":"text","text":""},"model":"m","stopReason":"endTurn","_meta":{"a":1}',
    ],
    ["r", '"roots":[{"uri":"file:///a","x":1}],"_meta":{}'],
  ];
  for (const [key, members] of whole) {
    const clean = `{"${key}":{${members}}}`;
    t.equal(check(clean), clean, "an honest answer");
    t.equal(check(`{"${key}":{${odd},${members}}}`), clean, "members of no answer, before");
    t.equal(check(`{"${key}":{${members},${odd}}}`), clean, "and behind");
  }
  t.equal(check('{"u":{"action":"accept","stopReason":"x"},"f":{"model_":1,"action":"cancel"}}'), '{"u":{"action":"accept"},"f":{"action":"cancel"}}'); // biome-ignore format: one case, one line
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

const many = (count: number, text: (i: number) => string): string => Array.from({ length: count }, (_, i) => text(i)).join(","); // biome-ignore format: one expression

t.test("bounds: what is within them passes, one more is refused", async (t) => {
  const options = '{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}}}}'; // biome-ignore format: one text
  const asked: Asked[] = [...ASKED, { key: "a", kind: "form", schema: options }];
  const text = "t".repeat(MAX_ANSWER_BYTES - 200);
  const cases: [name: string, good: string, bad: string, detail: string][] = [
    [
      "answers",
      many(MAX_UNASKED, (i) => `"x${i}":1`),
      many(MAX_UNASKED + asked.length + 1, (i) => `"x${i}":1`),
      "too_many_answers",
    ],
    [
      "members of an answer",
      `"u":{"action":"accept",${many(MAX_UNASKED - 1, (i) => `"x${i}":1`)}}`,
      `"u":{"action":"accept",${many(MAX_UNASKED, (i) => `"x${i}":1`)}}`,
      "too_many_members",
    ],
    [
      "fields",
      `"f":{"action":"accept","content":{"ok":true,${many(MAX_UNASKED + 1, (i) => `"x${i}":1`)}}}`,
      `"f":{"action":"accept","content":{"ok":true,${many(MAX_UNASKED + 2, (i) => `"x${i}":1`)}}}`,
      "too_many_fields",
    ],
    [
      "choices",
      '"a":{"action":"accept","content":{"a":["y","x"]}}',
      '"a":{"action":"accept","content":{"a":["y","x","y"]}}',
      "form_items",
    ],
    [
      "choices by the hundred thousand",
      '"a":{"action":"accept","content":{"a":[]}}',
      `"a":{"action":"accept","content":{"a":[${many(50_000, () => '"x"')}]}}`,
      "too_many_items",
    ],
    [
      "roots",
      `"r":{"roots":[${many(1024, (i) => `{"uri":"file:///${i}"}`)}]}`,
      `"r":{"roots":[${many(1025, (i) => `{"uri":"file:///${i}"}`)}]}`,
      "roots_result",
    ],
    [
      "bytes",
      `"o":{"action":"accept","content":{"s":"${text}"}}`,
      `"o":{"action":"accept","content":{"s":"${text}"}},"u":{"action":"accept","x":"${"t".repeat(300)}"}`,
      "answers_too_large",
    ],
  ];
  for (const [name, good, bad, detail] of cases) {
    t.doesNotThrow(() => check(`{${good}}`, asked), name);
    t.throws(() => check(`{${bad}}`, asked), { code: "invalid_input_responses", detail }, name);
  }
  const image = `"s":{"role":"assistant","model":"m","content":{"type":"image","mimeType":"image/png","data":"${"A".repeat(700_000)}"}}`;
  t.equal(check(`{${image}}`), `{${image}}`, "an image is not counted");
  t.equal(check(`{"x":"${"A".repeat(700_000)}"}`), "{}", "nor is what is dropped");
  const wrote = (length: number) => `{"s":{"role":"assistant","model":"m","content":[{"type":"text","text":"${"A".repeat(length)}"}]}}`; // biome-ignore format: one text
  t.equal(check(wrote(500_000)).length, wrote(500_000).length, "a long text of a model");
  t.throws(() => check(wrote(600_000)), { code: "invalid_input_responses", detail: "sampling_size" });
});

t.test("numbers are compared as they are written", async (t) => {
  const asks = (field: string): Asked[] => [
    { key: "n", kind: "form", schema: `{"type":"object","properties":{"n":${field}}}` },
  ];
  const cases: [field: string, fits: string[], fitsNot: [value: string, detail: string][]][] = [
    ['{"type":"integer","maximum":9007199254740992}', ["9007199254740992", "-1e3", "1.0", "120e-1"], [["9007199254740993", "form_range"], ["9007199254740992.5", "form_type"], ["1e-1", "form_type"], ["1e400", "form_type"], ['"1"', "form_type"]]],
    ['{"type":"integer","minimum":9007199254740993}', ["9007199254740993", "9.007199254740993e15"], [["9007199254740992", "form_range"]]],
    ['{"type":"number","minimum":0.1,"maximum":0.3}', ["0.1", "0.10", "1e-1", "0.3"], [["0.30000000000000000001", "form_range"], ["0.0999999999999999999999", "form_range"], ["-0.2", "form_range"], ["0", "form_range"]]],
    ['{"type":"number","minimum":0}', ["0", "-0", "0.0e5", "3.14"], [["-1e-300", "form_range"]]],
  ]; // biome-ignore format: one case, one line
  for (const [field, fits, fitsNot] of cases) {
    const answer = (value: string): string => `{"n":{"action":"accept","content":{"n":${value}}}}`;
    for (const value of fits) t.equal(check(answer(value), asks(field)), answer(value), `${field} ${value}`);
    for (const [value, detail] of fitsNot)
      t.throws(
        () => check(answer(value), asks(field)),
        { code: "invalid_input_responses", detail },
        `${field} ${value}`,
      );
  }
});

t.test("roots stay where they are", async (t) => {
  const roots = (uri: string): string => JSON.stringify({ r: { roots: [{ uri }] } });
  const good = ["file:///", "file:///home/x", "file:///C:/Users/x", "file:///c%3A/x", "file://localhost/a", "file:///a%20b/%D0%BF", "file:///a..b/c../..d/.git", "file:///100%25", "file:///a%2520b", "file:///home/./x", "file:///./x", "file:///.x//y", "file:///C:/.//b", "file:///C:/..x", "file:///a:..b", "file:///what%3F%3F/x", "file:///home//x", "file:///a\u2215b/c", "file:///;x//y", "file:///a/.;x//y"]; // biome-ignore format: one list
  for (const uri of good) t.equal(check(roots(uri)), roots(uri), uri);
  const climbing = [
    "file:///..",
    "file:///a/../b",
    "file:///a/%2e%2e/b",
    "file:///a/.%2E/b",
    "file:///a%2f..%2fb",
    "file:///a\\..\\b",
    "file:///a%5c..%5cb",
    "file:///a/%252e%252e/b",
    "file:///a/%25252e%25252e/b",
    "file:///a/..;x/b",
    "file:///a/.. /b",
    "file:///a/..%20/b",
    "file:///a/.../b",
    "file:///a/\uff0e\uff0e/b",
    "file:///a/%EF%BC%8E%EF%BC%8E/b",
    "file:///a/\u2025/b",
    "file:///a/%c0%ae%c0%ae/b",
    "file:///a/%2",
    "file:///a%00/b",
    "file:///a\n/b",
    "file:///C:../x",
    "file:///c:..",
    "file:///C:%2e%2e/x",
    "file:///C%3A..%5Cx",
    "file:///C|../x",
    "file:///\uff23\uff1a../x",
    "file:///a/..\u2215b",
    "file:///a\u2216..\u2044b",
    "..",
  ];
  for (const uri of climbing)
    t.throws(() => check(roots(uri)), { code: "invalid_input_responses", detail: "roots_traversal" }, uri);
  const others: [uri: string, detail: string][] = [
    ["/home/x", "roots_scheme"],
    ["https://a.example/", "roots_scheme"],
    ["FILE:///a", "roots_scheme"],
    ["file:/a", "roots_scheme"],
    ["", "roots_scheme"],
    ["file://server/share", "roots_host"],
    ["file:////server/share", "roots_host"],
    ["file:///\\\\server\\share", "roots_host"],
    ["file:///%5c%5cserver/share", "roots_host"],
    ["file:///%2Fserver/share", "roots_host"],
    ["file://localhost//server/share", "roots_host"],
    ["file://127.0.0.1/a", "roots_host"],
    ["file://user@localhost/a", "roots_host"],
    ["file://", "roots_host"],
    ["file:///.//server/share", "roots_host"],
    ["file:///%2e//server/share", "roots_host"],
    ["file:///././/server/share", "roots_host"],
    ["file:///.%2f/server/share", "roots_host"],
    ["file:///.\\\\server\\share", "roots_host"],
    ["file:///.%20//server/share", "roots_host"],
    ["file:///%25%32%65//server/share", "roots_host"],
    ["file:///%3F%3F%5CUNC%5Cserver%5Cshare", "roots_host"],
    ["file:///./%3F%3F/UNC/server/share", "roots_host"],
    ["file:///\uff0fserver/share", "roots_host"],
    ["file:///%EF%BC%8F%EF%BC%8Fserver/share", "roots_host"],
    ["file:///\uff3c\uff3cserver/share", "roots_host"],
    ["file:///\u2215server/share", "roots_host"],
    ["file:///.;x//server/share", "roots_host"],
    ["file:///%2e%3bx//server/share", "roots_host"],
  ];
  for (const [uri, detail] of others)
    t.throws(() => check(roots(uri)), { code: "invalid_input_responses", detail }, uri);
  for (const [uri, detail] of [
    [`file://${"/a%25".repeat(1_600)}/..`, "roots_traversal"],
    [`file://${"/a%25".repeat(20_000)}/..`, "roots_result"],
  ] as const)
    t.throws(() => check(roots(uri)), { code: "invalid_input_responses", detail });
});

t.test("values of fields are looked at as far as a form can ask", async (t) => {
  for (const [value, detail] of [
    ['{"s":{"a":[1,{"b":2}]}}', "form_type"],
    ['{"s":[]}', "form_type"],
    ['{"s":["x"]}', "form_type"],
    ['{"s":[[["x"]]]}', "form_type"],
  ] as const)
    t.throws(
      () => check(`{"o":{"action":"accept","content":${value}}}`),
      { code: "invalid_input_responses", detail },
      value,
    );
  const asked: Asked[] = [
    {
      key: "a",
      kind: "form",
      schema: '{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x","null"]}}}}', // biome-ignore format: one text
    },
  ];
  for (const value of ["[null]", "[1]", '[["x"]]', '[{"x":1}]', '["y"]', '["x",null]'])
    t.throws(() => check(`{"a":{"action":"accept","content":{"a":${value}}}}`, asked), { code: "invalid_input_responses", detail: "form_option" }); // biome-ignore format: one case, one line
  t.doesNotThrow(() => check('{"a":{"action":"accept","content":{"a":["null","\\u0078"]}}}', asked));
});

t.test("answers that nothing explains: a yes is a whole and unmistakable one", async (t) => {
  const agree = (text: string): boolean => {
    const doc = scan(Buffer.from(text), { bytes: 1 << 24, depth: 64 });
    return agreesToAll(doc, doc.root);
  };
  const sampled = '{"role":"assistant","content":{"type":"text","text":"no"},"model":"m"}';
  const yes = [
    "{}",
    '{"a":{"action":"accept"}}',
    '{"a":{"action":"accept","content":{"ok":false},"x":1,"_meta":{}}}',
    '{"a":{"content":null,"action":"\\u0061ccept"}}',
    `{"s":${sampled},"r":{"roots":[]},"a":{"action":"accept"}}`,
  ];
  for (const text of yes) t.equal(agree(text), true, text);
  const no = [
    ...["[]", "null", '"accept"', "true", "1"],
    ...["null", "[]", '"accept"', "true", "{}", '[{"action":"accept"}]'].map((answer) => `{"a":${answer}}`),
    ...["decline", "cancel", "Accept", "accept ", "accepted", "", "reject"].map((action) => `{"a":{"action":"${action}"}}`), // biome-ignore format: one list
    ...["null", "true", '["accept"]', '{"accept":1}', "1"].map((action) => `{"a":{"action":${action}}}`),
    '{"a":{"Action":"decline"}}',
    '{"a":{"action":"accept","Action":"decline"}}',
    '{"a":{"action":"accept","acti\\u006fN":"decline"}}',
    '{"a":{"content":{"ok":true}}}',
    '{"a":{"x":1}}',
    '{"a":{"action":"accept","content":[]}}',
    '{"a":{"action":"accept","content":"no"}}',
    '{"a":{"action":"accept","x":"\\ud800"}}',
    '{"a":{"result":{"action":"decline"}}}',
    '{"a":{"action":"accept","result":{"action":"decline"}}}',
    '{"a":{"method":"elicitation/create","action":"accept"}}',
    '{"a":{"jsonrpc":"2.0","error":{"code":1}}}',
    '{"a":{"action":"accept","roots":[]}}',
    '{"a":{"action":"accept","role":"user"}}',
    '{"a":{"roots":[],"model":"m"}}',
    '{"a":{"roots":[{"uri":"https://a/"}]}}',
    '{"a":{"role":"assistant","content":{"type":"text"}}}',
    `{"a":{"action":"accept"},"b":{"action":"decline"},"s":${sampled}}`,
    `{${many(321, (i) => `"${i}":{"action":"accept"}`)}}`,
    `{"a":{"action":"accept","x":"${"x".repeat(MAX_ANSWER_BYTES)}"}}`,
  ];
  for (const text of no) t.equal(agree(text), false, text.slice(0, 100));
});

t.test("roots that climb or are no files", async (t) => {
  const bad = ["https://a.example/", "/x", "file:/x", "FILE:///x", "file:///a/../b", "file:///..", "file:///a/%2e%2e/b", "file:///a/%2E./b", "file:///a%2f..%2fb", "file:///a\\..\\b", "file:///a%5c..", "file://../x", "file:///a/..?x", "file:///a/..#x", "file:///a/..;x", "file:///%zz", "file:///%ff", "file:///a%00", "file:///a\u0001", "file:///a\n"]; // biome-ignore format: one list
  for (const uri of bad) {
    const answers = JSON.stringify({ r: { roots: [{ uri: "file:///fine" }, { uri }] } });
    t.throws(() => check(answers), { code: "invalid_input_responses", detail: /^roots_/ }, uri);
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
