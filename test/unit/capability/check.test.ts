import t from "tap";
import { checkQuestions, judgeUpstreamMissing } from "../../../src/capability/check.ts";
import type { Ask } from "../../../src/config/schema.ts";
import type { Declared } from "../../../src/mcp/capabilities.ts";
import type { Question } from "../../../src/mcp/questions.ts";
import { NOTHING } from "../../support/declared.ts";

type Needing = Pick<Question, "needs">;

const FULL: Declared = {
  form: true,
  url: true,
  sampling: true,
  samplingTools: true,
  samplingContext: true,
  roots: true,
};
const ALL: Ask[] = ["elicitation.form", "elicitation.url", "sampling", "roots"];
const form: Needing = { needs: ["form"] };
const url: Needing = { needs: ["url"] };
const tools: Needing = { needs: ["sampling", "samplingTools"] };
const roots: Needing = { needs: ["roots"] };

const check = (questions: Needing[], declared: Declared, allow: Ask[]) => () =>
  checkQuestions(questions, declared, new Set(allow));

t.test("questions that may be asked", async (t) => {
  t.doesNotThrow(check([], NOTHING, []), "no questions");
  t.doesNotThrow(check([form], { ...NOTHING, form: true }, ["elicitation.form"]));
  t.doesNotThrow(check([form, url, tools, roots], FULL, ALL));
});

t.test("what the client did not declare comes first", async (t) => {
  const missing = (questions: Needing[], declared: Declared, allow: Ask[], requiredCapabilities: object) =>
    t.throws(check(questions, declared, allow), {
      code: "missing_capability",
      data: { requiredCapabilities },
    });
  missing([form], NOTHING, ALL, { elicitation: { form: {} } });
  missing([form], { ...NOTHING, url: true }, ALL, { elicitation: { form: {} } });
  missing([url], { ...NOTHING, form: true }, ALL, { elicitation: { url: {} } });
  missing([tools], { ...NOTHING, sampling: true }, ALL, { sampling: { tools: {} } });
  missing([form, url, tools, roots], { ...NOTHING, form: true }, [], {
    elicitation: { url: {} },
    sampling: { tools: {} },
    roots: {},
  });
});

t.test("then what policy forbids", async (t) => {
  const forbidden = (questions: Needing[], allow: Ask[], detail: Ask) =>
    t.throws(check(questions, FULL, allow), { code: "question_forbidden", detail, data: {} });
  forbidden([form], ["elicitation.url"], "elicitation.form");
  forbidden([url], ["elicitation.form"], "elicitation.url");
  forbidden([tools], [], "sampling");
  forbidden([form, roots], ["elicitation.form"], "roots");
});

t.test("an upstream that refuses for a capability", async (t) => {
  const judge = (required: unknown, declared: Declared, allow: Ask[]) => {
    const { code, detail, data } = judgeUpstreamMissing(required, declared, new Set(allow));
    return { code, detail, required: data["requiredCapabilities"] };
  };
  const missing = (required: object) => ({ code: "missing_capability", detail: "undeclared", required });
  const forbidden = (detail: string) => ({ code: "question_forbidden", detail, required: undefined });
  const elicits = { elicitation: { form: {} } };
  const onlyUrl = { elicitation: { url: {} } };

  t.same(judge({ elicitation: {} }, NOTHING, ALL), missing(elicits), "bare elicitation means form");
  t.same(judge(elicits, NOTHING, []), missing(elicits), "undeclared comes before policy");
  t.same(judge(elicits, FULL, ["sampling"]), forbidden("elicitation.form"));
  t.same(judge({ elicitation: { form: {}, url: {} } }, { ...NOTHING, form: true }, ALL), missing(onlyUrl));
  t.same(
    judge({ elicitation: { form: {}, url: {} } }, { ...NOTHING, form: true }, []),
    forbidden("elicitation.form"),
  );
  t.same(
    judge({ sampling: { tools: {} } }, { ...NOTHING, sampling: true }, ALL),
    missing({ sampling: { tools: {} } }),
  );
  t.same(judge({ roots: {} }, FULL, ALL), missing({ roots: {} }), "an upstream that contradicts itself");
  t.same(
    judge({ elicitation: { url: { secret: "U1" } }, evil: "<b>words</b>" }, NOTHING, ALL),
    missing(onlyUrl),
    "nothing of the upstream's own",
  );
  t.same(judge({ evil: {} }, NOTHING, ALL), missing({}));
  t.same(judge({ elicitation: "form", roots: true }, NOTHING, ALL), missing({}));
  t.same(judge({ extensions: { "io.modelcontextprotocol/tasks": {} } }, NOTHING, ALL), forbidden("tasks"));
  const extensions = { "io.modelcontextprotocol/tasks": {} };
  const served = judgeUpstreamMissing({ extensions, evil: 1 }, NOTHING, new Set(ALL), true);
  t.match(served, { code: "missing_capability", data: { requiredCapabilities: { extensions } } });
  t.same(
    Object.keys(Object(served.data["requiredCapabilities"])),
    ["extensions"],
    "where declaring it helps",
  );
  t.same(judge(JSON.parse('{"__proto__":{"roots":{}}}'), NOTHING, ALL), missing({}));
  for (const bad of [undefined, null, [], "elicitation"])
    t.match(judge(bad, NOTHING, ALL), { code: "upstream_fault", detail: "required_capabilities" });
});
