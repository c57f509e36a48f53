/** The names in the keys section of a configuration file, without its secrets: what a rotation is judged by. */
import type { RingView } from "../rotation.ts";
import { readConfigFile } from "./config-file.ts";
import { readDocument } from "./document.ts";
import { valueAt } from "./problems.ts";
import { SECTIONS } from "./schema.ts";

/**
 * Reads the section alone: the secrets of a configuration that is or was in force elsewhere need not be here.
 * @param at unix seconds, which decide whether `next` has taken over
 * @returns undefined where names are not in the file: without the section, or with `keys.folder`
 * @throws ConfigFileError when the file cannot be read
 */
export async function loadRingView(file: string, at: number): Promise<RingView | undefined> {
  const { value } = readDocument(await readConfigFile(file));
  const keys = SECTIONS.keys.safeParse(valueAt(value, ["keys"]));
  if (!keys.success || keys.data?.ring === undefined) return undefined;
  const { primary, next, ring } = keys.data;
  return {
    seals: next !== undefined && at >= next.notBefore ? next.id : primary,
    names: new Set(ring.map(({ id }) => id)),
  };
}
