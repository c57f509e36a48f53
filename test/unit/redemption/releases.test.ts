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

t.test("whoever wants the state again can wait for it, and for nothing else", async (t) => {
  const later = performance.now() + 30_000;
  const answers: PromiseWithResolvers<void>[] = [];
  const owed = new OwedReleases(
    () => {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
    () => t.fail("there is room"),
  );
  const [a, b] = [owed.watch("a"), owed.watch("b")];
  t.equal(await owed.paid(a, later), false, "nothing is owed");
  void owed.add(A, "1");
  t.equal(await owed.paid(b, later), false);
  t.equal(await owed.paid(a, performance.now()), false, "no answer in time");
  const paid = owed.paid(a, later);
  answers[0]?.reject(new Error("away"));
  void owed.payAll();
  answers[1]?.resolve();
  t.equal(await paid, true);
  t.equal(await owed.paid(a, later), true, "it was given back since");
  t.equal(await owed.paid(a, later), false);
  owed.unwatch(a);
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
