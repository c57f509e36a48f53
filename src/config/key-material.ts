/**
 * The secrets of the ring, read from files and variables or from a folder with one file per key. Problems are
 * collected, not thrown. What only a clock and the age of files can tell about a rotation is told here too.
 */
import { constants } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { decodeSecret } from "../key-secret.ts";
import { type KeySource, loadKeyring } from "../keyring.ts";
import type { Step } from "./json-schema.ts";
import type { Report } from "./report.ts";
import type { Sections } from "./schema.ts";
import { loadFile, loadSecret, type Material, SecretError } from "./secret.ts";

const SHORT_KEY =
  "the secret is shorter than 32 bytes (64 hexadecimal digits, 43 characters of base64url); `sealgate keys new` makes one";
/** The names a file in `keys.folder` may have, as those of `keys.ring`; a dot first hides it. */
const LABEL = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
/** A key that is younger than this when it begins to seal may not have reached every replica. */
const YOUNG_MS = 3_600_000;
const WRITTEN_BY_OTHERS = 0o022;
/** What a mount writes at once, it writes within this time. */
const TOGETHER_MS = 60_000;

interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly report: Report;
  readonly replicas: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Found extends KeySource {
  readonly path: readonly Step[];
  readonly writtenAt: number | undefined;
  readonly exposed: boolean;
}

/** Reads all keys of the section; paths in it are absolute. What is wrong goes to `report`, by the path of the setting. */
export async function loadKeys(
  keys: NonNullable<Sections["keys"]>,
  { env, report, replicas, now }: Surroundings,
): Promise<KeySource[]> {
  const { primary, next, ring = [], folder } = keys;
  let problems = 0;
  const problem = (path: readonly Step[], message: string): void => {
    problems += 1;
    report.problem(path, message);
  };
  const found: Found[] = [];
  const take = async (
    id: string,
    path: readonly Step[],
    load: Promise<Material>,
    name = "",
  ): Promise<void> => {
    try {
      const { bytes, exposed, writtenAt } = await load;
      found.push({ id, path, secret: decode(bytes), exposed, writtenAt });
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      problem(path, name + error.message);
    }
  };
  for (const [index, { id, secret }] of ring.entries()) {
    const kind = "file" in secret ? "file" : "env";
    await take(id, ["keys", "ring", index, "secret", kind], loadSecret(secret, env));
  }
  if (folder !== undefined) {
    const path = ["keys", "folder"];
    if (await isOpenToOthers(folder)) {
      report.warning(
        path,
        "can be written by other users of this machine: whoever adds a file to it adds a key",
      );
    }
    for (const name of await namesIn(folder, (message) => problem(path, message))) {
      await take(name, path, loadFile(join(folder, name)), `${name}: `);
    }
    for (const [at, id] of [
      [["keys", "primary"], primary],
      [["keys", "next", "id"], next?.id],
    ] as const) {
      if (id !== undefined && problems === 0 && !found.some((key) => key.id === id)) {
        problem(at, "is not the name of a file in keys.folder");
      }
    }
  }
  for (const [index, { secret, path, id }] of found.entries()) {
    const twin = found.findIndex((key) => key.secret.equals(secret));
    if (twin === index) continue;
    const where = folder === undefined ? path.slice(0, -1) : path;
    const name = folder === undefined ? "" : `${id}: `;
    problem(where, `${name}is the secret of another key of the ring, allowed one key per secret`);
  }
  warnOfExposure(found, folder !== undefined, report);
  if (next !== undefined && next.notBefore * 1000 <= now) {
    report.warning(["keys", "next"], "has taken over: make it keys.primary and take keys.next out");
  } else if (replicas > 1 && next === undefined) {
    warnOfHaste(found, primary, now, report);
  }
  // Everything else that could stop `serve`, such as two keys with one key id.
  if (problems === 0) tryRing(found, keys, report);
  return found.map(({ id, secret }) => ({ id, secret }));
}

function decode(bytes: Buffer): Buffer {
  try {
    return decodeSecret(bytes);
  } catch {
    // Not the cause's own text: whatever it says, it was made while the secret was at hand.
    throw new SecretError(SHORT_KEY);
  }
}

/** A mounted Secret is open by its mode and cannot be written all the same, since the mount is read-only. */
async function isOpenToOthers(folder: string): Promise<boolean> {
  const info = await stat(folder).catch(() => undefined);
  if (info === undefined || (info.mode & WRITTEN_BY_OTHERS) === 0 || process.platform === "win32")
    return false;
  const code = await access(folder, constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  return code !== "EROFS";
}

/** The names of the key files, sorted. Names with a dot first are no keys: a Secret mount keeps its own links there. */
async function namesIn(folder: string, problem: (message: string) => void): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    problem("the folder does not exist, or this user may not read it");
    return [];
  }
  const shown = names.filter((name) => !name.startsWith(".")).sort();
  if (shown.length === 0) problem("the folder holds no key");
  const odd = shown.filter((name) => !LABEL.test(name));
  if (odd.length > 0) {
    problem("the folder holds a file whose name is no id of a key (1 to 64 letters, digits, - . _)");
  }
  return shown.filter((name) => LABEL.test(name));
}

function warnOfExposure(found: readonly Found[], isFolder: boolean, report: Report): void {
  const open = found.filter(({ exposed }) => exposed);
  if (isFolder && open.length > 0) {
    report.warning(
      ["keys", "folder"],
      "holds files that are open to other users than their owner, mode 0600 is enough",
    );
  } else {
    for (const { path } of open) {
      report.warning(path, "the file is open to other users than its owner, mode 0600 is enough");
    }
  }
}

/** The wrong order of a rotation, as far as files tell: the primary was written just now, the others long before. */
function warnOfHaste(found: readonly Found[], primary: string, now: number, report: Report): void {
  const at = found.find(({ id }) => id === primary)?.writtenAt;
  const others = found.flatMap(({ id, writtenAt }) =>
    id === primary || writtenAt === undefined ? [] : [writtenAt],
  );
  if (at === undefined || others.length === 0 || now - at > YOUNG_MS) return;
  if (others.some((other) => other > at - TOGETHER_MS)) return;
  const minutes = Math.max(0, Math.floor((now - at) / 60_000));
  report.warning(
    ["keys", "primary"],
    `is a key that was written ${minutes} minutes ago: a replica that does not have it yet refuses what it seals; add a key everywhere before it becomes primary`,
  );
}

function tryRing(
  found: readonly Found[],
  { primary, next }: NonNullable<Sections["keys"]>,
  report: Report,
): void {
  const ids = new Set(found.map(({ id }) => id));
  // What is missing, or there twice, was told already.
  if (ids.size !== found.length || !ids.has(primary)) return;
  if (next !== undefined && (next.id === primary || !ids.has(next.id))) return;
  try {
    loadKeyring(found, primary, next);
  } catch (error) {
    // Messages of a ring name keys by label, never by content.
    report.problem(["keys"], error instanceof Error ? error.message : "make no ring");
  }
}
