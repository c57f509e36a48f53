/**
 * One run: gateways, a store, a server with a journal, users and faults; then all is made well, every state that is remembered
 * is sent once more, and the journal is read. No state may stand in it twice.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../fuzz/random.ts";
import { Driver, type Tally } from "./driver.ts";
import { makeFaults, processFaults } from "./faults.ts";
import { type Closers, startGateways, startServer } from "./processes.ts";
import { type Store, sentinels, standalone } from "./stores.ts";

const GATEWAYS = 3;

/** Kinds of store, by name. */
export const STORES = { standalone, sentinels } as const satisfies Record<
  string,
  (closers: Closers, gateways: number, random: Random) => Promise<Store>
>;

/** How large a run is. */
export interface Size {
  readonly store: keyof typeof STORES;
  readonly seed: number;
  /** Ends when so many requests with a state were sent and every kind of fault was made, or when the time is over. */
  readonly attempts: number;
  readonly seconds: number;
  /** Users at once, 48 unless said. */
  readonly users?: number;
  /** Replays of old states after each round, 8 unless said. */
  readonly late?: number;
  /** `off` takes the protection away that the run is about: a test of the run itself. */
  readonly epoch?: "on" | "off";
  /** Makes only faults whose names fit. */
  readonly only?: RegExp;
}

/** What came out of a run. */
export interface Outcome {
  readonly tally: Tally;
  readonly faults: ReadonlyMap<string, number>;
  /** Runs that the server's journal shows. */
  readonly executions: number;
  /** States that ran more than once. */
  readonly twice: readonly string[];
  /** Whatever else must not be. */
  readonly faultsFound: readonly string[];
}

/** Runs once; the same seed makes the same choices. */
export async function run({
  store: kind,
  seed,
  attempts,
  seconds,
  epoch = "on",
  only,
  users = 48,
  late: replays = 8,
}: Size): Promise<Outcome> {
  const random = new Random(seed);
  const ends: (() => unknown)[] = [];
  const closers: Closers = { teardown: (end) => void ends.push(end) };
  try {
    const folder = await mkdtemp(join(tmpdir(), "sealgate-chaos-"));
    closers.teardown(() => rm(folder, { recursive: true, force: true }));
    const server = await startServer(closers, folder, seed);
    const store = await STORES[kind](closers, GATEWAYS, random);
    const gateways = await startGateways(closers, folder, store.sections, {
      upstream: server.process.url,
      epoch,
    });
    const driver = new Driver({
      gateways: gateways.map(({ url }) => url),
      seed,
      workers: users,
      copies: 6,
      late: replays,
    });
    closers.teardown(() => driver.close());
    const all = [...processFaults(gateways, server.process), ...store.faults];
    const faults = all.filter(({ name }) => only?.test(name) ?? true);
    const making = makeFaults(faults, new Random(seed + 1_000_000), { least: 50, most: 600 });
    closers.teardown(() => making.stop().catch(() => undefined));
    const late = performance.now() + seconds * 1_000;
    await driver.run(
      (tally) =>
        performance.now() >= late || making.failed() || (tally.attempts >= attempts && making.turns() > 0),
    );
    const made = await making.stop();
    await driver.replayAll();
    return judge(driver.tally, made, server.journal());
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

function judge(tally: Tally, faults: ReadonlyMap<string, number>, journal: readonly string[]): Outcome {
  const runs = new Map<string, number>();
  for (const state of journal) runs.set(state, (runs.get(state) ?? 0) + 1);
  const twice = [...runs].filter(([, times]) => times > 1).map(([state]) => state);
  const toldTwice = [...tally.completed].filter(([, times]) => times > 1);
  return {
    tally,
    faults,
    executions: journal.length,
    twice,
    faultsFound: [
      ...twice.map((state) => `state ${state} was carried out ${runs.get(state)} times`),
      ...toldTwice.map(([round, times]) => `round ${round} was told to be complete ${times} times`),
      ...tally.untold,
      ...(journal.length === 0 ? ["nothing was carried out at all"] : []),
    ],
  };
}
