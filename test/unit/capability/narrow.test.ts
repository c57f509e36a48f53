import fc from "fast-check";
import t from "tap";
import { narrow } from "../../../src/capability/narrow.ts";
import type { Ask } from "../../../src/config/schema.ts";
import { scan } from "../../../src/json/scan.ts";
import { splice } from "../../../src/json/splice.ts";
import { parseDeclared } from "../../../src/mcp/capabilities.ts";

const ALL: Ask[] = ["elicitation.form", "elicitation.url", "sampling", "roots"];
const LIMITS = { bytes: 1 << 20, depth: 64 };
const KEY = '"io.modelcontextprotocol/clientCapabilities"';

function narrowed(capabilities: string, allow: readonly Ask[]): string {
  const before = `{ "a" : 1.10, ${KEY} :${capabilities}, "z":"\\u0061" }`;
  const doc = scan(Buffer.from(before), LIMITS);
  const after = splice(doc.bytes, narrow(doc, doc.root, new Set(allow))).toString();
  const head = `{ "a" : 1.10, ${KEY} :`;
  const tail = ', "z":"\\u0061" }';
  if (!after.startsWith(head) || !after.endsWith(tail)) throw new Error(`other bytes changed: ${after}`);
  return after.slice(head.length, after.length - tail.length);
}

t.test("takes away what policy does not allow, and nothing else", async (t) => {
  const both = '{"elicitation":{"form":{},"url":{}}}';
  const cases: [capabilities: string, allow: Ask[], left: string][] = [
    ["{}", [], "{}"],
    [both, ALL, both],
    [both, ["elicitation.form"], '{"elicitation":{"form":{}}}'],
    [both, ["elicitation.url"], '{"elicitation":{"url":{}}}'],
    [both, [], "{}"],
    ['{"elicitation":{}}', ["elicitation.form"], '{"elicitation":{}}'],
    ['{"elicitation":{}}', ["elicitation.url"], "{}"],
    ['{"elicitation":{"url":{}}}', ["elicitation.form"], "{}"],
    ['{"elicitation":{"form":{"applyDefaults":true},"url":{},"x":{}}}', ["elicitation.form"], '{"elicitation":{"form":{"applyDefaults":true},"x":{}}}'], // biome-ignore format: one case, one line
    ['{"elicitation":{"url":{},"x":{}}}', ["elicitation.form"], "{}"],
    ['{"sampling":{"tools":{}},"roots":{}}', ["sampling"], '{"sampling":{"tools":{}}}'],
    ['{"sampling":{},"roots":{}}', ["roots"], '{"roots":{}}'],
    ['{"x":[1.10,{"roots":{}}],"sampling":{}}', [], '{"x":[1.10,{"roots":{}}]}'],
    ['{"s\\u0061mpling":{},"x":1}', [], '{"x":1}'],
    ['{ "elicitation" : { "form" : {} , "url" : {} } , "roots" : {} }', ["elicitation.url", "roots"], '{ "elicitation" : { "url" : {} } , "roots" : {} }'], // biome-ignore format: one case, one line
    ['{"extensions":{"io.modelcontextprotocol/tasks":{}}}', ALL, '{"extensions":{}}'],
    ['{"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{},"c/d":{}},"roots":{}}', [], '{"extensions":{"a/b":{},"c/d":{}}}'], // biome-ignore format: one case, one line
    [
      '{"extensions":{"io.modelcontextprotocol/ui":{}}}',
      [],
      '{"extensions":{"io.modelcontextprotocol/ui":{}}}',
    ],
    ['{"extensions":{"IO.modelcontextprotocol/Tasks":{},"a/b":{}}}', ALL, '{"extensions":{"a/b":{}}}'],
  ];
  for (const [capabilities, allow, left] of cases)
    t.equal(narrowed(capabilities, allow), left, `${capabilities} with ${allow.join()}`);
});

t.test("no declaration, no edit", async (t) => {
  const doc = scan(Buffer.from('{"elicitation":{}}'), LIMITS);
  t.same(narrow(doc, undefined, new Set()), []);
  t.same(narrow(doc, doc.root, new Set()), []);
});

t.test("the tasks extension stays where it is served, and nothing else for that", async (t) => {
  const text = '{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}';
  const meta = `{"io.modelcontextprotocol/clientCapabilities":${text}}`;
  const doc = scan(Buffer.from(meta), LIMITS);
  const left = splice(doc.bytes, narrow(doc, doc.root, new Set(), true)).toString();
  t.equal(left, meta.replace('"roots":{},', ""));
});

t.test("what is left is the intersection of declaration and policy", async (t) => {
  const capabilities = fc
    .record(
      {
        elicitation: fc.record({ form: fc.constant({}), url: fc.constant({}) }, { requiredKeys: [] }),
        sampling: fc.record({ tools: fc.constant({}), context: fc.constant({}) }, { requiredKeys: [] }),
        roots: fc.constant({}),
        extensions: fc.constant({ "io.modelcontextprotocol/tasks": {}, "a/b": {} }),
        other: fc.constant(1),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value));
  const declare = (text: string) => {
    const doc = scan(Buffer.from(`{${KEY}:${text}}`), LIMITS);
    return parseDeclared(doc, doc.root);
  };
  fc.assert(
    fc.property(capabilities, fc.subarray(ALL), (text, allow) => {
      const before = declare(text);
      const left = narrowed(text, allow);
      const sampling = allow.includes("sampling");
      t.same(declare(left), {
        form: before.form && allow.includes("elicitation.form"),
        url: before.url && allow.includes("elicitation.url"),
        sampling: before.sampling && sampling,
        samplingTools: before.samplingTools && sampling,
        samplingContext: before.samplingContext && sampling,
        roots: before.roots && allow.includes("roots"),
      });
      return !left.includes("tasks");
    }),
  );
});
