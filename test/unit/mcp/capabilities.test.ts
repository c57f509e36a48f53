import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import {
  type Declared,
  declaresTasks,
  missingCapabilities,
  type Need,
  parseDeclared,
} from "../../../src/mcp/capabilities.ts";
import { NOTHING } from "../../support/declared.ts";

function declare(capabilities: string): Declared {
  const text = `{"io.modelcontextprotocol/clientCapabilities":${capabilities}}`;
  const doc = scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
  return parseDeclared(doc, doc.root);
}

t.test("reads what a request declares", async (t) => {
  const cases: [capabilities: string, declared: Partial<Declared>][] = [
    ["{}", {}],
    ['{"elicitation":{}}', { form: true }],
    ['{"elicitation":{"form":{}}}', { form: true }],
    ['{"elicitation":{"form":{"applyDefaults":true}}}', { form: true }],
    ['{"elicitation":{"url":{}}}', { url: true }],
    ['{"elicitation":{"form":{},"url":{}}}', { form: true, url: true }],
    ['{"elicitation":{"schemaValidation":true}}', { form: true }],
    ['{"elicitation":{"url":{},"other":{}}}', { url: true }],
    ['{"sampling":{}}', { sampling: true }],
    ['{"sampling":{"tools":{}}}', { sampling: true, samplingTools: true }],
    ['{"sampling":{"context":{}}}', { sampling: true, samplingContext: true }],
    ['{"roots":{"listChanged":true}}', { roots: true }],
    ['{"experimental":{"elicitation":{}},"x":1,"extensions":{"Example/Tasks":true}}', {}],
    ['{"extensions":{"io.modelcontextprotocol/tasks":{}}}', {}],
  ];
  for (const [capabilities, declared] of cases)
    t.same(declare(capabilities), { ...NOTHING, ...declared }, capabilities);

  const doc = scan(Buffer.from('{"elicitation":{}}'), { bytes: 64, depth: 8 });
  t.same(parseDeclared(doc, doc.root), NOTHING, "nothing beside the declaration counts");
  t.same(parseDeclared(doc, undefined), NOTHING, "no _meta");
});

t.test("the tasks extension is declared by an object, under its own name", async (t) => {
  const declares = (extensions: string): boolean => {
    const text = `{"io.modelcontextprotocol/clientCapabilities":{"extensions":${extensions}}}`;
    const doc = scan(Buffer.from(text), { bytes: 1_024, depth: 8 });
    return declaresTasks(doc, doc.root);
  };
  t.ok(declares('{"io.modelcontextprotocol/tasks":{}}'));
  t.ok(declares('{"io.modelcontextprotocol\\/tasks":{"x":1}}'));
  for (const value of ["null", "true", "[]", '""'])
    t.notOk(declares(`{"io.modelcontextprotocol/tasks":${value}}`), value);
  for (const other of ["{}", "null", "[]", '{"io.modelcontextprotocol/Tasks":{}}'])
    t.notOk(declares(other), other);
});

t.test("wrong types and twins are refused", async (t) => {
  for (const capabilities of [
    "[]",
    "null",
    '"elicitation"',
    '{"elicitation":true}',
    '{"elicitation":null}',
    '{"elicitation":[]}',
    '{"elicitation":{"form":true}}',
    '{"elicitation":{"url":null}}',
    '{"sampling":"yes"}',
    '{"sampling":{"tools":[]}}',
    '{"sampling":{"context":1}}',
    '{"roots":false}',
    '{"extensions":[]}',
  ])
    t.throws(() => declare(capabilities), { code: "invalid_params", detail: "capabilities" }, capabilities);
  for (const capabilities of [
    '{"Elicitation":{}}',
    '{"elicitation":{},"ELICITATION":{"url":{}}}',
    '{"elicitation":{"form":{},"Url":{}}}',
    '{"sampling":{"Tools":{}}}',
    '{"\u017fampling":{}}',
    '{"Roots":{}}',
    '{"extensions":{"io.modelcontextprotocol/Tasks":{}}}',
  ]) {
    const refusal = { code: "invalid_params", detail: "capability_case_twin" };
    t.throws(() => declare(capabilities), refusal, capabilities);
  }
});

t.test("names exactly what is missing", async (t) => {
  const form = { ...NOTHING, form: true };
  const sampling = { ...NOTHING, sampling: true };
  const cases: [needs: Need[], declared: Declared, missing: object | undefined][] = [
    [[], NOTHING, undefined],
    [["form"], form, undefined],
    [["form"], NOTHING, { elicitation: { form: {} } }],
    [["url"], form, { elicitation: { url: {} } }],
    [["form", "url"], NOTHING, { elicitation: { form: {}, url: {} } }],
    [["form", "url"], form, { elicitation: { url: {} } }],
    [["sampling"], NOTHING, { sampling: {} }],
    [["sampling", "samplingTools"], NOTHING, { sampling: { tools: {} } }],
    [["sampling", "samplingTools"], sampling, { sampling: { tools: {} } }],
    [["sampling", "samplingContext"], sampling, { sampling: { context: {} } }],
    [["roots"], NOTHING, { roots: {} }],
    [["form", "url", "sampling", "roots"], form, { elicitation: { url: {} }, sampling: {}, roots: {} }],
  ];
  for (const [needs, declared, missing] of cases)
    t.same(missingCapabilities(needs, declared), missing, needs.join());
});
