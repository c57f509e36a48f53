/** The places that one request holds: one of the process's, and one of its caller's own. */
import type { Limits, Place, Slot } from "../limits.ts";
import type { Allowance } from "./allowance.ts";

/** See the file's header. */
export class HeldPlaces {
  #slots: readonly Slot[] = [];
  #kind: Place | undefined;

  /** What the places held now are for. */
  get kind(): Place | undefined {
    return this.#kind;
  }

  /**
   * Takes both, in exchange for those held so far; or neither.
   * @throws Refusal `too_many_requests`, `too_many_streams`, `concurrency_limited`, `streams_limited`
   */
  enter(limits: Limits, allowance: Allowance | undefined, kind: Place): void {
    const ofAll = limits.enter(kind);
    try {
      const own = allowance?.enter(kind);
      this.leave();
      this.#slots = own === undefined ? [ofAll] : [ofAll, own];
      this.#kind = kind;
    } catch (error) {
      ofAll.leave();
      throw error;
    }
  }

  /** Gives back what is held. */
  leave(): void {
    for (const slot of this.#slots) slot.leave();
  }
}
