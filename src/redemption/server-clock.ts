/**
 * The clock of one Redis server, as a gateway sees it: beside its own monotonic clock, and beside what it told before. In a Cluster
 * every epoch record judges the clock by the highest time that was written into it; a jump that one record has seen the
 * others have to see as well. Pure. The argument is in docs/redemption.md.
 */
import { MAX_LEEWAY_SECONDS } from "./store.ts";

/** An epoch record gets the time again when it is so far behind. */
export const CLOCK_STEP_SECONDS = 30;
/** The longest time between two looks at one epoch record. */
export const LOOK_SECONDS = 16;
/** A clock that leaves its course by more has been set. */
const COURSE_SECONDS = 10;

/**
 * A clock that goes back by more begins new epochs. A mark is gone when the clock has been at the end of its state and 300 s more;
 * a record may lag behind that clock by the rest.
 */
export const CLOCK_BACK_SECONDS = MAX_LEEWAY_SECONDS - CLOCK_STEP_SECONDS - LOOK_SECONDS - COURSE_SECONDS - 4;

/** What a time says: nothing new, that the clock was set, or that it was set back so far that marks may be gone. */
export type Course = "steady" | "set" | "set_back";

/** See the file's header. */
export class ServerClock {
  /** Seconds between the clock of the server and the gateway's monotonic one. */
  #offset: number | undefined;
  #highest = Number.NEGATIVE_INFINITY;

  /** The server has told its time (Unix seconds) at `now` (monotonic, milliseconds). */
  told(seconds: number, now: number): Course {
    const offset = seconds - now / 1000;
    const back = seconds < this.#highest - CLOCK_BACK_SECONDS;
    this.#highest = back ? seconds : Math.max(this.#highest, seconds);
    this.#offset ??= offset;
    if (!back && Math.abs(offset - this.#offset) <= COURSE_SECONDS) return "steady";
    this.#offset = offset;
    return back ? "set_back" : "set";
  }
}
