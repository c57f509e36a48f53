/**
 * How much this process takes on at once. A slot is taken before a state is redeemed and given back when the answer has left.
 */
import { Refusal } from "./errors.ts";

/** A place in the house; `leave` may be called more than once. */
export interface Slot {
  leave(): void;
}

/** Counts what is in flight. */
export interface Limits {
  /** @throws Refusal `too_many_requests` or `too_many_streams` */
  enter(kind: "request" | "stream"): Slot;
  readonly inFlight: number;
  readonly streams: number;
}

/** @param max the most requests and open-ended streams at a time */
export function createLimits(max: { readonly inFlight: number; readonly streams: number }): Limits {
  const now = { request: 0, stream: 0 };
  return {
    enter(kind) {
      if (now[kind] >= (kind === "request" ? max.inFlight : max.streams)) {
        throw new Refusal(kind === "request" ? "too_many_requests" : "too_many_streams", "limit");
      }
      now[kind] += 1;
      let held = true;
      return {
        leave() {
          if (held) now[kind] -= 1;
          held = false;
        },
      };
    },
    get inFlight() {
      return now.request;
    },
    get streams() {
      return now.stream;
    },
  };
}
