/** Files that commands write: new ones that replace nothing, and changed ones that take their place at once. */
import { randomBytes } from "node:crypto";
import { chown, copyFile, link, open, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const CAUSES: Readonly<Record<string, string>> = {
  EEXIST: "it exists already and is never overwritten",
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder does not exist",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the file system is full",
};

/** A file that could not be written; nothing of it is left. The message is one line for the operator. Exit code 73. */
export class CannotWrite extends Error {
  override readonly name = "CannotWrite";
}

/** Whose a file is to be. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

async function writing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const code = String(error.code);
    throw new CannotWrite(`cannot write ${file}: ${CAUSES[code] ?? code}`, { cause: error });
  }
}

/** A file beside `file`, hidden, whole and on disk. The caller renames, links or removes it. */
async function draft(file: string, text: string, mode: number, owner: Owner | undefined): Promise<string> {
  const path = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString("hex")}`);
  // `wx` follows no link and takes no existing file.
  const handle = await open(path, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
    const { uid, gid } = await handle.stat();
    if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid))
      await chown(path, owner.uid, owner.gid);
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
  return path;
}

/**
 * Writes a new file with mode 0600, whole from the first moment it has its name.
 * @throws CannotWrite also where something of that name exists
 */
export async function writeNew(file: string, text: string, owner?: Owner): Promise<void> {
  await writing(file, async () => {
    const path = await draft(file, text, 0o600, owner);
    try {
      // Unlike a rename, a link takes nobody's place.
      await link(path, file);
    } finally {
      await unlink(path);
    }
  });
}

/**
 * Puts another text in the place of a file at once, with its mode and owner, and keeps the old one as `FILE.bak`.
 * @param check sees the path of the new text before it takes the place; where it throws, all stays as it was
 * @throws CannotWrite, and what `check` throws
 */
export async function replaceFile(
  file: string,
  text: string,
  check: (draft: string) => Promise<unknown>,
): Promise<void> {
  const path = await writing(file, async () => {
    const { mode, uid, gid } = await stat(file);
    return draft(file, text, mode & 0o777, { uid, gid });
  });
  try {
    await check(path);
    await writing(`${file}.bak`, () => copyFile(file, `${file}.bak`));
    await writing(file, () => rename(path, file));
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  }
}
