/** What may stand in the place of a configuration file, and what holds nobody up. */
import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { ConfigFileError, readConfigFile } from "../../../src/config/config-file.ts";

const MAIN = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const QUICK = fileURLToPath(new URL("../../../config/quickstart.yaml", import.meta.url));

t.test("a file, and a link to one", async (t) => {
  const folder = t.testdir({ "a.yaml": "version: 1\n" });
  symlinkSync(join(folder, "a.yaml"), join(folder, "link.yaml"));
  for (const name of ["a.yaml", "link.yaml"])
    t.equal((await readConfigFile(join(folder, name))).toString(), "version: 1\n");
});

t.test("a pipe, a folder, a device, a circle of links, nothing, too much: refused at once", async (t) => {
  const folder = t.testdir({ folder: {} });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync(join(folder, "circle"), join(folder, "circle"));
  writeFileSync(join(folder, "huge"), "");
  truncateSync(join(folder, "huge"), 17 * 1_048_576);
  for (const [path, message] of [
    [join(folder, "pipe"), "it is no regular file"],
    [join(folder, "folder"), "it is a folder"],
    ["/dev/zero", "it is no regular file"],
    [join(folder, "circle"), "its path is a circle of links"],
    [join(folder, "none"), "no such file"],
    [join(folder, "huge"), "it is larger than 16 MiB"],
  ] as const) {
    await t.rejects(readConfigFile(path), new ConfigFileError(`cannot read ${path}: ${message}`));
  }
});

t.test("what a shell hands over is read", async (t) => {
  const command = `cat '${QUICK}' | '${process.execPath}' '${MAIN}' check --config /dev/stdin`;
  t.match(execFileSync("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] }).toString(), /./);
});
