import t from "tap";
import { OwedReleases } from "../../../src/redemption/releases.ts";

const NOW = 1_800_000_000;
const A = { jti: "a", exp: NOW + 600 };
const now = () => NOW;

t.test("what the store did not answer is sent again, what it answered is not", async (t) => {
  const sent: string[] = [];
  let away = true;
  const owed = new OwedReleases(
    async ({ jti }, attempt) => {
      sent.push(`${jti}/${attempt}`);
      if (away) throw new Error("away");
    },
    () => t.fail("there is room"),
    now,
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
    now,
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
    now,
  );
  const [a, b] = [owed.watch("a"), owed.watch("b")];
  t.equal(await owed.paid(a, later), false, "nothing is owed");
  const first = owed.add(A, "1");
  t.equal(await owed.paid(b, later), false);
  t.equal(await owed.paid(a, performance.now()), false, "no answer in time");
  const paid = owed.paid(a, later);
  answers[0]?.reject(new Error("away"));
  await first;
  void owed.payAll();
  answers[1]?.resolve();
  t.equal(await paid, true);
  t.equal(await owed.paid(a, later), true, "it was given back since");
  t.equal(await owed.paid(a, later), false);
  owed.unwatch(a);
});

t.test("what is being sent is not sent again, and keeps nothing else", async (t) => {
  const sent: string[] = [];
  const slow = Promise.withResolvers<void>();
  let away = true;
  const owed = new OwedReleases(
    async ({ jti }) => {
      sent.push(jti);
      if (jti === "slow") await slow.promise;
      if (away) throw new Error("away");
    },
    () => t.fail("there is room"),
    now,
  );
  const first = owed.add({ ...A, jti: "slow" }, "1");
  await owed.add(A, "2");
  t.same(sent.splice(0), ["slow", "a"]);
  away = false;
  const all = [owed.payAll(), owed.payAll()];
  t.same(sent.splice(0), ["a"]);
  slow.resolve();
  await Promise.all([first, ...all]);
  t.equal(owed.size, 0);
});

t.test(
  "with the debt at its bound a release is sent all the same, and dropped only if that fails",
  async (t) => {
    let dropped = 0;
    let sent = 0;
    let away = true;
    const send = async () => {
      sent++;
      if (away) throw new Error("away");
    };
    const owed = new OwedReleases(send, () => dropped++, now);
    for (let i = 0; i < 10_000; i++) await owed.add(A, String(i));
    t.equal(dropped, 0);
    await Promise.all(["x", "y", "z"].map((attempt) => owed.add(A, attempt)));
    t.equal(sent, 10_003);
    t.equal(dropped, 3);
    t.equal(owed.size, 10_000);
    away = false;
    await owed.add(A, "mine");
    t.equal(sent, 10_004);
    t.equal(dropped, 3);
    t.equal(owed.size, 10_000, "the others are owed as before");
  },
);

t.test("whoever waits for a release that is dropped waits no longer", async (t) => {
  const owed = new OwedReleases(
    async () => Promise.reject(new Error("away")),
    () => undefined,
    now,
  );
  for (let i = 0; i < 10_000; i++) await owed.add({ ...A, jti: "other" }, String(i));
  const watch = owed.watch("a");
  const adding = owed.add(A, "mine");
  const paid = owed.paid(watch, performance.now() + 30_000);
  await adding;
  t.equal(await Promise.race([paid, new Promise((resolve) => setImmediate(resolve, "waits"))]), false);
});

t.test("releases of states that no clock takes any more make room, and are not sent", async (t) => {
  const sent: string[] = [];
  let time = NOW;
  let away = true;
  const owed = new OwedReleases(
    async ({ jti }) => {
      sent.push(jti);
      if (away) throw new Error("away");
    },
    () => t.fail("there is room"),
    () => time,
  );
  for (let i = 0; i < 10_000; i++) await owed.add({ jti: "old", exp: NOW }, String(i));
  time += 300;
  sent.splice(0);
  await owed.add(A, "mine");
  t.equal(owed.size, 1);
  away = false;
  await owed.payAll();
  t.same(sent, ["a", "a"]);
  t.equal(owed.size, 0);
});
