/**
 * Reads what a setting refers to: `{ file }` or `{ env }` for secrets, `{ file }` for certificates and key sets.
 * A failure is a sentence without the content, and without a reference that may be one: people do paste a secret where
 * its file or variable name belongs, and the place in the configuration says enough.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "../error-code.ts";
import type { Secret } from "./schema.ts";

const MAX_FILE_BYTES = 1_048_576;
const OTHERS = 0o077;
const READ_BY_GROUP = 0o040;
/** A named pipe would otherwise block until somebody writes. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Thrown for anything an operator can put right. The message quotes no content, and no reference but a plain variable name. */
export class SecretError extends Error {
  override readonly name = "SecretError";
}

/** What was read. */
export interface Material {
  readonly bytes: Buffer;
  /** Users other than the owner can reach the content. */
  readonly exposed: boolean;
  /** When the file was last written, in milliseconds since the epoch. Not known of a variable. */
  readonly writtenAt?: number;
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist (a relative path starts at the folder of the configuration file)",
  ENOTDIR: "the file does not exist (a part of its path is no folder)",
  EACCES: "the file may not be read by this user",
  EPERM: "the file may not be read by this user",
  ELOOP: "the path of the file is a circle of links",
  ENAMETOOLONG: "the file does not exist (its path is too long)",
};

/**
 * Reads a regular file of at most 1 MiB.
 * @param path absolute, written by the operator and trusted
 * @throws SecretError when it cannot be read, is no regular file, is empty or too large
 */
export async function loadFile(path: string): Promise<Material> {
  try {
    const handle = await open(path, READ_ONLY);
    try {
      const info = await handle.stat();
      if (!info.isFile()) throw new SecretError("is not a regular file");
      if (info.size > MAX_FILE_BYTES) throw new SecretError("the file is larger than 1MiB");
      const bytes = await handle.readFile();
      if (bytes.length === 0) throw new SecretError("the file is empty");
      const exposed = (info.mode & OTHERS & ~readByOwnGroup(info)) !== 0 && process.platform !== "win32";
      return { bytes, exposed, writtenAt: info.mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof SecretError) throw error;
    const code = errorCode(error) ?? "";
    throw new SecretError(CAUSES[code] ?? "the file cannot be read");
  }
}

/**
 * The bit by which this process reads a file that is somebody else's: without it the file could not be read at all. So are
 * secrets mounted in Kubernetes: root's, mode 0440, of the pod's group.
 */
function readByOwnGroup({ uid, gid }: { readonly uid: number; readonly gid: number }): number {
  const mine = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return uid !== process.geteuid?.() && mine.includes(gid) ? READ_BY_GROUP : 0;
}

/** Words in capitals, numbers behind them: what a variable is called, and hardly any secret. */
const VARIABLE = /^(?=.{1,64}$)[A-Z]{1,16}[0-9]{0,4}(_([A-Z]{1,16}[0-9]{0,4}|[0-9]{1,8}))*$/;

/** The name of a variable and a blank; nothing where it may be the secret itself, pasted in the wrong place. */
function shown(name: string): string {
  return VARIABLE.test(name) ? `${name} ` : "";
}

/**
 * Reads a secret.
 * @param secret where it is; a file path must be absolute
 * @throws SecretError when there is none
 */
export async function loadSecret(secret: Secret, env: NodeJS.ProcessEnv): Promise<Material> {
  if ("file" in secret) return loadFile(secret.file);
  const value = env[secret.env];
  if (value === undefined) throw new SecretError(`the environment variable ${shown(secret.env)}is not set`);
  if (value === "") throw new SecretError(`the environment variable ${shown(secret.env)}is empty`);
  return { bytes: Buffer.from(value, "utf8"), exposed: false };
}

/**
 * A secret that travels as text: one line of visible ASCII (and blanks inside); the line end that editors add is cut.
 * @throws SecretError for anything else, since it could not be sent, or would end a header early
 */
export function secretLine(bytes: Buffer): string {
  const line = bytes.toString("latin1").replace(/\r?\n$/, "");
  if (line === "") throw new SecretError("the secret is empty");
  if (!/^[!-~]([ -~]*[!-~])?$/.test(line))
    throw new SecretError("the secret is not one line of printable ASCII");
  return line;
}
