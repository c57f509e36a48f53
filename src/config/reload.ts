/**
 * Reads the configuration again when its files change or when it is asked to. All or nothing: what has a problem, or what
 * the gateway cannot take up, changes nothing and is logged. One reading at a time.
 */
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../errors.ts";
import { type Log, logError } from "../log.ts";
import { ConfigFileError } from "./config-file.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";
import { referredTo } from "./resolve.ts";
import type { Config } from "./schema.ts";
import { placesOf, type Watch, watchPlaces } from "./watch.ts";

/** How the last reading ended, the one at start included. */
export interface ReloadStatus {
  readonly successful: boolean;
  /** When a configuration was taken up or found in order last, in milliseconds since the epoch. */
  readonly succeededAt: number;
}

/** Follows a configuration file until it is closed. */
export interface Reloader {
  status(): ReloadStatus;
  /** Begins to watch, and reads what may have changed before that. Does nothing without a file. */
  start(): void;
  /** Reads now, and logs what came of it. True when what was read is in force. */
  reload(): Promise<boolean>;
  close(): Promise<void>;
}

/** The configuration is sound, and yet cannot be taken up by a running gateway. */
export class NotTakenUp extends Error {
  override readonly name = "NotTakenUp";
  /** One line for each cause. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/**
 * @param first what is in force; without a source there is nothing to follow
 * @param take puts a configuration in force as a whole, and says whether anything changed by that; or throws (`NotTakenUp`, or
 * what could not be opened) and leaves all as it was
 */
export function createReloader(
  first: LoadedConfig,
  {
    take,
    log,
    now,
  }: {
    readonly take: (loaded: LoadedConfig) => Promise<boolean>;
    readonly log: Log;
    readonly now: () => number;
  },
): Reloader {
  let status: ReloadStatus = { successful: true, succeededAt: now() };
  let places = placesIn(first);
  let warned: readonly string[] = first.warnings;
  let watch: Watch | undefined;
  let closed = false;
  let last: Promise<boolean> = Promise.resolve(true);
  /** The reading that has not begun yet; whoever asks meanwhile joins it. */
  let next: Promise<boolean> | undefined;
  /** An operator waits for what comes of it. */
  let asked = false;

  const follow = (): void => {
    watch?.close();
    watch = watchPlaces(
      places,
      () => void readSoon(),
      (folder, error) => {
        const err = logError(error);
        log.warn(
          { folder, err },
          "changes of this folder are not seen, SIGHUP reads the configuration again",
        );
      },
    );
  };
  const read = async (): Promise<boolean> => {
    if (first.source === undefined || closed) return status.successful;
    let wanted = places;
    const tell = asked;
    asked = false;
    try {
      const loaded = await loadConfig(first.source.name, first.source.env, now);
      wanted = placesIn(loaded);
      if (closed) return status.successful;
      const changed = await take(loaded);
      for (const warning of loaded.warnings)
        if (!warned.includes(warning)) log.warn({ warning }, "configuration");
      warned = loaded.warnings;
      if (!changed && !status.successful)
        log.info({}, "the configuration is in order again; nothing has changed");
      else if (!changed && tell) log.info({}, "the configuration was read; nothing has changed");
      status = { successful: true, succeededAt: now() };
    } catch (error) {
      status = { ...status, successful: false };
      log.error(reasons(error), "the configuration was not taken up, the one before stays in force");
    }
    if (!closed && watch !== undefined && (watch.isStale() || !isDeepStrictEqual(wanted, places))) {
      places = wanted;
      follow();
      // What changed in a new place before it was watched.
      void readSoon();
    }
    return status.successful;
  };
  const readSoon = (): Promise<boolean> => {
    next ??= last.then(() => {
      next = undefined;
      return read();
    });
    last = next;
    return last;
  };
  return {
    status: () => status,
    start() {
      if (first.source === undefined) return;
      follow();
      void readSoon();
    },
    reload() {
      asked = true;
      return readSoon();
    },
    async close() {
      closed = true;
      watch?.close();
      await last;
    },
  };
}

type Sections = { readonly [Name in keyof Config]?: unknown };

/** The names of the sections that were changed in the file, not of those that inherit from them. */
export function changedSections(before: LoadedConfig, after: LoadedConfig): string[] {
  const a: Sections = before.source?.sections ?? before.config;
  const b: Sections = after.source?.sections ?? after.config;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Config>;
  return [...names].filter((name) => !isDeepStrictEqual(a[name], b[name])).sort();
}

/** Every file whose change may be taken up: the configuration itself and all it refers to. */
function placesIn({ source, config }: LoadedConfig): ReturnType<typeof placesOf> {
  if (source === undefined) return [];
  const { files, folders } = referredTo(config);
  return placesOf([source.file, ...files], folders);
}

/** What an operator reads about a failure: every problem with its place, or the one cause. */
function reasons(error: unknown): object {
  if (error instanceof ConfigError) return { problems: error.message.split("\n") };
  if (error instanceof ConfigFileError) return { problems: [error.message] };
  if (error instanceof NotTakenUp) return { problems: error.problems };
  return { err: logError(error) };
}
