/** What is watched, and what is told. That real changes are seen is in test/integration/reload.test.ts. */
import { EventEmitter, once } from "node:events";
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { placesOf, watchPlaces } from "../../../src/config/watch.ts";

// A watch keeps no process alive, and a test has to wait for it.
const alive = setInterval(() => undefined, 60_000);
t.teardown(() => clearInterval(alive));

t.test("one place per folder, and the one above it; a whole folder takes its files in", async (t) => {
  const places = placesOf(["/a/x.yaml", "/a/k1", "/b/k2", "/c/d/k3"], ["/b"]);
  t.same(places, [
    { folder: "/b", names: "all" },
    { folder: "/a", names: new Set(["x.yaml", "k1"]) },
    { folder: "/c/d", names: new Set(["k3"]) },
    { folder: "/", names: new Set(["a", "b"]) },
    { folder: "/c", names: new Set(["d"]) },
  ]);
  t.same(placesOf(["/b/k"], ["/b"]), [
    { folder: "/b", names: "all" },
    { folder: "/", names: new Set(["b"]) },
  ]);
});

t.test(
  "another folder in the place of one that is watched is told, and the watch knows that it is stale",
  async (t) => {
    const folder = t.testdir({ one: { a: "1" }, two: { a: "2" }, keys: t.fixture("symlink", "one") });
    const changes = new EventEmitter();
    const watch = watchPlaces(
      placesOf([], [join(folder, "keys")]),
      () => changes.emit("changed"),
      () => t.fail("failed"),
    );
    t.teardown(() => watch.close());
    t.equal(watch.isStale(), false);
    symlinkSync("two", join(folder, "next"));
    renameSync(join(folder, "next"), join(folder, "keys"));
    await once(changes, "changed");
    t.equal(watch.isStale(), true);
  },
);

t.test("a folder that is not there is told, the others are watched", async (t) => {
  const folder = t.testdir({ known: "1", other: "1" });
  const failed: string[] = [];
  const changes = new EventEmitter();
  let told = 0;
  const watch = watchPlaces(
    [
      { folder: join(folder, "nowhere"), names: "all" },
      { folder, names: new Set(["known"]) },
    ],
    () => {
      told += 1;
      changes.emit("changed");
    },
    (name, error) => failed.push(`${name} ${(error as NodeJS.ErrnoException).code}`),
  );
  t.teardown(() => watch.close());
  t.same(failed, [`${join(folder, "nowhere")} ENOENT`]);
  // Of a name that does not count nothing is told; what follows is told once, however many events it makes.
  writeFileSync(join(folder, "other"), "2");
  writeFileSync(join(folder, "draft"), "2");
  renameSync(join(folder, "draft"), join(folder, "known"));
  writeFileSync(join(folder, "known"), "3");
  await once(changes, "changed");
  t.equal(told, 1);
  writeFileSync(join(folder, "known"), "4");
  await once(changes, "changed");
  t.equal(told, 2);
});

t.test("nothing is told after it was closed", async (t) => {
  const folder = t.testdir({ known: "1" });
  const watch = watchPlaces(
    [{ folder, names: "all" }],
    () => t.fail("told"),
    () => t.fail("failed"),
  );
  writeFileSync(join(folder, "known"), "2");
  watch.close();
  const second = new EventEmitter();
  const later = watchPlaces(
    [{ folder, names: "all" }],
    () => second.emit("changed"),
    () => undefined,
  );
  t.teardown(() => later.close());
  writeFileSync(join(folder, "known"), "3");
  await once(second, "changed");
});
