/** What a section `capability` allows and requires, for a tool by name and for one that nobody may know of. */
import t from "tap";
import { checkRequired, compileCapability } from "../../../src/capability/policy.ts";
import type { Capability } from "../../../src/config/schema.ts";
import { Refusal } from "../../../src/errors.ts";
import { NOTHING } from "../../support/declared.ts";

const section: Capability = {
  allow: ["elicitation.form", "roots"],
  requires: ["elicitation.form"],
  tools: [
    { match: ["pay", "pay_*"], allow: ["elicitation.url"] },
    { match: ["secret"], requires: ["sampling"] },
    { match: ["see?", "secret_*"], requires: [] },
  ],
  url: {},
};
const policy = compileCapability(section);
const allowed = (tool?: string): string[] => [...policy.allowedAsks(tool)];

t.test("the first entry that fits decides; what it leaves out is as for the route", async (t) => {
  for (const [tool, asks, required] of [
    [undefined, ["elicitation.form", "roots"], ["elicitation.form"]],
    ["other", ["elicitation.form", "roots"], ["elicitation.form"]],
    ["pay", ["elicitation.url"], ["elicitation.form"]],
    ["pay_all", ["elicitation.url"], ["elicitation.form"]],
    ["secret", ["elicitation.form", "roots"], ["sampling"]],
    ["secret_x", ["elicitation.form", "roots"], []],
  ] as const) {
    t.same(allowed(tool), asks, tool ?? "no tool");
    t.same(policy.requiredAsks(tool, false), required, tool ?? "no tool");
  }
});

t.test("a hidden tool is treated like a name that fits the same patterns", async (t) => {
  t.same(policy.requiredAsks("secret", true), policy.requiredAsks("nobody", false));
  t.same(policy.requiredAsks("secret_x", true), policy.requiredAsks("secret_nobody", false));
});

t.test("exactly what is missing is named", async (t) => {
  const lacks = (...required: Capability["requires"]): unknown => {
    try {
      checkRequired(required, { ...NOTHING, url: true });
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.data["requiredCapabilities"] : error;
    }
  };
  t.equal(lacks(), undefined);
  t.equal(lacks("elicitation.url"), undefined);
  t.same(lacks("elicitation.form", "elicitation.url"), { elicitation: { form: {} } });
  t.same(lacks("sampling", "roots"), { sampling: {}, roots: {} });
});
