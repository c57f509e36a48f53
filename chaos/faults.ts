/** What goes wrong, chosen by the seed: one fault after the other, each of which ends by itself. */
import type { Random } from "../fuzz/random.ts";
import type { Mortal } from "./processes.ts";

/** One kind of fault. */
export interface Fault {
  readonly name: string;
  /** Makes it happen, and all well again. */
  run(random: Random): Promise<void>;
}

/** For as long as the seed says, between the two bounds in milliseconds. */
export function pauseFor(random: Random, least: number, most: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, least + random.below(most - least)));
}

/** Faults of the processes that are there with any store. */
export function processFaults(gateways: readonly Mortal[], server: Mortal): Fault[] {
  return [
    {
      name: "a gateway is killed and comes back",
      async run(random) {
        const gateway = random.pick(gateways);
        await gateway.kill();
        await pauseFor(random, 0, 500);
        await gateway.start();
      },
    },
    {
      name: "a gateway stands still",
      async run(random) {
        const gateway = random.pick(gateways);
        gateway.pause();
        await pauseFor(random, 100, 1_500);
        gateway.resume();
      },
    },
    {
      name: "the server is killed and comes back",
      async run(random) {
        await server.kill();
        await pauseFor(random, 0, 500);
        await server.start();
      },
    },
    {
      name: "the server stands still",
      async run(random) {
        server.pause();
        await pauseFor(random, 100, 1_000);
        server.resume();
      },
    },
  ];
}

/** Faults that are being made. */
export interface Faults {
  /** How often every kind has been made. */
  turns(): number;
  /** Whether a fault could not be made, or not be made well again: nothing more is made then. */
  failed(): boolean;
  /** Stops after the fault that is going on, and tells how often each was made. Throws what a fault has thrown. */
  stop(): Promise<ReadonlyMap<string, number>>;
}

/** Makes faults until it is stopped, never two at once. */
export function makeFaults(
  faults: readonly Fault[],
  random: Random,
  calm: { readonly least: number; readonly most: number },
): Faults {
  const made = new Map<string, number>();
  let stopped = false;
  let turns = 0;
  let failure: { readonly error: unknown } | undefined;
  // Every kind in its turn, in an order that the seed gives, so that a short run has them all.
  let turn: readonly Fault[] = [];
  const run = async (): Promise<void> => {
    while (!stopped) {
      await pauseFor(random, calm.least, calm.most);
      if (turn.length === 0) turn = random.shuffle(faults);
      const [fault, ...rest] = turn;
      turn = rest;
      if (stopped || fault === undefined) break;
      await fault.run(random);
      made.set(fault.name, (made.get(fault.name) ?? 0) + 1);
      if (turn.length === 0) turns += 1;
    }
  };
  const over = run().then(
    () => undefined,
    (error: unknown) => {
      failure = { error };
    },
  );
  return {
    turns: () => turns,
    failed: () => failure !== undefined,
    async stop() {
      stopped = true;
      await over;
      if (failure !== undefined) throw failure.error;
      return made;
    },
  };
}
