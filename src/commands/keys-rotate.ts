/**
 * `sealgate keys rotate`: one step of a rotation in a configuration file, or in its folder of keys. What a step would lose
 * by coming too early it cannot see, since it knows one file and not the replicas; it says what has to be true before the next.
 */
import { lstat, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { editKeys, type KeysEdit } from "../config/edit-keys.ts";
import { EditRefused } from "../config/edit-refused.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { printDuration } from "../config/units.ts";
import { ConfigError } from "../errors.ts";
import { generateSecret } from "../key-secret.ts";
import type { KeySource } from "../keyring.ts";
import { EXIT } from "./exit.ts";
import { type Owner, replaceFile, writeNew } from "./files.ts";
import { ringLines } from "./keys-list.ts";
import { UsageError } from "./usage-error.ts";

const STEPS = ["add", "promote", "remove"] as const;
type Step = (typeof STEPS)[number];
type Keys = NonNullable<Config["keys"]>;

/** Whether a word of the command line is a step. */
export function isStep(word: string): word is Step {
  return (STEPS as readonly string[]).includes(word);
}

interface Place {
  /** The configuration file, as it was named. */
  readonly file: string;
  readonly keys: Keys;
  readonly ids: readonly string[];
  /** `envelope.ttl`, in milliseconds. */
  readonly ttl: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Does one step, or prints the ring and which steps there are.
 * @param now milliseconds since the epoch
 * @returns the exit code: 0, or 75 where a key is not to be removed yet
 * @throws UsageError, ConfigError, ConfigFileError, CannotWrite, EditRefused; nothing is changed then
 */
export async function keysRotate(
  options: { readonly config: string; readonly step: Step | undefined; readonly id: string | undefined },
  now: number = Date.now(),
): Promise<number> {
  const { config, secrets } = await loadConfig(options.config, process.env);
  const { keys } = config;
  if (keys === undefined)
    throw new EditRefused(`${options.config}: there is no keys section that could be rotated`);
  const ids = secrets.keys.map(({ id }) => id);
  const place: Place = { file: options.config, keys, ids, ttl: config.envelope.ttl, now };
  switch (options.step) {
    case undefined:
      return describe(place, secrets.keys);
    case "add":
      return add(place, options.id ?? newId(ids, now));
    case "promote":
      return promote(place, options.id ?? keys.next?.id ?? onlyOther(place));
    case "remove":
      return remove(place, options.id ?? onlyOther(place));
  }
}

function describe({ keys, ids, now }: Place, secrets: readonly KeySource[]): number {
  const others = ids.filter((id) => id !== keys.primary);
  say(...ringLines(keys, secrets, now / 1000), "");
  if (others.length === 0) say("One key. To begin a rotation: --step add");
  for (const id of others) {
    say(`${id}: if it is new and on all replicas, --step promote --id ${id}`);
    say(
      `${" ".repeat(id.length)}  if it was replaced everywhere an envelope.ttl ago, --step remove --id ${id}`,
    );
  }
  return EXIT.ok[0];
}

async function add({ file, keys, ids }: Place, id: string): Promise<number> {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(id)) {
    throw new UsageError("--id is no id of a key (1 to 64 letters, digits, - . _)");
  }
  if (ids.includes(id)) throw new UsageError(`--id names a key of the ring, ${id}`);
  const secret = `${generateSecret()}\n`;
  if (keys.folder !== undefined) {
    const path = join(keys.folder, id);
    await writeNew(path, secret, await ownerOf(join(keys.folder, keys.primary)));
    say(`${path}: a new secret, readable by its owner only`);
  } else {
    const written = besidePrimary(file, keys, id);
    const path = resolve(dirname(file), written);
    await writeNew(path, secret, await ownerOf(primaryFile(keys)));
    try {
      await change(file, { add: { id, file: written } });
    } catch (error) {
      await unlink(path);
      throw error;
    }
    say(
      `${path}: a new secret, readable by its owner only`,
      `${file}: ${id} added, the text before is in ${file}.bak`,
    );
  }
  say(`Now give it to every replica. When all have it: --step promote --id ${id}`);
  return EXIT.ok[0];
}

async function promote({ file, keys, ids, ttl }: Place, id: string): Promise<number> {
  if (!ids.includes(id)) throw new UsageError(`--id names no key of the ring, which has ${ids.join(", ")}`);
  if (id === keys.primary) throw new UsageError(`${id} is the primary already`);
  if (keys.next !== undefined && keys.next.id !== id) {
    throw new EditRefused(
      `${file}: keys.next names ${keys.next.id}; take it out before another key is promoted`,
    );
  }
  await change(file, { primary: id, dropNext: keys.next !== undefined });
  say(`${file}: ${id} is the primary, the text before is in ${file}.bak`);
  say(
    `Now give it to every replica. ${printDuration(ttl)} (envelope.ttl) after the last: --step remove --id ${keys.primary}`,
  );
  return EXIT.ok[0];
}

async function remove({ file, keys, ids, ttl, now }: Place, id: string): Promise<number> {
  if (!ids.includes(id)) throw new UsageError(`--id names no key of the ring, which has ${ids.join(", ")}`);
  if (id === keys.primary) throw new UsageError(`${id} is the primary, promote another key first`);
  if (id === keys.next?.id) throw new UsageError(`${id} is keys.next, which is to seal`);
  // The promotion was a change of this file: later than that it cannot have reached a replica.
  const age = now - (await stat(file)).mtimeMs;
  if (age < ttl) {
    process.stderr.write(
      `sealgate: ${file} was changed less than envelope.ttl (${printDuration(ttl)}) ago: rounds that ${id} sealed may be open; again in ${Math.ceil((ttl - age) / 1000)} s\n`,
    );
    return EXIT.later[0];
  }
  if (keys.folder !== undefined) {
    const hidden = join(keys.folder, `.${id}.removed`);
    await rename(join(keys.folder, id), hidden);
    say(`${hidden}: out of the ring; delete it when nobody misses it`);
  } else {
    await change(file, { remove: id });
    say(`${file}: ${id} removed, the text before is in ${file}.bak; its secret is left for you to delete`);
  }
  return EXIT.ok[0];
}

/** Edits the file. The new text takes its place only if it would be accepted by `check`. */
async function change(file: string, edit: KeysEdit): Promise<void> {
  if ((await lstat(file)).isSymbolicLink()) {
    throw new EditRefused(`${file}: is a link, which a new file would replace; name the file it leads to`);
  }
  const unlock = await lock(file);
  try {
    const text = editKeys(await readFile(file, "utf8"), edit);
    await replaceFile(file, text, async (draft) => {
      try {
        await loadConfig(draft, process.env);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        throw new ConfigError(error.problems.map((problem) => ({ ...problem, file })));
      }
    });
  } finally {
    await unlock();
  }
}

/** Keeps other edits of the file away until the returned function is called: two at once would lose one. */
async function lock(file: string): Promise<() => Promise<void>> {
  const path = `${file}.lock`;
  try {
    await (await open(path, "wx")).close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new EditRefused(
      `${path}: is there, so another edit is under way or was cut off; try again, or delete it if none is`,
    );
  }
  return () => unlink(path);
}

function primaryFile({ ring = [], primary }: Keys): string {
  const secret = ring.find(({ id }) => id === primary)?.secret;
  if (secret !== undefined && "file" in secret) return secret.file;
  throw new EditRefused(
    "the secret of the primary is in a variable, so there is no place for a file beside it; make one with `sealgate keys new` and add its entry by hand",
  );
}

/** The path of a new secret beside that of the primary, written as that one is: relative or absolute. */
function besidePrimary(file: string, keys: Keys, id: string): string {
  const absolute = primaryFile(keys);
  const name = basename(absolute).includes(keys.primary)
    ? basename(absolute).replace(keys.primary, id).replace("key-key-", "key-")
    : id;
  const from = resolve(dirname(file));
  const folder = dirname(absolute);
  if (folder !== from && !folder.startsWith(`${from}/`)) return join(folder, name);
  return join(folder.slice(from.length + 1), name);
}

async function ownerOf(file: string): Promise<Owner> {
  const { uid, gid } = await stat(file);
  return { uid, gid };
}

/** By today's date, and not that alone, which readers of YAML take for a time; a number behind it if that is taken. */
function newId(ids: readonly string[], now: number): string {
  const day = `key-${new Date(now).toISOString().slice(0, 10)}`;
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? day : `${day}-${n}`;
    if (!ids.includes(id)) return id;
  }
}

function onlyOther({ keys, ids }: Place): string {
  const [other, ...more] = ids.filter((id) => id !== keys.primary);
  if (other === undefined) throw new UsageError("the ring has one key only; --step add comes first");
  if (more.length > 0)
    throw new UsageError(`the ring has several other keys, name one by --id: ${[other, ...more].join(", ")}`);
  return other;
}

function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
