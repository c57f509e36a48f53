import t from "tap";
import { OwedReleases } from "../../../src/redemption/releases.ts";

const A = { jti: "a", exp: 1_800_000_000 };

t.test("what the store did not answer is sent again, what it answered is not", async (t) => {
  const sent: string[] = [];
  let away = true;
  const owed = new OwedReleases(
    async ({ jti }, attempt) => {
      sent.push(`${jti}/${attempt}`);
      if (away) throw new Error("away");
    },
    () => t.fail("there is room"),
  );
  await owed.add(A, "1");
  await owed.add(A, "2");
  t.same(sent.splice(0), ["a/1", "a/2"]);
  away = false;
  await owed.payAll();
  t.same(sent.splice(0), ["a/1", "a/2"]);
  await owed.payAll();
  t.same(sent, []);
});

t.test("it is sent before the caller goes on", async (t) => {
  const sent: string[] = [];
  const owed = new OwedReleases(
    async ({ jti }) => sent.push(jti),
    () => t.fail("there is room"),
  );
  void owed.add(A, "1");
  t.same(sent, ["a"]);
});

t.test("the debt is bounded, and its overflow is told", async (t) => {
  let dropped = 0;
  let sent = 0;
  const away = async () => {
    sent++;
    throw new Error("away");
  };
  const owed = new OwedReleases(away, () => dropped++);
  for (let i = 0; i < 10_003; i++) await owed.add(A, String(i));
  t.equal(sent, 10_000);
  t.equal(dropped, 3);
});
