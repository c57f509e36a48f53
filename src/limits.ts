/**
 * How much this process takes on at once. A slot is taken before a state is redeemed and given back when the answer has left.
 */
import { Refusal } from "./errors.ts";

/** A place in the house; `leave` may be called more than once. */
export interface Slot {
  leave(): void;
}

/** What a place is for: a body that is being read, a request, a stream that may stay open for hours. */
export type Place = "body" | "request" | "stream";

/** Counts what is in flight. */
export interface Limits {
  /** @throws Refusal `too_many_requests` or `too_many_streams` */
  enter(kind: Place): Slot;
  readonly bodies: number;
  readonly inFlight: number;
  readonly streams: number;
}

/** @param max the most requests (and as many bodies being read) and open-ended streams at a time */
export function createLimits(max: { readonly inFlight: number; readonly streams: number }): Limits {
  const now = { body: 0, request: 0, stream: 0 };
  return {
    enter(kind) {
      if (now[kind] >= (kind === "stream" ? max.streams : max.inFlight)) {
        throw new Refusal(kind === "stream" ? "too_many_streams" : "too_many_requests", "limit");
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
    get bodies() {
      return now.body;
    },
    get inFlight() {
      return now.request;
    },
    get streams() {
      return now.stream;
    },
  };
}
