/** JUnit XML: well-formed, in the structure that CI systems read, counted right, and harmless with hostile names. */
import t from "tap";
import { junitReport } from "../../../src/review/report/junit.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";
import { parseXml, type XmlElement } from "./report-xml.ts";

/** Of junit-10.xsd: attributes that must stand and that may, and what may stand inside. */
const FORM: Readonly<
  Record<string, { must: readonly string[]; may: readonly string[]; inner: readonly string[]; text?: true }>
> = {
  testsuites: { must: [], may: ["name", "time", "tests", "failures", "errors"], inner: ["testsuite"] },
  testsuite: {
    must: ["name", "tests", "failures", "errors"],
    may: ["time", "skipped", "timestamp"],
    inner: ["properties", "testcase"],
  },
  properties: { must: [], may: [], inner: ["property"] },
  property: { must: ["name", "value"], may: [], inner: [] },
  testcase: {
    must: ["name"],
    may: ["time", "classname"],
    inner: ["skipped", "error", "failure", "system-out"],
  },
  skipped: { must: [], may: ["type", "message"], inner: [], text: true },
  error: { must: [], may: ["type", "message"], inner: [], text: true },
  failure: { must: [], may: ["type", "message"], inner: [], text: true },
  "system-out": { must: [], may: [], inner: [], text: true },
};

function faultsOf({ name, attributes, inner, text }: XmlElement): readonly string[] {
  const form = FORM[name];
  if (form === undefined) return [`no element ${name}`];
  const has = Object.keys(attributes);
  return [
    ...form.must.filter((one) => !has.includes(one)).map((one) => `${name} without ${one}`),
    ...has
      .filter((one) => !form.must.includes(one) && !form.may.includes(one))
      .map((one) => `${name} with ${one}`),
    ...(form.text !== true && text.trim() !== "" ? [`${name} with text`] : []),
    ...(has.includes("time") && !/^\d+\.\d{3}$/.test(attributes["time"] ?? "")
      ? [`time ${attributes["time"]}`]
      : []),
    ...inner.filter((one) => !form.inner.includes(one.name)).map((one) => `${one.name} in ${name}`),
    ...inner.flatMap(faultsOf),
  ];
}

t.test("a suite per call and one for the endpoint, a case per check", async (t) => {
  const root = parseXml(junitReport(RECORD));
  t.same(faultsOf(root), []);
  t.match(root.attributes, { tests: "9", failures: "1", errors: "1" });
  t.same(
    root.inner.map(({ attributes: { name, tests, failures, errors, skipped } }) => [
      name,
      tests,
      failures,
      errors,
      skipped,
    ]),
    [
      ["call transfer", "8", "1", "1", "2"],
      ["endpoint", "1", "0", "0", "0"],
    ],
  );
  const cases = root.inner.flatMap(({ inner }) => inner.filter(({ name }) => name === "testcase"));
  const outcome = (check: string): readonly (string | undefined)[] => {
    const one = cases.find(({ attributes }) => attributes["name"]?.startsWith(`${check}: `));
    return [one?.inner[0]?.name, one?.inner[0]?.attributes["message"]];
  };
  t.same(outcome("state/tampered"), [
    "failure",
    "One bit of the state was turned, and the call was carried out all the same.",
  ]);
  t.same(outcome("connection/cut"), [
    "error",
    "The probe of effects gave no answer, so nobody can tell whether the call ran.",
  ]);
  t.same(outcome("state/expiry"), ["skipped", "The plan does not allow to wait for the expiry."]);
  t.same(outcome("question/schema"), ["system-out", undefined], "a warning passes, and is told");
  const warned = cases.find(({ attributes }) => attributes["name"]?.startsWith("question/schema"));
  t.match(warned?.inner[0]?.text, /^warn: The form has a member/);
  t.same(outcome("answers/refusal"), [undefined, undefined]);
  t.match(
    cases.find(({ attributes }) => attributes["name"]?.startsWith("state/tampered"))?.inner[0]?.text,
    /Advice: .*\n#3 .*\n#4 /,
  );
});

t.test("a review that established nothing is no green run", async (t) => {
  const none = RECORD.results.filter(({ verdict }) => verdict === "not_applicable");
  for (const record of [
    { ...RECORD, calls: [], results: [] },
    { ...RECORD, results: none },
  ]) {
    const root = parseXml(junitReport(record));
    t.same(faultsOf(root), []);
    t.equal(root.attributes["errors"], "1");
  }
  const passed = RECORD.results.filter(({ verdict }) => verdict === "pass");
  t.equal(parseXml(junitReport({ ...RECORD, results: passed })).attributes["errors"], "0");
});

t.test("hostile names are text", async (t) => {
  for (const [name, text] of Object.entries({ HOSTILE, LONG })) {
    const report = junitReport(hostileRecord(text));
    const root = parseXml(report);
    t.same(faultsOf(root), [], name);
    t.equal(root.attributes["tests"], "9");
    t.notMatch(report.replaceAll("\n", ""), UNSEEN, name);
    t.ok(report.length < 400_000, `${name}: ${report.length}`);
  }
});

t.test("the reader of this test is strict", async (t) => {
  t.throws(() => parseXml("<a>"));
  t.throws(() => parseXml("<a></b>"));
  t.throws(() => parseXml(`<a b="<"/>`));
  t.throws(() => parseXml("<a>&nbsp;</a>"));
  t.throws(() => parseXml(`<a b="1" b="2"/>`));
  t.throws(() => parseXml("<a>\u0000</a>"));
  t.throws(() => parseXml("<a/><b/>"));
});
