import t from "tap";
import { checkForm } from "../../../src/mcp/form.ts";
import { exampleObject, exampleValue } from "../../../src/review/example-value.ts";

t.test("values fit their schemas, and two variants differ where they can", async (t) => {
  const fields = {
    text: { type: "string", minLength: 3, maxLength: 5 },
    mail: { type: "string", format: "email" },
    day: { type: "string", format: "date" },
    when: { type: "string", format: "date-time" },
    link: { type: "string", format: "uri" },
    number: { type: "number", minimum: 2.5, maximum: 4 },
    whole: { type: "integer", minimum: 7 },
    yes: { type: "boolean" },
    one: { type: "string", enum: ["a", "b"] },
    titled: { type: "string", oneOf: [{ const: "x", title: "X" }] },
    many: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, minItems: 2 },
  };
  const schema = { type: "object", properties: fields, required: Object.keys(fields) };
  for (const variant of ["one", "other"] as const)
    t.equal(checkForm(schema, exampleObject(schema, variant)), undefined, variant);
  t.notSame(exampleObject(schema), exampleObject(schema, "other"));
});

t.test("only what is required is made", async (t) => {
  t.strictSame(exampleObject({ properties: { a: { type: "string" } } }), {});
  t.strictSame(exampleObject({ properties: { a: { type: "string", default: "d" } }, required: ["a"] }), {
    a: "d",
  });
});

t.test("nothing is made where it is not certain to fit", async (t) => {
  for (const schema of [
    { type: "string", pattern: "^x" },
    { type: "string", format: "hostname" },
    { type: "string", minLength: 100_000 },
    { type: "string", format: "email", maxLength: 3 },
    { type: "number", multipleOf: 7 },
    { type: "number", minimum: 3, maximum: 2 },
    { $ref: "#/$defs/x" },
    { type: ["string", "null"] },
    { type: "array", minItems: 2, items: { type: "string" }, uniqueItems: true },
    {},
    "string",
  ])
    t.equal(exampleValue(schema), undefined, JSON.stringify(schema));
  t.equal(exampleObject({ properties: {}, required: ["constructor"] }), undefined);
  let deep: unknown = { type: "string" };
  for (let depth = 0; depth < 10; depth += 1)
    deep = { type: "object", properties: { a: deep }, required: ["a"] };
  t.equal(exampleObject(deep), undefined);
});
