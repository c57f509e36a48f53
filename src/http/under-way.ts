/** The requests under way, and how they end when the listener shuts down. docs/lifecycle.md, "Shutdown". */
import { Refusal } from "../errors.ts";
import type { Journey } from "../journey.ts";

/** After the grace, what cannot even take its last words within this time is cut off. */
const LAST_WORDS_MS = 2_500;

/** See the file's header. */
export class UnderWay {
  readonly #journeys = new Set<Journey>();
  readonly #graceOver = Promise.withResolvers<void>();
  #draining = false;
  #onEmpty: (() => void) | undefined;

  /** Whether new work is refused. */
  get draining(): boolean {
    return this.#draining;
  }

  enter(journey: Journey): void {
    this.#journeys.add(journey);
  }

  leave(journey: Journey): void {
    this.#journeys.delete(journey);
    if (this.#journeys.size === 0) this.#onEmpty?.();
  }

  /** What they were judged by is not in force any more. */
  supersede(): void {
    for (const journey of this.#journeys) journey.supersede();
  }

  /**
   * From now on new work is to be refused. Ends open-ended streams with a readable last event, waits for the rest up to `grace`
   * milliseconds, then ends that too; resolves when all have left, or cannot even take their last words.
   */
  async drain(grace: number): Promise<void> {
    this.#draining = true;
    const refusal = new Refusal("shutting_down", "shutdown");
    for (const journey of this.#journeys) {
      if (journey.endless) journey.stop(refusal);
    }
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#journeys.size === 0) resolve();
    });
    await within(grace, Promise.race([empty, this.#graceOver.promise]));
    for (const journey of this.#journeys) journey.stop(refusal);
    await within(LAST_WORDS_MS, empty);
  }

  /** Takes what is left of the grace. Returns how many requests have to end by that. */
  cut(): number {
    this.#graceOver.resolve();
    return this.#journeys.size;
  }
}

/** Resolves with the work, or when the time is over. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
