/** The files of `sealgate init` on disk: all of them or none, and never one over another. */
import { chmod, chown, link, lstat, mkdir, mkdtemp, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CannotWrite, type Owner, writeNew } from "../commands/files.ts";
import type { PlannedFile } from "./facts.ts";

/** Which of the paths exist in a folder already, also as a link that leads nowhere. */
export async function existing(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => lstat(join(folder, path)).then(() => path, isAbsent)));
  return found.filter((path) => path !== undefined);
}

function isAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}

/**
 * Writes all files beside their places, lets `check` see them there, and gives them their names at last.
 * @param folder made if need be; so are the folders in it
 * @param check gets the folder they stand in meanwhile, with the same paths inside
 * @throws CannotWrite, and what `check` throws; then nothing of them is left
 */
export async function writeAll(
  folder: string,
  files: readonly PlannedFile[],
  owner: Owner | undefined,
  check: (draft: string) => Promise<void>,
): Promise<void> {
  const made: (() => Promise<unknown>)[] = [];
  const undo = async (): Promise<void> => {
    for (const step of made.toReversed()) await step().catch(() => undefined);
  };
  try {
    await makeFolder(folder, made);
    const draft = await mkdtemp(join(folder, ".sealgate-init-"));
    try {
      for (const { path, text, secret } of files) {
        await mkdir(join(draft, dirname(path)), { recursive: true });
        await writeNew(join(draft, path), text, secret ? owner : undefined);
        if (!secret) await chmod(join(draft, path), 0o644);
      }
      await check(draft);
      for (const { path, secret } of files) {
        const place = join(folder, path);
        await makeFolder(dirname(place), made, secret === true ? (owner ?? "own") : undefined);
        // Unlike a rename, a link takes nobody's place.
        await link(join(draft, path), place);
        made.push(() => unlink(place));
      }
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  } catch (error) {
    await undo();
    if (error instanceof Error && "syscall" in error && !(error instanceof CannotWrite)) {
      throw new CannotWrite(`cannot write into ${folder}: ${String(Reflect.get(error, "code"))}`, {
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * Makes a folder and those above it; each that is new goes again if the rest fails.
 * @param keeper who alone may look into the folder, if anybody: whoever can add a file to a folder of keys adds a key
 */
async function makeFolder(
  folder: string,
  made: (() => Promise<unknown>)[],
  keeper?: Owner | "own",
): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  if (keeper !== undefined) await chmod(folder, 0o700);
  if (keeper !== undefined && keeper !== "own") await chown(folder, keeper.uid, keeper.gid);
  const steps: (() => Promise<unknown>)[] = [];
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    const one = path;
    steps.push(() => rmdir(one));
  }
  // What was made last is taken away first.
  made.push(...steps.reverse());
}
