/** What a journey does with findings: modes, the record, the count, the log. */
import t from "tap";
import { Refusal } from "../../src/errors.ts";
import type { Finding } from "../../src/rules/finding.ts";
import { type NotedFinding, noteFinding } from "../../src/rules/finding.ts";
import { testJourney } from "../support/journey.ts";

const refuse = ({ detail }: Finding): Refusal => new Refusal("question_forbidden", detail);
const SECRET = { rule: "elicitation/secret-field", detail: "name" } as const;
const LINK = { rule: "elicitation/link-in-text", detail: "message" } as const;
const USER = { rule: "elicitation/url-userinfo", detail: "userinfo" } as const;

t.test("all findings are noted before the first that is enforced is refused", async (t) => {
  const { journey, counted, log } = testJourney(undefined, { "elicitation/secret-field": "enforce" });
  t.throws(() => journey.judge([LINK, USER, SECRET], refuse), {
    code: "question_forbidden",
    detail: "userinfo",
  });
  t.same(journey.draft.rules, [
    { id: LINK.rule, mode: "report", detail: "message" },
    { id: USER.rule, mode: "enforce", detail: "userinfo" },
    { id: SECRET.rule, mode: "enforce", detail: "name" },
  ]);
  t.same(counted, [`${LINK.rule} report`, `${USER.rule} enforce`, `${SECRET.rule} enforce`]);
  t.equal(log.lines.length, 3);
});

t.test("reported ones pass; what is off is not seen at all; nothing found is nothing made", async (t) => {
  const { journey, counted, log } = testJourney(undefined, { "elicitation/url-userinfo": "off" });
  journey.judge([LINK, USER], refuse);
  t.same(counted, [`${LINK.rule} report`]);
  const { rules } = journey.draft;
  journey.judge([LINK], refuse);
  t.equal(journey.draft.rules, rules, "on record once, counted each time");
  t.equal(counted.length, 2);
  t.equal(log.lines.length, 1);
  const quiet = testJourney();
  quiet.journey.judge([], refuse);
  t.notOk("rules" in quiet.journey.draft);
});

t.test("a refusal of a core rule is counted and recorded once, with its cause", async (t) => {
  const { journey, counted } = testJourney();
  journey.finish({ outcome: "refused", code: "invalid_request_state", cause: "principal" });
  t.same(counted, ["mrtr/state-principal enforce"]);
  const judged = testJourney({ path: "/mcp", upstream: { url: "http://127.0.0.1:1/mcp" } });
  t.throws(() => judged.journey.judge([{ rule: "mrtr/nothing-asked", detail: "nothing_asked" }], refuse));
  judged.journey.finish({ outcome: "refused", code: "upstream_fault", cause: "nothing_asked" });
  t.same(judged.counted, ["mrtr/nothing-asked enforce"], "not twice");
  const policy = testJourney();
  policy.journey.finish({ outcome: "refused", code: "forbidden", cause: "policy" });
  t.same(policy.counted, []);
});

t.test("a record shows a bounded number of different findings", async (t) => {
  let noted: readonly NotedFinding[] | undefined;
  for (let i = 0; i < 100; i++)
    noted = noteFinding(noted, { id: LINK.rule, mode: "report", detail: String(i % 50) });
  t.equal(noted?.length, 32);
});
