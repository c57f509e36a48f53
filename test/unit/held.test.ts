/** What is held is closed once, by the last who lets go. */
import t from "tap";
import { Held } from "../../src/held.ts";

function setOut() {
  const closed: string[] = [];
  return { closed, held: new Held("it", async (value) => void closed.push(value)) };
}

t.test("the last holder closes it; letting go twice counts once", async (t) => {
  const { held, closed } = setOut();
  const [first, second] = [held.hold(), held.hold()];
  await first();
  await first();
  t.same(closed, []);
  await second();
  t.same(closed, ["it"]);
  await second();
  t.same(closed, ["it"]);
  t.throws(() => held.hold(), /after it was closed/);
});

t.test("it can be closed whoever holds it, once", async (t) => {
  const { held, closed } = setOut();
  const letGo = held.hold();
  await held.end();
  await letGo();
  await held.end();
  t.same(closed, ["it"]);
});

t.test("who lets go last learns that it was not closed in order", async (t) => {
  const held = new Held(1, async () => {
    throw new Error("stuck");
  });
  await t.rejects(held.hold()(), { message: "stuck" });
});
