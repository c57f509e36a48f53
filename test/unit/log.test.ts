import t from "tap";
import { createLog, logError } from "../../src/log.ts";

t.test("an error is reduced: name, message, code, the top of the stack, causes to a depth", async (t) => {
  const inner = Object.assign(new TypeError("inner"), {
    code: "ERR_1",
    command: { args: ["SECRET"] },
    input: "SECRET",
  });
  const shown = logError(new Error("outer", { cause: inner })) as Record<string, unknown>;
  t.match(shown, {
    type: "Error",
    message: "outer",
    cause: { type: "TypeError", message: "inner", code: "ERR_1" },
  });
  t.notMatch(JSON.stringify(shown), /SECRET/);
  t.ok((shown["stack"] as string[]).length <= 7);
  let deep: Error = new Error("0");
  for (let level = 1; level <= 50; level++) deep = new Error(String(level), { cause: deep });
  t.ok(JSON.stringify(logError(deep)).split('"cause"').length <= 6);
  const circle = new Error("a");
  circle.cause = circle;
  t.doesNotThrow(() => JSON.stringify(logError(circle)));
});

t.test("what the system refused has no stack, and what it was the cause of has its own", async (t) => {
  const refused = Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE", syscall: "listen" });
  t.same(logError(refused), { type: "Error", message: "listen EADDRINUSE", code: "EADDRINUSE" });
  t.match(logError(new Error("outer", { cause: refused })), {
    stack: [/^at /],
    cause: { code: "EADDRINUSE" },
  });
  t.match(logError(Object.assign(new Error("x"), { code: "ERR_ASSERTION" })), { stack: [/^at /] });
});

t.test("what is no error is named by its type only", async (t) => {
  for (const [thrown, type] of [
    ["SECRET", "string"],
    [{ token: "SECRET" }, "object"],
    [undefined, "undefined"],
    [null, "object"],
  ] as const)
    t.same(logError(thrown), { type });
  t.notOk("code" in logError(Object.assign(new Error("x"), { code: { secret: 1 } })), "codes are strings");
});

t.test("lines: JSON, with level and time, by level; `err` goes through the reduction", async (t) => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => void lines.push(line) });
  log.debug({}, "not shown");
  log.info({ requestId: "r-1" }, "one");
  log.error({ err: Object.assign(new Error("two"), { token: "SECRET" }) }, "failed");
  const [one, two] = lines.map((line) => JSON.parse(line));
  t.equal(lines.length, 2);
  t.match(one, { level: "info", time: /^\d{4}-\d\d-\d\dT.*Z$/, requestId: "r-1", msg: "one" });
  t.match(two, { level: "error", err: { type: "Error", message: "two" }, msg: "failed" });
  t.notMatch(lines.join(""), /SECRET|pid|hostname/);
});
