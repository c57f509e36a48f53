/** The record as JSON, and its published schema: checked in, closed, described, and held to by an independent validator. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import t from "tap";
import { reviewRecord } from "../../../src/review/record.ts";
import { jsonReport, reviewSchema, reviewSchemaText } from "../../../src/review/report/json.ts";
import { openCommands } from "../../support/commands.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";

type Node = Readonly<Record<string, unknown>>;

const isValid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(reviewSchema());

t.test("what is checked in is, byte for byte, what `npm run review-schema` writes", async (t) => {
  const command = openCommands(t);
  const { code, out } = await command(["review", "schema"]);
  t.equal(code, 0);
  t.equal(out, reviewSchemaText());
  const checkedIn = readFileSync(new URL("../../../config/review.schema.json", import.meta.url), "utf8");
  t.equal(checkedIn, reviewSchemaText());
});

t.test("closed, and nothing may be null", async (t) => {
  const root = reviewSchema();
  t.equal(root["$schema"], "https://json-schema.org/draft/2020-12/schema");
  let closed = 0;
  const walk = (node: Node, path: string): void => {
    t.notOk("$ref" in node || node["type"] === "null", `${path} is written out`);
    if (node["type"] === "object" && node["propertyNames"] === undefined) {
      closed++;
      t.equal(node["additionalProperties"], false, `${path} is closed`);
    }
    for (const [name, child] of Object.entries((node["properties"] ?? {}) as Record<string, Node>))
      walk(child, `${path}.${name}`);
    if (node["items"] !== undefined) walk(node["items"] as Node, `${path}[]`);
    for (const child of (node["oneOf"] ?? node["anyOf"] ?? []) as readonly Node[]) walk(child, `${path}|`);
  };
  walk(root, "record");
  t.ok(closed > 12, `${closed} objects`);
});

t.test("records fit it, also as texts, and mean the same", async (t) => {
  for (const [name, record] of Object.entries({
    RECORD,
    hostile: hostileRecord(HOSTILE),
    long: hostileRecord(LONG),
  })) {
    const parsed: unknown = JSON.parse(jsonReport(record));
    t.same(parsed, JSON.parse(JSON.stringify(record)), name);
    t.equal(isValid(parsed), true, `${name}: ${JSON.stringify(isValid.errors)}`);
    t.equal(reviewRecord.safeParse(parsed).success, true, name);
  }
});

t.test("what is none is refused by both", async (t) => {
  const [first] = RECORD.results;
  const bad: Readonly<Record<string, unknown>> = {
    "another version": { ...RECORD, version: 2 },
    "a member too many": { ...RECORD, token: "t" },
    "a time of another form": { ...RECORD, startedAt: "2026-12-01 09:00" },
    "no counts": { ...RECORD, counts: undefined },
    "a verdict that there is not": { ...RECORD, results: [{ ...first, verdict: "ok" }] },
    "an id that is none": { ...RECORD, results: [{ ...first, check: "State/Tampered" }] },
    "an exchange without a number": { ...RECORD, exchanges: [{ ...RECORD.exchanges[0], number: 0 }] },
    "an answer of two kinds": {
      ...RECORD,
      exchanges: [{ ...RECORD.exchanges[0], received: { ...RECORD.exchanges[0]?.received, code: 1 } }],
    },
  };
  for (const [name, value] of Object.entries(bad)) {
    t.equal(isValid(JSON.parse(JSON.stringify(value))), false, name);
    t.equal(reviewRecord.safeParse(value).success, false, name);
  }
});

t.test("nothing in the text is obeyed or hidden where it is looked at", async (t) => {
  const report = jsonReport(hostileRecord(HOSTILE));
  t.match(report, "\\u001b[31m");
  t.match(report, "user\\u202egpj.exe");
  t.match(report, "\\udb40\\udc41", "in two halves");
  t.notMatch(report.replaceAll("\n", "").replaceAll("\uffff", ""), UNSEEN);
});
