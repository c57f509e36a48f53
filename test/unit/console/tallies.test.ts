/** Counts of the console: by minute, by cause, by rule; bounded whatever comes. */
import t from "tap";
import type { AuditRecord } from "../../../src/audit/record.ts";
import { MINUTES, Tallies } from "../../../src/console/tallies.ts";

const MINUTE = 60_000;
const AT = Date.parse("2026-12-01T09:00:30.000Z");
const record = (more: Partial<AuditRecord> = {}): AuditRecord => ({
  type: "audit",
  time: "2026-12-01T09:00:30.000Z",
  requestId: "00000000-0000-4000-8000-000000000000",
  route: "/mcp",
  outcome: "complete",
  latencyMs: 1,
  ...more,
});

t.test("refusals by minute and true cause, most frequent first", async (t) => {
  const tallies = new Tallies();
  const refused = (cause?: string): AuditRecord =>
    record({ outcome: "refused", code: "invalid_request_state", ...(cause === undefined ? {} : { cause }) });
  tallies.count(refused("principal_mismatch"), AT - 59 * MINUTE);
  tallies.count(refused("principal_mismatch"), AT - 61 * MINUTE);
  for (let at = 0; at < 3; at++) tallies.count(refused("tampered"), AT);
  tallies.count(refused(), AT);
  tallies.count(record(), AT);
  const causes = tallies.causes(AT);
  t.same(
    causes.map(({ cause, total }) => [cause, total]),
    [
      ["tampered", 3],
      ["principal_mismatch", 2],
      ["invalid_request_state", 1],
    ],
  );
  t.equal(causes[0]?.minutes.length, MINUTES);
  t.equal(causes[0]?.minutes.at(-1), 3);
  t.equal(causes[1]?.minutes[0], 1, "the oldest minute that is told");
  t.equal(
    causes[1]?.minutes.reduce((all, one) => all + one),
    1,
  );
  t.equal(tallies.requests(AT).at(-1), 5);
  t.equal(tallies.total, 7);
});

t.test("a rule in report mode: what it would have refused", async (t) => {
  const tallies = new Tallies();
  const broken = (mode: "report" | "enforce") => ({
    id: "elicitation/no-secrets" as const,
    mode,
    detail: "password",
  });
  tallies.count(record({ rules: [broken("report"), broken("report")] as never }), AT);
  tallies.count(record({ rules: [broken("report")] as never, outcome: "refused", code: "unauthorized" }), AT);
  tallies.count(
    record({ rules: [broken("enforce")] as never, outcome: "refused", code: "unauthorized" }),
    AT,
  );
  t.match(tallies.rules().list, [
    { mode: "report", broken: 2, wentOn: 1, detail: "password", route: "/mcp" },
    { mode: "enforce", broken: 1, wentOn: 0 },
  ]);
});

t.test("floods: causes, rules and minutes are bounded", async (t) => {
  const tallies = new Tallies();
  for (let at = 0; at < 5_000; at++) {
    const rules = [{ id: "mrtr/x", mode: "report", detail: `d${at}` }] as never;
    tallies.count(
      record({ outcome: "refused", code: "unauthorized", cause: `c${at}`, rules }),
      AT + at * MINUTE,
    );
  }
  const causes = tallies.causes(AT + 5_000 * MINUTE);
  t.equal(causes.length, 65);
  t.match(causes[0], { cause: "(others)", total: 4_936 });
  const { list, lost } = tallies.rules();
  t.same([list.length, lost], [512, 4_488]);
});
