/** Which texts are a context of a trace, and what goes on of it. */
import t from "tap";
import { parseTraceContext, printTraceParent } from "../../../src/telemetry/trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const GOOD = `00-${TRACE}-${SPAN}-01`;
const ZEROS = { trace: "0".repeat(32), span: "0".repeat(16) };

t.test("a context", async (t) => {
  const context = { traceId: TRACE, spanId: SPAN, sampled: true, state: undefined };
  t.same(parseTraceContext(GOOD, undefined), context);
  t.same(parseTraceContext(`00-${TRACE}-${SPAN}-00`, undefined), { ...context, sampled: false });
  // Other flags than the first say nothing of whether it is recorded.
  t.same(parseTraceContext(`00-${TRACE}-${SPAN}-02`, undefined), { ...context, sampled: false });
  t.same(parseTraceContext(`00-${TRACE}-${SPAN}-ff`, undefined), context);
  t.equal(printTraceParent(context), GOOD);
  t.equal(printTraceParent({ ...context, sampled: false }), `00-${TRACE}-${SPAN}-00`);
});

t.test("a later version counts by its first four parts", async (t) => {
  t.match(parseTraceContext(`cc-${TRACE}-${SPAN}-01`, undefined), { traceId: TRACE, sampled: true });
  t.match(parseTraceContext(`cc-${TRACE}-${SPAN}-01-what-comes`, undefined), { traceId: TRACE });
  t.equal(parseTraceContext(`cc-${TRACE}-${SPAN}-01.what`, undefined), undefined);
});

for (const [name, text] of Object.entries({
  "nothing at all": undefined,
  empty: "",
  "version ff": `ff-${TRACE}-${SPAN}-01`,
  "upper case": GOOD.toUpperCase(),
  "a trace of zeros": `00-${ZEROS.trace}-${SPAN}-01`,
  "a span of zeros": `00-${TRACE}-${ZEROS.span}-01`,
  "a part more, in version 00": `${GOOD}-00`,
  "a dash more, in version 00": `${GOOD}-`,
  "a short trace": `00-${TRACE.slice(1)}-${SPAN}-01`,
  "a long span": `00-${TRACE}-${SPAN}0-01`,
  "flags of one digit": `00-${TRACE}-${SPAN}-1`,
  "blanks around": ` ${GOOD} `,
  "a line end": `${GOOD}\n`,
  "two in one header": `${GOOD},${GOOD}`,
  "a quote": `00-${TRACE}-${SPAN}-0"`,
  "very long": `cc-${TRACE}-${SPAN}-01-${"a".repeat(1_000)}`,
})) {
  t.test(`no context: ${name}`, async (t) => {
    t.equal(parseTraceContext(text, "a=1"), undefined);
  });
}

t.test("lists of vendors", async (t) => {
  const stateOf = (state: string) => parseTraceContext(GOOD, state)?.state;
  for (const state of [
    "a=1",
    "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    "a=1, b=2",
    "a@b=1",
    "0a@b=x y",
    "a=1,,b=2",
  ])
    t.equal(stateOf(state), state, state);
  for (const state of [
    ...["", ",", "a", "=1", "a=", "A=1", "a=1,a=2", "a=b=c", "a=\u00e9", "a=1\r\nx: y", "a=1\n"],
    ...["0a=1", `a=${"x".repeat(257)}`, `${"a".repeat(257)}=1`, "a=1,".repeat(200)],
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(","),
  ])
    t.equal(stateOf(state), undefined, JSON.stringify(state).slice(0, 60));
  t.match(parseTraceContext(GOOD, "no list"), { traceId: TRACE }, "a bad list makes no context bad");
});
