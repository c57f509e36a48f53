/** The report on a terminal: the verdict on top and at the end, what was not tried beside what failed, and no byte that a terminal obeys. */
import t from "tap";
import type { RecordedResult, ReviewRecord } from "../../../src/review/record.ts";
import { conclusionOf } from "../../../src/review/report/findings.ts";
import { progressTo } from "../../../src/review/report/progress.ts";
import { isColoured, terminalReport } from "../../../src/review/report/terminal.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";

const PLAIN = { colour: false, columns: 100 };
const only = (...verdicts: RecordedResult["verdict"][]): ReviewRecord => ({
  ...RECORD,
  results: RECORD.results.filter(({ verdict }) => verdicts.includes(verdict)),
});

t.test("in order: conclusion, what was not established and why, failures, and passes last", async (t) => {
  const report = terminalReport(RECORD, PLAIN);
  const places = [
    "Endpoint    http://127.0.0.1:4700/mcp",
    "Not allowed The tool close-account is not called.",
    "✕ FAILED",
    "Not established, and why",
    "The plan does not allow to wait for the expiry.",
    "Failed (1)",
    "✕ state/tampered: A tampered state is refused (transfer)",
    "#4 tools/call transfer with requestState and inputResponses → HTTP 200: complete",
    "MUST: Servers must treat requestState",
    "Advice: Protect the state",
    "Inconclusive (1)",
    "Warnings (1)",
    "Not applicable (2)",
    "Passed (4)",
    "(the endpoint)",
    "✕ FAILED: 1 of 9 checks on 2 targets failed; 1 came to no result, 2 did not apply or were not allowed, 1 warning.",
  ].map((text) => [text, report.indexOf(text)] as const);
  for (const [text, at] of places) t.ok(at >= 0, text);
  t.same(
    places,
    [...places].sort(([, a], [, b]) => a - b),
  );
  t.equal(report.indexOf("\u001b"), -1);
});

t.test("the conclusion: nothing that was not established is a pass", async (t) => {
  const titles = (record: ReviewRecord): string => conclusionOf(record).title;
  t.equal(titles(RECORD), "Failed");
  t.equal(titles(only("pass", "inconclusive", "warn", "not_applicable")), "Incomplete");
  t.equal(titles(only("pass", "warn", "not_applicable")), "Passed");
  const must = only("pass", "warn");
  const untold = {
    ...must,
    results: must.results.map((one) => ({ ...one, clause: { ...one.clause, level: "MUST" as const } })),
  };
  t.match(conclusionOf(untold), { verdict: "warn", title: "Passed, 1 MUST rule could not be told" });
  const [before = "", after = ""] = terminalReport(untold, PLAIN).split("Warnings (1)");
  t.match(before, /! PASSED, 1 MUST RULE COULD NOT BE TOLD/);
  t.match(before, /Not established, and why\n {2}! warn\n/);
  t.match(after, /! PASSED, 1 MUST RULE COULD NOT BE TOLD: /);
  t.equal(titles(only("not_applicable")), "Nothing established");
  t.equal(titles(only("inconclusive", "not_applicable")), "Nothing established");
  t.equal(titles({ ...RECORD, calls: [], results: [] }), "Nothing established");
});

t.test("exchanges that went alike stand in one line", async (t) => {
  const [exchange] = RECORD.exchanges;
  const [result] = RECORD.results;
  if (exchange === undefined || result === undefined) return void t.fail();
  const exchanges = [1, 2, 3, 5, 6].map((number) => ({ ...exchange, number }));
  const report = terminalReport(
    { ...RECORD, exchanges, results: [{ ...result, verdict: "fail", exchanges: [1, 2, 3, 5, 6] }] },
    PLAIN,
  );
  t.match(report, /^ {6}#1–#3 tools\/call/m);
  t.match(report, /^ {6}#5–#6 tools\/call/m);
  t.notMatch(report, /#2 /);
});

t.test("calls that no check was tried on are told before what failed", async (t) => {
  const [call] = RECORD.calls;
  if (call === undefined) return void t.fail();
  const report = terminalReport(
    { ...RECORD, calls: [call, { ...call, name: "weather" }, { ...call, name: "time" }] },
    PLAIN,
  );
  const at = report.indexOf("No check was tried on what follows");
  t.ok(at > 0 && at < report.indexOf("Failed (1)"));
  t.match(report, "\n      weather, time\n");
  t.notMatch(terminalReport(RECORD, PLAIN), "No check was tried");
});

t.test("the same words about several calls stand once; each failure stands by itself", async (t) => {
  const twice = RECORD.results.flatMap((one) => [one, { ...one, call: "refund" }]);
  const report = terminalReport({ ...RECORD, results: twice }, PLAIN);
  t.match(report, "  – state/expiry: A state expires (transfer, refund)\n");
  t.match(report, "  ✓ answers/refusal: A declined question is not carried out (transfer, refund)\n");
  t.match(
    report,
    /state\/tampered: A tampered state is refused \(transfer\)\n[\s\S]*state\/tampered: A tampered state is refused \(refund\)\n/,
  );
  t.match(report, "Not applicable (4)");
});

t.test("colours only on a terminal, and never with NO_COLOR", async (t) => {
  t.equal(isColoured({}, true), true);
  t.equal(isColoured({ NO_COLOR: "" }, true), true);
  t.equal(isColoured({ NO_COLOR: "1" }, true), false);
  t.equal(isColoured({ TERM: "dumb" }, true), false);
  t.equal(isColoured({}, false), false);
  const coloured = terminalReport(RECORD, { colour: true, columns: 100 });
  t.match(coloured, "\u001b[31m✕");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  t.equal(coloured.replaceAll(/\u001b\[\d+m/g, ""), terminalReport(RECORD, PLAIN), "the same words");
});

t.test("a hostile server writes nothing that is obeyed, and not much", async (t) => {
  for (const [name, text] of Object.entries({ HOSTILE, LONG })) {
    const report = terminalReport(hostileRecord(text), PLAIN);
    t.notMatch(report.replaceAll("\n", ""), UNSEEN, name);
    t.ok(report.length < 200_000, `${name}: ${report.length}`);
  }
  const narrow = terminalReport(hostileRecord(LONG), { colour: false, columns: 0 });
  t.ok(narrow.includes("FAILED"));
});

t.test("progress: a line that its result replaces where it can, else plain lines", async (t) => {
  const written: string[] = [];
  const place = { write: (text: string) => void written.push(text), colour: false, columns: () => 30 };
  const [first, second] = RECORD.results as readonly [RecordedResult, RecordedResult];
  const play = (live: boolean): string => {
    written.length = 0;
    const progress = progressTo({ ...place, live });
    progress.note("Looks at what asks for input.");
    progress.checking(first, 1, 9);
    progress.found(first);
    progress.checking(second, 2, 9);
    progress.found(second);
    progress.checking({ ...second, call: HOSTILE }, 3, 9);
    progress.end();
    progress.end();
    return written.join("");
  };
  t.equal(
    play(false),
    "Looks at what asks for input.\n✓ pass answers/refusal (transfer)\n✕ fail state/tampered (transfer): One bit of the state was turned, and the call was carried out all the same.\n",
  );
  const erase = "\r\u001b[2K";
  const live = play(true);
  t.match(live, `[1/9] answers/refusal${erase}✓ pass answers/refusal (transfer)\n`, "cut to the line");
  t.equal(live.split(erase).length, 4);
  const wide: string[] = [];
  const other = progressTo({ ...place, write: (text) => void wide.push(text), live: true, columns: () => 0 });
  other.checking({ ...first, call: "送".repeat(100) }, 1, 9);
  t.match(wide.join(""), /^\[1\/9\] answers\/refusal$/, "wide letters do not wrap it either");
  t.ok(live.endsWith(erase), "nothing is left standing");
  t.notMatch(live.replaceAll(erase, "").replaceAll("\n", ""), UNSEEN);
});
