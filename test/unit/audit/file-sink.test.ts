/** A file of records that is moved away, made anew, taken away and forbidden under a sink: every record is in one of the files, whole. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FileSink, openForRecords } from "../../../src/audit/file-sink.ts";

function open(t: Test) {
  const folder = t.testdir({});
  const path = join(folder, "audit.ndjson");
  const log: string[] = [];
  const note = (_fields: object, message: string): void => void log.push(message);
  const sink = new FileSink(path, openForRecords(path), { info: note, warn: note, error: note });
  const lost: number[] = [];
  let next = 0;
  return {
    folder,
    path,
    sink,
    log,
    lost,
    write: (count = 1) => {
      for (let n = 0; n < count; n++) {
        const own = next++;
        sink.write(`{"n":${own}}\n`, () => lost.push(own));
      }
    },
    /** Numbers of the records in a file. */
    numbers: (file = path): number[] =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).n),
  };
}

t.test("moved and made anew: records go on in the new file, and none is lost on the way", async (t) => {
  const it = open(t);
  const moved: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    it.write(50);
    const away = join(it.folder, `audit.${turn}`);
    renameSync(it.path, away);
    moved.push(away);
    it.write(50);
    writeFileSync(it.path, "", { mode: 0o600 });
    it.write(50);
    await it.sink.look();
    it.write(50);
  }
  await it.sink.close();
  const all = [...moved, it.path].flatMap((file) => it.numbers(file));
  t.same(all, [...Array(4_000).keys()], "each once, whole, in order");
  t.same(it.lost, []);
  t.equal(it.numbers().length, 50, "the last file has what came after the last look");
  t.same([...new Set(it.log)], ["audit file opened anew"]);
  t.equal(it.log.length, 20);
});

t.test("nothing at the path: made at the second look, or at once on an operator's word", async (t) => {
  const it = open(t);
  renameSync(it.path, `${it.path}.1`);
  await it.sink.look();
  t.throws(() => statSync(it.path), { code: "ENOENT" }, "whoever moved it may be about to make it");
  await it.sink.look();
  t.equal(statSync(it.path).mode & 0o777, 0o640);
  rmSync(it.path);
  await it.sink.reopen();
  t.ok(statSync(it.path).isFile());
  it.write();
  await it.sink.close();
  t.same(it.numbers(), [0]);
});

t.test("the same file: nothing happens, also when it is cut", async (t) => {
  const it = open(t);
  it.write(3);
  await it.sink.reopen();
  await it.sink.look();
  writeFileSync(it.path, "");
  it.write(2);
  await it.sink.close();
  t.same(it.log, []);
  t.ok(it.numbers().includes(4), "appended, not written behind a hole");
});

t.test("what cannot be opened anew: told once, records go on to the one before", async (t) => {
  const it = open(t);
  renameSync(it.path, `${it.path}.1`);
  mkdirSync(it.path);
  await it.sink.look();
  await it.sink.look();
  await it.sink.reopen();
  it.write();
  t.same(it.log, ["the audit file cannot be opened anew, records go on to the one before"]);
  rmSync(it.path, { recursive: true });
  await it.sink.reopen();
  it.write();
  await it.sink.close();
  t.same(it.numbers(`${it.path}.1`), [0]);
  t.same(it.numbers(), [1]);
  t.same(it.log.slice(1), ["audit file opened anew"]);
  t.same(it.lost, []);
});

t.test(
  "many words and looks at once, and a close in the middle: one at a time, no descriptor is left",
  async (t) => {
    const it = open(t);
    const descriptors = (): number =>
      readDescriptors().filter((target) => target.startsWith(it.folder)).length;
    if (process.platform === "linux") t.equal(descriptors(), 1);
    const all: Promise<void>[] = [];
    for (let n = 0; n < 100; n++) {
      renameSync(it.path, `${it.path}.${n}`);
      writeFileSync(it.path, "");
      all.push(it.sink.reopen(), it.sink.look());
      if (n === 50) await all.at(-1);
    }
    it.write();
    const closed = it.sink.close();
    await Promise.all(all);
    await closed;
    await it.sink.reopen();
    if (process.platform === "linux") {
      for (let tries = 0; tries < 500 && descriptors() > 0; tries++)
        await new Promise((next) => setTimeout(next, 10));
      t.equal(descriptors(), 0);
    }
    t.same(it.lost, []);
  },
);

function readDescriptors(): string[] {
  const { readdirSync, readlinkSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}
