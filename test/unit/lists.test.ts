import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import { scan } from "../../src/json/scan.ts";
import { editObject, splice } from "../../src/json/splice.ts";
import { filterList, isList, privateMembers } from "../../src/lists.ts";
import { ANONYMOUS } from "../../src/principal/principal.ts";

const policies = [
  { id: "no", effect: "deny", tools: ["admin_*"], prompts: ["p?"], resources: ["file:///etc/*"] },
];
const partly = createAuthorizer({ default: "allow", policies } as Parameters<typeof createAuthorizer>[0]);
const nothing = createAuthorizer({ default: "deny", policies: [] });
const everything = createAuthorizer({ default: "allow", policies: [] });

function filter(text: string, method?: string, authorizer = partly): string {
  const doc = scan(Buffer.from(text), { bytes: 10_000, depth: 20 });
  return splice(doc.bytes, filterList(authorizer, ANONYMOUS, doc, doc.root, method).edits).toString();
}

t.test("what may not be used is taken out, everything else stays byte for byte", async (t) => {
  for (const [method, before, after] of [
    [
      "tools/list",
      '{ "tools": [ {"name":"admin_x"} , {"name":"a","n":1.0} ] }',
      '{ "tools": [ {"name":"a","n":1.0} ] }',
    ],
    [
      "tools/list",
      '{"tools":[{"name":"a"},{"name":"admin_x"},{"name":"b"}],"nextCursor":"c"}',
      '{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"c"}',
    ],
    ["tools/list", '{"tools":[{"name":"\\u0061dmin_x"}]}', '{"tools":[]}'],
    ["tools/list", '{"tools":[]}', '{"tools":[]}'],
    ["tools/list", '{"x":1.0}', '{"x":1.0}'],
    ["prompts/list", '{"prompts":[{"name":"p1"},{"name":"p12"}]}', '{"prompts":[{"name":"p12"}]}'],
    [
      "resources/list",
      '{"resources":[{"uri":"file:///etc/a","name":"ok"},{"uri":"file:///b"}]}',
      '{"resources":[{"uri":"file:///b"}]}',
    ],
    [
      "resources/templates/list",
      '{"resourceTemplates":[{"uriTemplate":"file:///etc/{x}"}]}',
      '{"resourceTemplates":[]}',
    ],
  ] as const)
    t.equal(filter(before, method), after, before);
});

t.test("an entry without a readable name goes too", async (t) => {
  for (const item of [
    "{}",
    '{"name":7}',
    '{"name":null}',
    '"a"',
    "null",
    "[]",
    '{"Name":"a"}',
    '{"name":"\\ud800"}',
  ])
    t.equal(filter(`{"tools":[${item}]}`, "tools/list"), '{"tools":[]}', item);
});

t.test("every list in the answer to a request for lists, none in data", async (t) => {
  const mixed = '{"tools":[{"name":"admin_x"}],"prompts":[{"name":"p1"}]}';
  for (const method of ["prompts/list", "resources/templates/list", "server/discover", undefined])
    t.equal(filter(mixed, method), '{"tools":[],"prompts":[]}', method ?? "any");
  for (const method of ["resources/read", "completion/complete", "vendor/status"])
    t.equal(filter(mixed, method), mixed, method);
  t.equal(filter(mixed, "tools/call"), mixed);
});

t.test("twins by case: a list is refused, an item goes", async (t) => {
  const twins = ['{"tools":[],"Tools":[]}', '{"Tools":[]}', '{"prompts":[],"re\u017fources":[]}'];
  const fault = { code: "upstream_fault", detail: "case_twin" };
  for (const text of twins)
    for (const m of ["prompts/list", undefined]) t.throws(() => filter(text, m), fault);
  t.equal(filter('{"tools":[{"name":"a","Name":"b"},{"name":"c","title":"C"}]}', "tools/list"), '{"tools":[{"name":"c","title":"C"}]}'); // biome-ignore format: one case, one line
  t.equal(filter('{"resources":[{"uri":"x:a","URI":"x:b"},{"uri":"x:c","Name":"n"}]}', "resources/list"), '{"resources":[{"uri":"x:c","Name":"n"}]}'); // biome-ignore format: one case, one line
  t.equal(filter('{"Tools":[]}', "tools/call"), '{"Tools":[]}', "data");
  t.equal(filter('{"Tools":[]}', "tools/list", everything), '{"Tools":[]}', "where nothing is hidden");
});

t.test("what stands in place of a list, and names longer than any", async (t) => {
  for (const list of ['{"0":{"name":"admin_x"}}', '"admin_x"', "null"]) {
    const text = `{"tools":${list}}`;
    t.throws(() => filter(text, "tools/list"), { code: "upstream_fault", detail: "list_shape" });
    t.equal(filter(text), text, "data of an older revision may have any shape");
  }
  const named = (length: number) => `{"tools":[{"name":"${"a".repeat(length)}"}]}`;
  t.equal(filter(named(1024), "tools/list"), named(1024));
  t.equal(filter(named(1025), "tools/list"), '{"tools":[]}');
});

t.test("nothing is read where everything is allowed, nothing shown where nothing is", async (t) => {
  const odd = '{"tools":[7,{"name":"admin_x"}]}';
  t.equal(filter(odd, "tools/list", everything), odd);
  t.equal(filter('{"tools":[{"name":"a"}]}', "tools/list", nothing), '{"tools":[]}');
});

t.test("which methods are lists", async (t) => {
  for (const method of ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
    t.ok(isList(method));
  for (const method of ["tools/call", "roots/list", "Tools/list", ""]) t.notOk(isList(method), method);
});

t.test("private: always where it must be, else only in place of what is there", async (t) => {
  const made = (text: string, must: boolean): string => {
    const doc = scan(Buffer.from(text), { bytes: 10_000, depth: 20 });
    return splice(
      doc.bytes,
      editObject(doc, doc.root, { set: privateMembers(doc, doc.root, must) }),
    ).toString();
  };
  t.equal(made('{"a":1.0}', true), '{"a":1.0,"cacheScope":"private","ttlMs":0}');
  t.equal(made('{"ttlMs":60000,"cacheScope":"public"}', true), '{"ttlMs":0,"cacheScope":"private"}');
  t.equal(made('{"cacheScope":7}', false), '{"cacheScope":"private"}');
  t.equal(made('{"a":1.0}', false), '{"a":1.0}');
});
