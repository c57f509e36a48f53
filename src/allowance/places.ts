/** What one caller may have going on in this process at once. Counts only callers who have something going on. */
import { Refusal } from "../errors.ts";
import type { Place, Slot } from "../limits.ts";

/** The most of each kind; what is absent has no bound. */
export interface MostAtOnce {
  readonly concurrent?: number | undefined;
  readonly streams?: number | undefined;
}

/** See the file's header. */
export class CallerPlaces {
  readonly #held = new Map<string, Record<Place, number>>();

  /** Callers that hold a place. */
  get size(): number {
    return this.#held.size;
  }

  /** @throws Refusal `concurrency_limited`, `streams_limited` */
  enter(caller: string, most: MostAtOnce, kind: Place): Slot {
    const max = kind === "stream" ? most.streams : most.concurrent;
    if (max === undefined) return { leave: () => undefined };
    const held = this.#held.get(caller) ?? { body: 0, request: 0, stream: 0 };
    if (held[kind] >= max) {
      throw kind === "stream"
        ? new Refusal("streams_limited", "caller_streams")
        : new Refusal("concurrency_limited", kind === "body" ? "caller_bodies" : "caller_requests");
    }
    held[kind] += 1;
    this.#held.set(caller, held);
    let inside = true;
    return {
      leave: () => {
        if (!inside) return;
        inside = false;
        held[kind] -= 1;
        if (held.body + held.request + held.stream === 0) this.#held.delete(caller);
      },
    };
  }
}
