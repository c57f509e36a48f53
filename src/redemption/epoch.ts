/**
 * Random names of redemption: epochs and attempts. See docs/redemption.md.
 * An epoch names one unbroken history of a store; an attempt names one call to redeem.
 */
import { randomBytes } from "node:crypto";

/** Source of random bytes: `n` of them. */
export type Random = (n: number) => Buffer;

/** A new epoch: 128 random bits as 22 characters of base64url. */
export function newEpoch(random: Random = randomBytes): string {
  return random(16).toString("base64url");
}

/**
 * A new attempt id: 64 random bits as 11 characters of base64url. It has to differ among the attempts at one state only,
 * and whoever gives a state back must know it. Longer texts would cost the next size of memory per mark.
 */
export function newAttempt(random: Random = randomBytes): string {
  return random(8).toString("base64url");
}
