/** The configuration file itself: its bytes, or why they cannot be had. */
import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { errorCode } from "../error-code.ts";

const MAX_FILE_BYTES = 16 * 1_048_576;
/** A named pipe would otherwise block until somebody writes, and with it a thread that the process waits for at its end. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** What a shell hands over: standard input, or the output of another command. */
const HANDED_OVER = /^\/(dev|proc\/self)\/(stdin|fd\/[0-9]+)$/;

/** The configuration file cannot be read. The message is one line for the operator. Exit code 66 (EX_NOINPUT). */
export class ConfigFileError extends Error {
  override readonly name = "ConfigFileError";
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  ELOOP: "its path is a circle of links",
};

/** The bytes of a configuration file: a regular file of at most 16 MiB, or what a shell hands over. @throws ConfigFileError */
export async function readConfigFile(file: string): Promise<Buffer> {
  try {
    return HANDED_OVER.test(file) ? await readFile(file) : await readRegular(file);
  } catch (error) {
    const code = errorCode(error) ?? "";
    const cause =
      error instanceof ConfigFileError ? error.message : (CAUSES[code] ?? (code || "unknown cause"));
    throw new ConfigFileError(`cannot read ${file}: ${cause}`, { cause: error });
  }
}

async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, READ_ONLY);
  try {
    const info = await handle.stat();
    if (info.isDirectory()) throw new ConfigFileError("it is a folder");
    if (!info.isFile()) throw new ConfigFileError("it is no regular file");
    if (info.size > MAX_FILE_BYTES) throw new ConfigFileError("it is larger than 16 MiB");
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
