/**
 * What was used once and must not be used again: the ids of DPoP proofs (RFC 9449 section 11.1), for as long as a proof could pass.
 * Another memory than that of redeemed states: short, and without a promise across a failover of the store.
 */

/** Remembers what was used. */
export interface ReplayStore {
  /**
   * Marks a use.
   * @param id 22 characters of base64url, the same for the same use everywhere
   * @param ms how long the mark is needed
   * @returns whether it is the first
   * @throws ReplaysUnavailable when that cannot be known
   */
  first(id: string, ms: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Nobody knows whether something was used before. It counts as a fault of ours, never as a good or a bad proof. */
export class ReplaysUnavailable extends Error {
  override readonly name = "ReplaysUnavailable";
}

/** About 150 bytes each. */
const MAX_MARKS = 500_000;

/** The memory of one process, gone with it. @param now Unix milliseconds */
export function createMemoryReplays(now: () => number, maxMarks = MAX_MARKS): ReplayStore {
  /** Until when each mark is needed. Marks of one length come in the order in which they end. */
  const marks = new Map<string, number>();
  /** Marks needed until then may have been forgotten: the clock was set back if such a one comes again. */
  let forgotten = Number.NEGATIVE_INFINITY;
  const forget = (at: number, looks: number): void => {
    let left = looks;
    for (const [id, until] of marks) {
      if (until > at || left-- === 0) return;
      marks.delete(id);
      forgotten = Math.max(forgotten, until);
    }
  };
  return {
    async first(id, ms) {
      const at = now();
      const until = at + ms;
      if (marks.has(id) || until <= forgotten) return false;
      forget(at, 2);
      if (marks.size >= maxMarks) forget(at, Number.POSITIVE_INFINITY);
      if (marks.size >= maxMarks) throw new ReplaysUnavailable("the memory of proofs is full");
      marks.set(id, until);
      return true;
    },
    async close() {
      marks.clear();
    },
  };
}
