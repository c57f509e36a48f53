/** Lines to places that take them late, in part, or not at all. */
import { openSync, readFileSync, writeSync } from "node:fs";
import t from "tap";
import { type Change, Output } from "../../src/output.ts";

type Answer = number | string;

/** A file that answers each write as told: with bytes taken, with an error code, or (by itself) with all it was given. */
function place() {
  const answers: Answer[] = [];
  const held: (() => void)[] = [];
  const clock = { now: 0 };
  let holding = false;
  let text = "";
  const output = new Output(openSync("/dev/null", "w"), {
    write(_file, bytes, from, done) {
      const answer = answers.shift();
      const reply = (): void => {
        if (typeof answer === "string") {
          done(Object.assign(new Error(answer), { code: answer }), 0);
          return;
        }
        const count = answer ?? bytes.length - from;
        text += bytes.subarray(from, from + count).toString();
        done(null, count);
      };
      if (holding) held.push(reply);
      else queueMicrotask(reply);
    },
    now: () => clock.now,
    later: (_ms, run) => queueMicrotask(run),
  });
  const changes: Change[] = [];
  output.onChange((change) => changes.push(change));
  const lost: string[] = [];
  return {
    output,
    answers,
    changes,
    lost,
    clock,
    text: () => text,
    write: (line: string) => output.write(`${line}\n`, () => lost.push(line)),
    hold: () => {
      holding = true;
    },
    go: () => {
      holding = false;
      for (const reply of held.splice(0)) reply();
    },
  };
}

t.test("another file in the middle: a line that has begun ends where it began", async (t) => {
  const folder = t.testdir({ one: "", two: "", three: "" });
  const files = ["one", "two", "three"].map((name) => openSync(`${folder}/${name}`, "a"));
  const held: (() => void)[] = [];
  let pieces = 1;
  const output = new Output(files[0] ?? 0, {
    write(file, bytes, from, done) {
      const length = pieces-- > 0 ? 3 : bytes.length - from;
      const put = (): void => done(null, writeSync(file, bytes, from, length));
      if (pieces >= 0) held.push(put);
      else queueMicrotask(put);
    },
    now: () => 0,
    later: (_ms, run) => queueMicrotask(run),
  });
  output.write("first line\n");
  output.write("second\n");
  output.redirect(files[1] ?? 0);
  output.redirect(files[2] ?? 0);
  output.write("third\n");
  for (const put of held.splice(0)) put();
  await output.flush();
  output.write("fourth\n");
  await output.close();
  const text = (name: string): string => readFileSync(`${folder}/${name}`, "utf8");
  t.equal(text("one"), "first line\n");
  t.equal(text("two"), "", "it was replaced before anything was written");
  t.equal(text("three"), "second\nthird\nfourth\n");
  output.redirect(openSync(`${folder}/two`, "a"));
  output.write("late\n");
  t.equal(text("two"), "", "nothing after the end");
});

t.test("lines arrive in order, also in pieces and after a while", async (t) => {
  for (const answers of [[], [1], [2, 1, 3], ["EAGAIN"], ["EAGAIN", "EBUSY", 1, "EAGAIN", 0]] as Answer[][]) {
    const p = place();
    p.answers.push(...answers);
    for (const line of ["one", "zwölf", "🦭", ""]) p.write(line);
    await p.output.flush();
    t.equal(p.text(), "one\nzwölf\n🦭\n\n", JSON.stringify(answers));
    t.same([p.lost, p.changes], [[], []]);
  }
});

t.test("what is not taken is lost and counted, once per line; the change is told once", async (t) => {
  for (const code of ["ENOSPC", "EPIPE", "EIO", "EBADF", "EDQUOT"]) {
    const p = place();
    p.answers.push(code, code, code);
    for (const line of ["one", "two", "three"]) {
      p.write(line);
      await p.output.flush();
    }
    p.write("four");
    await p.output.flush();
    t.same(p.lost, ["one", "two", "three"]);
    t.equal(p.text(), "four\n", "it goes on");
    t.same(p.changes, [{ taken: false, reason: code }]);
  }
});

t.test(
  "a batch that arrives in part loses only its rest, and the next line begins on a line of its own",
  async (t) => {
    const p = place();
    p.answers.push(6, 6, "ENOSPC");
    p.hold();
    for (const line of ["first", "abc", "def", "ghi"]) p.write(line);
    p.go();
    await p.output.flush();
    t.same(p.lost, ["def", "ghi"], "abc and half of def are there");
    p.write("next");
    await p.output.flush();
    t.equal(p.text(), "first\nabc\nde\nnext\n");
  },
);

t.test("it is whole again after a while without a loss, and says how many were lost", async (t) => {
  const p = place();
  p.answers.push("ENOSPC");
  const write = async (line: string): Promise<void> => {
    p.write(line);
    await p.output.flush();
  };
  await write("lost");
  await write("there");
  p.clock.now += 9_999;
  await write("there");
  t.equal(p.changes.length, 1, "a nearly full disk is not reported line by line");
  p.clock.now += 1;
  await write("there");
  await write("there");
  t.same(p.changes, [
    { taken: false, reason: "ENOSPC" },
    { taken: true, lost: 1 },
  ]);
});

t.test("a listener that writes here makes no loop", async (t) => {
  const p = place();
  let told = 0;
  p.output.onChange(() => {
    told += 1;
    p.write(`told ${told}`);
  });
  p.answers.push("EPIPE", "EPIPE");
  p.write("lost");
  await p.output.flush();
  t.equal(told, 1);
  t.same(p.lost, ["lost", "told 1"]);
  t.equal(p.text(), "");
});

t.test("what waits is bounded", async (t) => {
  const p = place();
  p.hold();
  const line = "x".repeat(1024 * 1024 - 1);
  for (let n = 0; n < 20; n++) p.write(line);
  t.equal(p.lost.length, 11, "one is on its way, eight wait");
  t.same(p.changes, [{ taken: false, reason: "backlog" }]);
  p.go();
  await p.output.flush();
  p.write("small");
  await p.output.flush();
  t.equal(p.text().length, 9 * 1024 * 1024 + 6);
});

t.test("flush and close wait for a moment only; what is left then is lost", async (t) => {
  const p = place();
  p.hold();
  p.write("one");
  p.write("two");
  await p.output.flush(1);
  t.same(p.lost, [], "it may still arrive");
  await p.output.close();
  t.same(p.lost, ["one", "two"]);
  p.write("late");
  t.same(p.lost, ["one", "two", "late"], "and nothing is taken any more");
  p.go();
  await p.output.close();
  t.equal(p.changes.length, 1);
});

t.test("many lines are few writes, and a line that comes alone is written at once", async (t) => {
  const later: [number, () => void][] = [];
  const writes: string[] = [];
  const clock = { now: 100 };
  const output = new Output(openSync("/dev/null", "w"), {
    write(_file, bytes, from, done) {
      writes.push(bytes.subarray(from).toString());
      done(null, bytes.length - from);
    },
    now: () => clock.now,
    later: (ms, run) => later.push([ms, run]),
  });
  output.write("a\n");
  t.same(writes, ["a\n"]);
  clock.now += 4;
  for (const line of ["b\n", "c\n"]) output.write(line);
  t.same([writes.length, later.length], [1, 1]);
  t.equal(later[0]?.[0], 6, "ten milliseconds after the last write");
  clock.now += 6;
  later.pop()?.[1]();
  t.same(writes, ["a\n", "b\nc\n"]);
  clock.now += 10;
  output.write("d\n");
  t.equal(writes.at(-1), "d\n");
  output.write("e\n");
  output.write("x".repeat(64 * 1024 - 2));
  t.match(writes.at(-1), /^e\nx+$/, "what is much does not wait");
  output.write("f\n");
  await output.flush();
  t.equal(writes.at(-1), "f\n", "nor what is asked for");
  later.pop()?.[1]();
  t.equal(writes.length, 5);
  await output.close();
});

t.test("nothing to write: flush and close are done at once", async (t) => {
  const p = place();
  await p.output.flush(60_000);
  await p.output.close();
  t.same([p.lost, p.changes], [[], []]);
});
