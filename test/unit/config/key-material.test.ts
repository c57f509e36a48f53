/** The ring from a folder, its next key, and what the age of files tells. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { loadConfig } from "../../../src/config/load.ts";
import { ConfigError } from "../../../src/errors.ts";
import { SOUND } from "./load-text.ts";

const NOW = Date.UTC(2026, 10, 30, 12);
/** Not of hexadecimal digits, which would be half as many bytes. */
const secret = (name: string): string => `secret-${name}-`.repeat(6);

interface Case {
  readonly keys: string;
  readonly files: Readonly<Record<string, string>>;
  readonly replicas?: number;
  /** Minutes before now that a file was written. */
  readonly ages?: Readonly<Record<string, number>>;
}

async function load(t: Test, { keys, files, replicas = 1, ages = {} }: Case) {
  const folder = mkdtempSync(join(tmpdir(), "sealgate-keys-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "k"));
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, "k", name);
    writeFileSync(file, content, { mode: 0o600 });
    const at = (NOW - (ages[name] ?? 1_000) * 60_000) / 1000;
    utimesSync(file, at, at);
  }
  const redis = replicas > 1 ? "redis: { url: 'redis://127.0.0.1' }\n" : "";
  const text = `${SOUND}${redis}server: { replicas: ${replicas} }\nkeys: ${keys}\n`;
  writeFileSync(join(folder, "gate.yaml"), text);
  const again = async () => {
    try {
      const { secrets, warnings } = await loadConfig(join(folder, "gate.yaml"), {}, () => NOW);
      const ids = secrets.keys.map(({ id }) => id);
      return { ids, warnings: warnings.filter((line) => line.includes("keys")), problems: [] };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return {
        ids: [],
        warnings: [],
        problems: error.message.split("\n").map((line) => line.replace(/^\S+ /, "")),
      };
    }
  };
  return { folder: join(folder, "k"), again, ...(await again()) };
}

const FOLDER = "{ primary: a, folder: k }";

t.test("one file per key, named by its id, in the order of names", async (t) => {
  const { ids, warnings } = await load(t, {
    keys: FOLDER,
    files: { b: secret("b"), a: `${secret("a")}\n`, "2026-11": secret("c") },
  });
  t.same(ids, ["2026-11", "a", "b"]);
  t.same(warnings, []);
});

t.test("a mounted Secret: links to a hidden folder; hidden names are no keys", async (t) => {
  const { folder, again } = await load(t, { keys: FOLDER, files: { a: secret("a"), ".b.removed": "x" } });
  mkdirSync(join(folder, "..2026"));
  writeFileSync(join(folder, "..2026", "b"), secret("b"), { mode: 0o600 });
  symlinkSync("..2026", join(folder, "..data"));
  symlinkSync("..data/b", join(folder, "b"));
  t.same((await again()).ids, ["a", "b"]);
});

t.test("what is wrong with a folder", async (t) => {
  const a = secret("a");
  const cases: [string, Case, RegExp[]][] = [
    [
      "absent",
      { keys: "{ primary: a, folder: nowhere }", files: {} },
      [/^keys\.folder: the folder does not exist/],
    ],
    [
      "a file",
      { keys: "{ primary: a, folder: k/a }", files: { a } },
      [/^keys\.folder: the folder does not exist/],
    ],
    ["empty", { keys: FOLDER, files: {} }, [/^keys\.folder: the folder holds no key/]],
    [
      "no primary",
      { keys: "{ primary: z, folder: k }", files: { a } },
      [/^keys\.primary: is not the name of a file/],
    ],
    [
      "no next",
      { keys: '{ primary: a, folder: k, next: { id: z, notBefore: "2027-01-01T00:00:00Z" } }', files: { a } },
      [/^keys\.next\.id: is not the name of a file/],
    ],
    [
      "a name that is no id",
      { keys: FOLDER, files: { a, "b~": secret("b") } },
      [/^keys\.folder: the folder holds a file whose name is no id/],
    ],
    [
      "a short secret",
      { keys: FOLDER, files: { a, b: "hunter2" } },
      [/^keys\.folder: b: the secret is shorter/],
    ],
    [
      "one secret twice",
      { keys: FOLDER, files: { a, b: `${a}\n` } },
      [/^keys\.folder: b: is the secret of another key/],
    ],
    [
      "a ring besides",
      { keys: "{ primary: a, folder: k, ring: [{ id: a, secret: { file: k/a } }] }", files: { a } },
      [/^keys: holds ring and folder at once/],
    ],
    ["neither", { keys: "{ primary: a }", files: {} }, [/^keys: holds neither ring nor folder/]],
  ];
  for (const [name, given, expected] of cases) {
    const { problems } = await load(t, given);
    for (const line of expected)
      t.ok(
        problems.some((problem) => line.test(problem)),
        `${name}: ${problems.join(" | ")}`,
      );
    t.notMatch(problems.join(), /hunter2|secret-|b~/);
  }
  const { folder, again } = await load(t, { keys: FOLDER, files: { a } });
  mkdirSync(join(folder, "sub"));
  t.match((await again()).problems, [/^keys\.folder: sub: is not a regular file/]);
});

t.test("files that others may read are told of once", async (t) => {
  const { folder, again } = await load(t, { keys: FOLDER, files: { a: secret("a"), b: secret("b") } });
  for (const name of ["a", "b"]) chmodSync(join(folder, name), 0o644);
  t.match((await again()).warnings, [/keys\.folder: holds files that are open to other users/]);
});

t.test("a folder in which others may put a key is told of", async (t) => {
  const { folder, again, warnings } = await load(t, { keys: FOLDER, files: { a: secret("a") } });
  t.same(warnings, []);
  for (const mode of [0o775, 0o757, 0o777]) {
    chmodSync(folder, mode);
    t.match((await again()).warnings, [/keys\.folder: can be written by other users/]);
  }
  chmodSync(folder, 0o750);
  t.same((await again()).warnings, []);
});

t.test("next: in the ring, not the primary, and told when it has taken over", async (t) => {
  const keys = (id: string, notBefore: string): string =>
    `{ primary: a, next: { id: ${id}, notBefore: "${notBefore}" }, ring: [{ id: a, secret: { file: k/a } }, { id: b, secret: { file: k/b } }] }`;
  const files = { a: secret("a"), b: secret("b") };
  const soon = "2026-12-24T18:00:00+01:00";
  const ahead = await load(t, { keys: keys("b", soon), files, replicas: 2, ages: { b: 1 } });
  t.same([ahead.problems, ahead.warnings], [[], []]);
  t.match((await load(t, { keys: keys("b", "2026-11-30T12:00:00Z"), files })).warnings, [
    /keys\.next: has taken over/,
  ]);
  t.match((await load(t, { keys: keys("a", soon), files })).problems, [
    /^keys\.next\.id: is keys\.primary itself/,
  ]);
  t.match((await load(t, { keys: keys("z", soon), files })).problems, [
    /^keys\.next\.id: is not the id of a key/,
  ]);
  for (const never of [
    "2026-12-24",
    "2026-02-30T00:00:00Z",
    "2026-12-24T18:00:00",
    "2026-12-24T25:00:00Z",
    "soon",
  ]) {
    t.match(
      (await load(t, { keys: keys("b", never), files })).problems,
      [/^keys\.next\.notBefore: is not a time/],
      never,
    );
  }
});

t.test("promoted too early, as far as files tell", async (t) => {
  const files = { a: secret("a"), b: secret("b") };
  const young = { a: 3, b: 5_000 };
  const warned = async (given: Partial<Case>): Promise<boolean> =>
    (await load(t, { keys: FOLDER, files, replicas: 3, ages: young, ...given })).warnings.some((line) =>
      /keys\.primary: is a key that was written 3 minutes ago/.test(line),
    );
  t.ok(await warned({}));
  t.notOk(await warned({ replicas: 1 }), "one process");
  t.notOk(await warned({ keys: "{ primary: b, folder: k }" }), "added, not promoted");
  t.notOk(await warned({ ages: { a: 61, b: 5_000 } }), "added long ago");
  t.notOk(await warned({ ages: { a: 3, b: 3 } }), "a mount writes all files at once");
  t.notOk(await warned({ ages: { a: 3, b: 2 } }), "the other is younger");
  t.notOk(await warned({ files: { a: secret("a") } }), "the first key there is");
});

t.test("two secrets whose keys share a key id by chance are found by check too", async (t) => {
  // Found by search, as in the tests of the ring.
  const files = { a: "32f".padStart(64, "0"), b: "14c08".padStart(64, "0") };
  t.match((await load(t, { keys: FOLDER, files })).problems, [
    /^keys: key "b" has by chance the same key id as key "a"/,
  ]);
});
