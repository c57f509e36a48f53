/**
 * Tells when files may have changed; reads none of them. It watches folders, since editors and Kubernetes put a new
 * file or link in the place of the old one, and a watch on a file would stay with what is gone.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Files of one write come together, and a file that is being written gets time to be whole: quiet for so long. */
const SETTLE_MS = 200;
/** Where it never gets quiet, as with a file that is written to all the time, changes are told this late. */
const LATEST_MS = 2_000;

/** A folder and the names in it that count: files, or all. */
export interface Place {
  readonly folder: string;
  readonly names: ReadonlySet<string> | "all";
}

/** Something that is watched until it is closed. */
export interface Watch {
  /** Whether another folder stands where one is watched, so that the watch is on what is gone. */
  isStale(): boolean;
  close(): void;
}

/** The places of files and of whole folders, one per folder. Paths are absolute. */
export function placesOf(files: readonly string[], folders: readonly string[]): Place[] {
  const places = new Map<string, Set<string> | "all">();
  const addName = (path: string): void => {
    const names = places.get(dirname(path)) ?? new Set<string>();
    if (names !== "all") places.set(dirname(path), names.add(basename(path)));
  };
  for (const folder of folders) places.set(folder, "all");
  for (const file of files) addName(file);
  // Another folder, or a link to one, can be put in the place of each; that shows in the folder above only.
  for (const folder of [...files.map(dirname), ...folders]) addName(folder);
  return [...places].map(([folder, names]) => ({ folder, names }));
}

/**
 * Watches until it is closed; keeps no process alive.
 * @param changed called some time after something changed, at least once after the last change
 * @param failed called when a folder is not or no longer watched: what changes there will not be seen
 */
export function watchPlaces(
  places: readonly Place[],
  changed: () => void,
  failed: (folder: string, error: unknown) => void,
): Watch {
  let quiet: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;
  const tell = (): void => {
    clearTimeout(quiet);
    clearTimeout(latest);
    quiet = latest = undefined;
    changed();
  };
  const soon = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(tell, SETTLE_MS).unref();
    latest ??= setTimeout(tell, LATEST_MS).unref();
  };
  const watchers = places.flatMap(({ folder, names }): FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // A mounted Secret or ConfigMap changes by its link `..data`; no name is known on some systems.
        if (name === null || names === "all" || names.has(name) || name.startsWith("..")) soon();
      });
      watcher.on("error", (error) => failed(folder, error));
      return [watcher];
    } catch (error) {
      failed(folder, error);
      return [];
    }
  });
  const watched = places.map(({ folder }) => identityOf(folder));
  return {
    isStale: () => places.some(({ folder }, index) => identityOf(folder) !== watched[index]),
    close() {
      clearTimeout(quiet);
      clearTimeout(latest);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** What tells one folder from another at the same path; nothing while there is none. */
function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
