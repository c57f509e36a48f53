import t from "tap";
import { checkForm } from "../../../src/mcp/form.ts";
import {
  exampleObject,
  exampleValue,
  missingExample,
  objectExample,
} from "../../../src/review/example-value.ts";

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
    { type: "number", multipleOf: 7, minimum: 1, maximum: 6 },
    { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 },
    { type: "number", exclusiveMinimum: true, minimum: 0 },
    { $ref: "https://elsewhere.example/schema" },
    { type: "number", minimum: 3, maximum: 2 },
    { $ref: "#/$defs/x" },
    { type: ["string", "number"] },
    { oneOf: [{ type: "string" }, { type: "number" }] },
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

t.test("bounds, steps, null, constants, presets and local references", async (t) => {
  for (const [schema, one, other] of [
    [{ type: "number", exclusiveMinimum: 0 }, 1, 2],
    [{ type: "integer", exclusiveMinimum: 4, exclusiveMaximum: 7 }, 5, 6],
    [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5, 0.5],
    [{ type: "number", maximum: -3 }, -3, -3],
    [{ type: "integer", multipleOf: 7, minimum: 1 }, 7, 14],
    [{ type: "integer", minimum: 1_000_003, multipleOf: 10 }, 1_000_010, 1_000_020],
    [{ anyOf: [{ type: "null" }, { type: "string" }] }, "review", "another review"],
    [{ oneOf: [{ type: "integer" }, { type: "null" }] }, 1, 2],
    [{ type: ["string", "null"] }, "review", "another review"],
    [{ const: 0 }, 0, 0],
    [{ type: "string", pattern: "^x", default: "xy" }, "xy", "xy"],
    [{ type: "string", pattern: "^x", examples: ["xz"] }, "xz", "xz"],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "boolean" } } }, true, false],
  ] as const) {
    t.equal(exampleValue(schema), one, JSON.stringify(schema));
    t.equal(exampleValue(schema, "other"), other, JSON.stringify(schema));
  }
  t.equal(exampleValue({ $ref: "#/a", a: { $ref: "#/a" } }), undefined, "a circle has an end");
  t.strictSame(
    exampleObject({
      $ref: "#/$defs/order",
      $defs: { order: { properties: { a: { const: 3 } }, required: ["a"] } },
    }),
    { a: 3 },
  );
});

t.test("what stands in the way is named", async (t) => {
  const told = (schema: unknown): string => {
    const made = objectExample(schema);
    return "value" in made ? "made" : missingExample(made);
  };
  t.match(
    told({
      properties: {
        to: { properties: { iban: { type: "string", pattern: "^DE" } }, required: ["iban"], type: "object" },
      },
      required: ["to"],
    }),
    /^property "to.iban" has "pattern"/,
  );
  t.match(told({ allOf: [] }), /^the schema has "allOf"/);
  t.match(
    told({ properties: { a: { type: "number", minimum: 3, maximum: 2 } }, required: ["a"] }),
    /"a" has "minimum"/,
  );
});
