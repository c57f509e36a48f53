/** SARIF 2.1.0: the structure that the standard's schema asks for, with nothing beside it, and levels and kinds that go together. */
import { Ajv2020 } from "ajv/dist/2020.js";
import t from "tap";
import { sarifReport } from "../../../src/review/report/sarif.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";

const closed = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  ...{ type: "object", properties, required, additionalProperties: false },
});
const list = (items: object): object => ({ type: "array", items });
const text = { type: "string", minLength: 1 };
const bag = { type: "object" };
const message = closed({ text });
const instant = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$" };
const kinds = ["notApplicable", "pass", "fail", "review", "open"];

/** Sections 3.13 to 3.52, as far as reports go, and closed where the standard is. */
const isSarif = new Ajv2020().compile(
  closed({
    $schema: text,
    version: { const: "2.1.0" },
    runs: list(
      closed({
        tool: closed({
          driver: closed({
            name: text,
            version: text,
            rules: {
              ...list(
                closed({
                  ...{
                    id: text,
                    name: text,
                    shortDescription: message,
                    fullDescription: message,
                    help: message,
                  },
                  defaultConfiguration: closed({ level: { enum: ["none", "note", "warning", "error"] } }),
                  properties: bag,
                }),
              ),
              uniqueItems: true,
            },
          }),
        }),
        invocations: list(
          closed({ executionSuccessful: { type: "boolean" }, startTimeUtc: instant, endTimeUtc: instant }),
        ),
        columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
        results: list(
          closed({
            ruleId: text,
            ruleIndex: { type: "integer", minimum: 0 },
            kind: { enum: kinds },
            level: { enum: ["none", "note", "warning", "error"] },
            message,
            locations: list(
              closed({
                logicalLocations: list(closed({ name: text, fullyQualifiedName: text, kind: text })),
              }),
            ),
            partialFingerprints: {
              type: "object",
              additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
            },
            properties: bag,
          }),
        ),
        properties: bag,
      }),
    ),
  }),
);

const runOf = (record: typeof RECORD) => {
  const log = JSON.parse(sarifReport(record));
  return { log, run: log.runs[0] };
};

t.test("the structure, also of hostile and of empty records", async (t) => {
  const records = {
    RECORD,
    hostile: hostileRecord(HOSTILE),
    long: hostileRecord(LONG),
    empty: { ...RECORD, calls: [], results: [], exchanges: [] },
  };
  for (const [name, record] of Object.entries(records)) {
    const { log, run } = runOf(record);
    t.equal(isSarif(log), true, `${name}: ${JSON.stringify(isSarif.errors)}`);
    for (const { ruleId, ruleIndex, kind, level } of run.results) {
      t.equal(run.tool.driver.rules[ruleIndex].id, ruleId);
      t.equal(kind === "fail", level !== "none", "a level goes with a failure only (3.27.10)");
    }
    t.ok(sarifReport(record).length < 400_000, name);
  }
});

t.test("kinds and levels by verdict and clause", async (t) => {
  const { run } = runOf(RECORD);
  const standing = (check: string): readonly string[] => {
    const { kind, level } = run.results.find(({ ruleId }: { ruleId: string }) => ruleId === check);
    return [kind, level];
  };
  t.same(standing("state/tampered"), ["fail", "error"]);
  t.same(standing("question/schema"), ["fail", "warning"], "a warning against a SHOULD");
  t.same(standing("connection/cut"), ["open", "none"]);
  t.same(standing("state/expiry"), ["notApplicable", "none"]);
  t.same(standing("answers/refusal"), ["pass", "none"]);
  const warned = (level: "MUST" | "advice") => {
    const [one] = RECORD.results.filter(({ verdict }) => verdict === "warn");
    const results = one === undefined ? [] : [{ ...one, clause: { ...one.clause, level } }];
    return runOf({ ...RECORD, results }).run.results[0];
  };
  t.match(warned("MUST"), { kind: "review", level: "none" }, "not to be told for certain");
  t.match(warned("advice"), { kind: "fail", level: "note" });
});

t.test("rules say what to do and where it stands; results where, and what shows it", async (t) => {
  const { run } = runOf(RECORD);
  const rule = run.tool.driver.rules.find(({ id }: { id: string }) => id === "state/tampered");
  t.match(rule, {
    name: "StateTampered",
    shortDescription: { text: "A tampered state is refused" },
    defaultConfiguration: { level: "error" },
  });
  t.match(rule.help.text, /^Protect the state .* Rule \(MUST\): .* Source: basic\/patterns\/mrtr$/);
  const result = run.results[rule === undefined ? 0 : 1];
  t.same(result.locations[0].logicalLocations, [
    {
      name: "transfer",
      fullyQualifiedName: "http://127.0.0.1:4700/mcp#transfer tools/call transfer",
      kind: "tool",
    },
  ]);
  t.same(
    result.properties.exchanges.map(({ number }: { number: number }) => number),
    [3, 4],
  );
  t.equal(run.results.at(-1).locations[0].logicalLocations[0].kind, "endpoint");
  const prints = run.results.map(({ partialFingerprints }: { partialFingerprints: object }) =>
    JSON.stringify(partialFingerprints),
  );
  t.equal(new Set(prints).size, prints.length, "each its own");
  t.same(run, runOf(RECORD).run, "the same for the same record");
});

t.test("messages hold no links, placeholders or unseen characters of a server", async (t) => {
  const report = sarifReport(hostileRecord(HOSTILE));
  t.notMatch(report.replaceAll("\n", ""), UNSEEN);
  const { run } = runOf(hostileRecord(HOSTILE));
  for (const { message } of run.results) {
    t.notMatch(message.text, "](");
    t.match(message.text, "{{0}}");
    t.notMatch(message.text.replaceAll(/\{\{|\}\}/g, ""), /[{}]/);
  }
});

t.test("a review that established nothing has not succeeded", async (t) => {
  t.equal(runOf(RECORD).run.invocations[0].executionSuccessful, true);
  t.equal(runOf({ ...RECORD, results: [] }).run.invocations[0].executionSuccessful, false);
});
