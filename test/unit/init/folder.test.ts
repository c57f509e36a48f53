/** Files of `sealgate init` on disk: all or none, nothing over another, nothing left of a failure. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { existing, writeAll } from "../../../src/init/folder.ts";

const FILES = [
  { path: "a.yaml", text: "a", secret: false },
  { path: "keys/k", text: "k", secret: true },
  { path: "config/b.yaml", text: "b", secret: false },
];
const sound = async (): Promise<void> => undefined;
const tree = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();

t.test("all files, with their modes; they are seen whole before they have their names", async (t) => {
  const folder = join(t.testdir(), "new/deep");
  await writeAll(folder, FILES, undefined, async (draft) => {
    t.same(tree(draft), ["a.yaml", "config", "config/b.yaml", "keys", "keys/k"]);
    t.notOk(existsSync(join(folder, "a.yaml")));
  });
  t.same(tree(folder), ["a.yaml", "config", "config/b.yaml", "keys", "keys/k"]);
  t.same(
    ["a.yaml", "keys/k", "config/b.yaml"].map((path) => statSync(join(folder, path)).mode & 0o777),
    [0o644, 0o600, 0o644],
  );
});

t.test("a check that throws leaves nothing, not even the folders", async (t) => {
  const base = t.testdir();
  const failing = async (): Promise<void> => {
    throw new RangeError("no");
  };
  await t.rejects(writeAll(join(base, "new/deep"), FILES, undefined, failing), { name: "RangeError" });
  t.same(tree(base), []);
});

t.test("a file that comes in between stays, and the others go", async (t) => {
  for (const intruder of ["config/b.yaml", "keys/k", "a.yaml"]) {
    const folder = t.testdir({ "notes.txt": "mine" });
    const late = async (): Promise<void> => {
      mkdirSync(join(folder, intruder, ".."), { recursive: true });
      writeFileSync(join(folder, intruder), "theirs");
    };
    await t.rejects(writeAll(folder, FILES, undefined, late), { name: "CannotWrite" }, intruder);
    t.equal(readFileSync(join(folder, intruder), "utf8"), "theirs");
    t.same(
      tree(folder).filter((path) => path.includes(".") || path === "keys/k"),
      ["notes.txt", intruder].sort(),
    );
  }
});

t.test("a file where a folder belongs", async (t) => {
  const folder = t.testdir({ config: "a file" });
  await t.rejects(writeAll(folder, FILES, undefined, sound), {
    name: "CannotWrite",
    message: /cannot write into/,
  });
  t.same(tree(folder), ["config"]);
});

t.test("what exists, links without an end too", async (t) => {
  const folder = t.testdir({ "a.yaml": "", other: "" });
  symlinkSync("nowhere", join(folder, "b.yaml"));
  t.same(await existing(folder, ["a.yaml", "b.yaml", "c.yaml", "other/d"]), ["a.yaml", "b.yaml"]);
  t.same(await existing(join(folder, "absent"), ["a.yaml"]), []);
});

t.test("a folder for secrets is its owner's alone, whatever the umask", async (t) => {
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const folder = t.testdir({});
  await writeAll(folder, FILES, undefined, sound);
  t.equal(statSync(join(folder, "keys")).mode & 0o777, 0o700);
  t.equal(statSync(join(folder, "keys/k")).mode & 0o777, 0o600);
});
