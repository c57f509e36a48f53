/** Needs that are learnt: each once, by known names only, and not without end. */
import t from "tap";
import { Needs } from "../../../src/capability/needs.ts";

const quiet = () => {
  const lines: object[] = [];
  const line = (fields: object): void => void lines.push(fields);
  return { lines, log: { info: line, warn: line, error: line } };
};

t.test("each is told once", async (t) => {
  const { lines, log } = quiet();
  const needs = new Needs(log);
  needs.note("/mcp", "x", { elicitation: { url: {}, form: {} }, sampling: {} });
  needs.note("/mcp", "x", { sampling: {} });
  needs.note("/mcp", "y", { roots: {} });
  t.same(needs.list(), [
    { route: "/mcp", target: "x", capability: "elicitation.url" },
    { route: "/mcp", target: "x", capability: "elicitation.form" },
    { route: "/mcp", target: "x", capability: "sampling" },
    { route: "/mcp", target: "y", capability: "roots" },
  ]);
  t.same(lines, needs.list());
});

t.test("what is no capability is not kept, and nothing beyond the bound", async (t) => {
  const { lines, log } = quiet();
  const needs = new Needs(log);
  for (const odd of [undefined, null, "x", [], { madeUp: {} }, { sampling: null }])
    needs.note("/mcp", "x", odd);
  t.same(needs.list(), [{ route: "/mcp", target: "x", capability: "sampling" }]);
  for (let index = 0; index < 2_000; index++) needs.note("/mcp", `tool${index}`, { roots: {} });
  t.equal(needs.list().length, 1_000);
  t.equal(lines.length, 1_000);
});
