/** `sealgate keys new`: a secret for `keys.ring`. */
import { open, unlink } from "node:fs/promises";
import { generateSecret } from "../key-secret.ts";
import { EXIT } from "./exit.ts";

const CAUSES: Readonly<Record<string, string>> = {
  EEXIST: "it exists already and is never overwritten",
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder does not exist",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
};

async function write(file: string, secret: string): Promise<void> {
  // `wx` follows no link and takes no existing file, so the secret lands in a file that nobody has open yet.
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(`${secret}\n`);
    await handle.sync();
  } catch (error) {
    await unlink(file).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Prints a new secret, or writes it to `out` with mode 0600.
 * @returns the exit code: 0, or 73 when the file exists or cannot be written
 */
export async function keysNew(options: { readonly out: string | undefined }): Promise<number> {
  const secret = generateSecret();
  if (options.out === undefined) {
    process.stdout.write(`${secret}\n`);
    return EXIT.ok[0];
  }
  try {
    await write(options.out, secret);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    process.stderr.write(
      `sealgate: cannot write ${options.out}: ${CAUSES[code] ?? (code || "unknown cause")}\n`,
    );
    return EXIT.create[0];
  }
  process.stderr.write(`${options.out}: new secret written, readable by its owner only\n`);
  return EXIT.ok[0];
}
