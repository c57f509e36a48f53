/** Changes of one process come one after the other; and against those of others each tries again, until its time is over. */
import { setTimeout as wait } from "node:timers/promises";
import { OverridesBusy } from "./overrides.ts";

/**
 * No try begins later, in milliseconds from when the change was asked for. The last one may take the time of its commands more,
 * and so longer than whoever asks an admin listener waits.
 */
const PATIENCE_MS = 8_000;
const MOST_WAIT_MS = 250;

/** See the file's header. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Waits for the turn, then tries until `attempt` gives something.
   * @throws OverridesBusy once the time is over, and what `attempt` throws
   */
  async take<T>(attempt: () => Promise<{ readonly done: T } | undefined>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    const turn = this.#last.then(() => insist(attempt, deadline));
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}

async function insist<T>(
  attempt: () => Promise<{ readonly done: T } | undefined>,
  deadline: number,
): Promise<T> {
  for (let most = 4; performance.now() < deadline; most = Math.min(2 * most, MOST_WAIT_MS)) {
    const result = await attempt();
    if (result !== undefined) return result.done;
    // Not all at the same time again.
    await wait(Math.random() * most);
  }
  throw new OverridesBusy("others change entries all the time, and this change was not made; try again");
}
