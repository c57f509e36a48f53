import t from "tap";
import { checkForm, fieldNames } from "../../../src/mcp/form.ts";
import { formSchemaFault } from "../../../src/mcp/form-schema.ts";

/** JSON text, so that `__proto__` is a member and not a prototype. */
const form = (properties: string, more = "") =>
  JSON.parse(`{"type":"object","properties":{${properties}}${more}}`) as unknown;
const check = (schema: unknown, content: string) => checkForm(schema, JSON.parse(content));

t.test("forms of the subset are accepted", async (t) => {
  const fields = [
    '{"type":"string"}',
    '{"type":"string","title":"T","description":"D","default":"x","minLength":1,"maxLength":9}',
    '{"type":"string","format":"email"}',
    '{"type":"string","format":"date-time"}',
    '{"type":"string","pattern":"^(a+)+$","x-hint":{"$ref":"#"}}',
    '{"type":"number","minimum":0.5,"maximum":3.14,"default":1.5}',
    '{"type":"integer","minimum":-9007199254740991}',
    '{"type":"boolean","default":false}',
    '{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"a"}',
    '{"type":"string","oneOf":[{"const":"a","title":"A"}]}',
    '{"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"maxItems":2,"default":["a"]}',
    '{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"uniqueItems":true}',
  ];
  for (const field of fields) t.equal(formSchemaFault(form(`"f":${field}`)), undefined, field);
  t.equal(formSchemaFault(form("")), undefined, "no fields: a plain confirmation");
  t.equal(formSchemaFault(form("", ',"required":[],"additionalProperties":false,"$schema":"x","title":"t"')), undefined); // biome-ignore format: one case, one line
  for (const name of ["__proto__", "constructor", "toString", "type", "Type", "required", "properties"])
    t.equal(formSchemaFault(form(`"${name}":{"type":"string"}`, `,"required":["${name}"]`)), undefined, name);
});

t.test("everything else is no form", async (t) => {
  const schemas: [schema: string, fault: string][] = [
    ["null", "schema_shape"],
    ["[]", "schema_shape"],
    ["{}", "schema_shape"],
    ['{"properties":{}}', "schema_shape"],
    ['{"type":"object"}', "schema_shape"],
    ['{"type":["object"],"properties":{}}', "schema_shape"],
    ['{"type":"object","properties":[]}', "schema_shape"],
    ['{"type":"object","properties":{},"Properties":{}}', "schema_case_twin"],
    ['{"type":"object","properties":{},"Required":["a"]}', "schema_case_twin"],
    ['{"type":"object","properties":{},"$ref":"#"}', "schema_combinator"],
    ['{"type":"object","properties":{},"allOf":[]}', "schema_combinator"],
    ['{"type":"object","properties":{},"patternProperties":{}}', "schema_combinator"],
    ['{"type":"object","properties":{},"required":"a"}', "schema_required"],
    ['{"type":"object","properties":{},"required":[1]}', "schema_required"],
    ['{"type":"object","properties":{},"required":["a"]}', "schema_required"],
    ['{"type":"object","properties":{},"required":["toString"]}', "schema_required"],
    ['{"type":"object","properties":{},"required":["__proto__"]}', "schema_required"],
  ];
  for (const [schema, fault] of schemas) t.equal(formSchemaFault(JSON.parse(schema)), fault, schema);

  const fields: [field: string, fault: string][] = [
    ["true", "schema_field"],
    ["[]", "schema_field"],
    ["null", "schema_field"],
    ["{}", "schema_type"],
    ['{"type":"object","properties":{}}', "schema_type"],
    ['{"type":"null"}', "schema_type"],
    ['{"type":["string","null"]}', "schema_type"],
    ['{"enum":["a"]}', "schema_type"],
    ['{"$ref":"#/$defs/x"}', "schema_combinator"],
    ['{"anyOf":[{"type":"string"}]}', "schema_combinator"],
    ['{"type":"string","anyOf":[]}', "schema_combinator"],
    ['{"type":"string","allOf":[]}', "schema_combinator"],
    ['{"type":"number","oneOf":[]}', "schema_combinator"],
    ['{"type":"string","not":{}}', "schema_combinator"],
    ['{"type":"string","Type":"number"}', "schema_case_twin"],
    ['{"type":"string","MaxLength":1}', "schema_case_twin"],
    ['{"type":"string","title":1}', "schema_keyword"],
    ['{"type":"string","default":1}', "schema_keyword"],
    ['{"type":"string","maxLength":"9"}', "schema_keyword"],
    ['{"type":"number","minimum":null}', "schema_keyword"],
    ['{"type":"number","default":"1"}', "schema_keyword"],
    ['{"type":"boolean","default":"true"}', "schema_keyword"],
    ['{"type":"string","format":"password"}', "schema_format"],
    ['{"type":"string","format":"constructor"}', "schema_format"],
    ['{"type":"string","format":1}', "schema_format"],
    ['{"type":"string","enum":"a"}', "schema_enum"],
    ['{"type":"string","enum":[1]}', "schema_enum"],
    ['{"type":"string","enum":["a"],"enumNames":[1]}', "schema_enum"],
    ['{"type":"string","oneOf":[{"const":1,"title":"x"}]}', "schema_enum"],
    ['{"type":"string","oneOf":[{"const":"a"}]}', "schema_enum"],
    ['{"type":"string","oneOf":[{"const":"a","Const":"b","title":"A"}]}', "schema_enum"],
    ['{"type":"array"}', "schema_enum"],
    ['{"type":"array","items":{"type":"string"}}', "schema_enum"],
    ['{"type":"array","items":{"type":"number","enum":["a"]}}', "schema_enum"],
    ['{"type":"array","items":{"type":"string","enum":["a"],"$ref":"#"}}', "schema_combinator"],
    ['{"type":"array","items":{"anyOf":[{"type":"object"}]}}', "schema_enum"],
    ['{"type":"array","items":{"type":"array","items":{}}}', "schema_enum"],
    ['{"type":"array","items":{"type":"string","enum":["a"]},"default":"a"}', "schema_keyword"],
  ];
  for (const [field, fault] of fields) t.equal(formSchemaFault(form(`"f":${field}`)), fault, field);
});

t.test("answers against their form", async (t) => {
  const cases: [field: string, good: string[], bad: [value: string, fault: string][]][] = [
    ['{"type":"string"}', ['""', '"x"'], [["1", "form_type"], ["null", "form_type"], ['["x"]', "form_type"], ['{"x":1}', "form_type"]]], // biome-ignore format: one case, one line
    ['{"type":"string","minLength":2,"maxLength":3}', ['"ab"', '"🌍🌍"', '"🌍🌍🌍"', '"é́"'], [['"a"', "form_length"], ['"🌍"', "form_length"], ['"abcd"', "form_length"]]], // biome-ignore format: one case, one line
    ['{"type":"number"}', ["3.14", "-1", "1e3", "0"], [['"1"', "form_type"], ["1e400", "form_type"], ["true", "form_type"]]], // biome-ignore format: one case, one line
    ['{"type":"number","minimum":0,"maximum":3.5}', ["0", "3.5"], [["-0.1", "form_range"], ["3.6", "form_range"]]], // biome-ignore format: one case, one line
    ['{"type":"integer"}', ["1", "1.0", "1e2", "9007199254740993"], [["1.5", "form_type"], ["1e400", "form_type"], ['"1"', "form_type"]]], // biome-ignore format: one case, one line
    [
      '{"type":"integer","minimum":1,"maximum":3}',
      ["1", "3"],
      [
        ["0", "form_range"],
        ["4", "form_range"],
      ],
    ],
    ['{"type":"boolean"}', ["true", "false"], [["1", "form_type"], ['"true"', "form_type"], ["null", "form_type"]]], // biome-ignore format: one case, one line
    ['{"type":"string","enum":["a","b"]}', ['"a"', '"b"'], [['"c"', "form_option"], ['"A"', "form_option"], ['["a"]', "form_type"]]], // biome-ignore format: one case, one line
    ['{"type":"string","enum":["a"],"enumNames":["Apple"]}', ['"a"'], [['"Apple"', "form_option"]]],
    ['{"type":"string","oneOf":[{"const":"a","title":"A"}]}', ['"a"'], [['"A"', "form_option"]]],
    [
      '{"type":"string","enum":["a","b"],"oneOf":[{"const":"b","title":"B"}]}',
      ['"b"'],
      [['"a"', "form_option"]],
    ],
    ['{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2}', ['["a"]', '["a","b"]'], [["[]", "form_items"], ['["a","a"]', "form_items"], ['["a","b","a"]', "form_items"], ['["c"]', "form_option"], ["[1]", "form_option"], ['"a"', "form_type"], ['{"0":"a"}', "form_type"]]], // biome-ignore format: one case, one line
    ['{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}', ["[]", '["a"]'], [['["A"]', "form_option"], ["[null]", "form_option"]]], // biome-ignore format: one case, one line
  ];
  for (const [field, good, bad] of cases) {
    const schema = form(`"f":${field}`, ',"required":["f"]');
    t.equal(formSchemaFault(schema), undefined, field);
    for (const value of good) t.equal(check(schema, `{"f":${value}}`), undefined, `${value} in ${field}`);
    for (const [value, fault] of bad) t.equal(check(schema, `{"f":${value}}`), fault, `${value} in ${field}`);
  }
});

t.test("formats", async (t) => {
  const cases: [format: string, good: string[], bad: string[]][] = [
    [
      "email",
      ["a@b.example", "user+tag@mail.example.com", "o'brien@example.ie", "a.b-c_d@x.co", "пример@пример.рф", "a@localhost"], // biome-ignore format: one list
      ["", "a", "@b.c", "a@", "a@b@c.d", "a b@c.d", "a@b c.d", ".a@b.c", "a..b@c.d", "a.@b.c", "a@.c", "a@b..c", "a@-b.c", "a@b-.c", "a@b.c\n", "a@b.c\u0000", "a\u202e@b.c", "<a@b.c>", "a@b.c,d@e.f", `${"a".repeat(65)}@b.c`, `a@${"b".repeat(64)}.c`], // biome-ignore format: one list
    ],
    [
      "uri",
      [
        "https://a.example/x?y=1#z",
        "mailto:a@b.c",
        "urn:isbn:1",
        "file:///a",
        "a:",
        "http://[::1]/",
        "x:%20",
      ],
      ["", "a", "/x", "//a.example", "1a:x", "http://a b", "http://a/%zz", "http://a/%2", "http://é.example", "http://a/<x>", "http://a\n", ":x"], // biome-ignore format: one list
    ],
    [
      "date",
      ["2024-02-29", "2000-02-29", "2026-12-31", "0001-01-01"],
      ["2023-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-04-31", "2026-01-00", "2026-1-1", "26-01-01", "2026-01-01T00:00:00Z", " 2026-01-01", "2026-01-01\n", "２０２６-01-01"], // biome-ignore format: one list
    ],
    [
      "date-time",
      ["2026-07-28T23:59:59Z", "2026-07-28t00:00:00.123456789z", "2024-02-29T12:00:00+14:00", "1990-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00", "1991-01-01T00:59:60+01:00"], // biome-ignore format: one list
      ["2026-07-28", "2026-07-28T12:00Z", "2026-07-28T12:00:00", "2026-07-28 12:00:00Z", "2023-02-29T12:00:00Z", "2026-07-28T24:00:00Z", "2026-07-28T12:60:00Z", "2026-07-28T12:00:61Z", "2026-07-28T12:00:60Z", "1990-12-31T23:59:60+01:00", "2026-07-28T12:00:00+24:00", "2026-07-28T12:00:00+01:60", "2026-07-28T12:00:00+0100", "2026-07-28T12:00:00.Z", "2026-07-28T12:00:00Z\n"], // biome-ignore format: one list
    ],
  ];
  for (const [format, good, bad] of cases) {
    const schema = form(`"f":{"type":"string","format":"${format}"}`);
    for (const text of good) t.equal(checkForm(schema, { f: text }), undefined, `${format} ${text}`);
    for (const text of bad)
      t.equal(checkForm(schema, { f: text }), "form_format", `${format} ${JSON.stringify(text)}`);
  }
});

t.test("presence", async (t) => {
  const schema = form('"a":{"type":"string"},"b":{"type":"number"}', ',"required":["a"]');
  t.equal(check(schema, '{"a":"x"}'), undefined, "b may be absent");
  t.equal(check(schema, '{"a":"x","b":null}'), "form_type", "null is not absent");
  t.equal(check(schema, '{"b":1}'), "form_required");
  t.equal(check(schema, "{}"), "form_required");
  t.equal(check(schema, '{"a":"x","c":{"deep":[]}}'), undefined, "what was not asked is not looked at");
  for (const content of ["null", "[]", '"a"', "1"]) t.equal(check(schema, content), "form_shape", content);
  t.equal(check(form(""), "{}"), undefined);
});

t.test("names of object methods are names like others", async (t) => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]) {
    const schema = form(`"${name}":{"type":"string","maxLength":1}`, `,"required":["${name}"]`);
    t.same([...fieldNames(schema)], [name]);
    t.equal(check(schema, "{}"), "form_required", `${name} absent`);
    t.equal(check(schema, `{"${name}":"x"}`), undefined, `${name} present`);
    t.equal(check(schema, `{"${name}":"xx"}`), "form_length", `${name} too long`);
    t.equal(check(schema, `{"${name}":{"a":1}}`), "form_type", `${name} an object`);
  }
});

t.test("hostile sizes cost linear time", async (t) => {
  const long = "a".repeat(200_000);
  for (const format of ["email", "uri", "date", "date-time"]) {
    const schema = form(`"f":{"type":"string","format":"${format}"}`);
    t.equal(checkForm(schema, { f: `${long}@` }), "form_format", format);
  }
  t.equal(checkForm(form('"f":{"type":"string","maxLength":10}'), { f: long }), "form_length");
});

t.test("a schema that was never judged fails closed", async (t) => {
  t.equal(checkForm(null, {}), "form_schema");
  t.equal(checkForm({ type: "object" }, {}), "form_schema");
  t.equal(checkForm(form('"f":1'), { f: 1 }), "form_schema");
  t.equal(checkForm(form('"f":{}'), { f: 1 }), "form_schema");
  t.equal(checkForm(form('"f":{"type":"array"}'), { f: [] }), "form_schema");
  t.equal(checkForm(form('"f":{"type":"string","format":"x"}'), { f: "" }), "form_format");
  t.same([...fieldNames("x")], []);
});
