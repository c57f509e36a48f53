import t from "tap";
import { remembered } from "../../src/remembered.ts";

t.test("a short text is judged once, a long one each time, and no verdict is another's", async (t) => {
  const judged: string[] = [];
  const judge = remembered((text: string): number | undefined => {
    judged.push(text);
    return text === "none" ? undefined : text.length;
  });
  for (const text of ["a", "bb", "none", "a", "bb", "none"]) judge(text);
  t.same(judged, ["a", "bb", "none"]);
  t.equal(judge("bb"), 2);
  t.equal(judge("none"), undefined);
  const long = "x".repeat(1000);
  t.equal(judge(long), 1000);
  t.equal(judge(long), 1000);
  t.equal(judged.filter((text) => text === long).length, 2);
  for (let i = 0; i < 10_000; i++) if (judge(String(i)) !== String(i).length) t.fail(String(i));
  t.equal(judge("a"), 1, "what was forgotten is judged anew");
});
