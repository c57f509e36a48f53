/** What is asked of an issuer's keys, wherever they come from; and those that come from a file. */
import type { JWTVerifyGetKey } from "jose";
import { KeySetError, readKeySet } from "./key-set.ts";

/** One issuer's keys. */
export interface IssuerKeys {
  /** Picks the key for a token's header. Throws jose's `JWKSNoMatchingKey` and kin, or `IssuerUnavailable`. */
  readonly find: JWTVerifyGetKey;
  /** Names the key set in use; changes when the set does. */
  readonly generation: number;
  /** Whether what was verified under `generation` still stands; starts a refresh when one is due. */
  vouches(generation: number): boolean;
  /** False while no keys are at hand and the last attempt to get them failed; starts another when one is due. */
  available(): boolean;
}

/**
 * A set from the operator's file, already parsed. Throws when it is no key set, or holds keys that verify nothing and should not
 * be there: a mistake to show at start.
 */
export function fileKeys(document: unknown): IssuerKeys {
  const { find, flaws } = readKeySet(document);
  const [flaw] = flaws.keys();
  if (flaw !== undefined) throw new KeySetError(`holds a key that is not used: ${flaw}`);
  return { find, generation: 0, vouches: () => true, available: () => true };
}

/** How it stands with the keys of an issuer's server, for health and metrics. */
export interface KeysReport {
  readonly issuer: string;
  /**
   * `unread`: nobody has needed them yet. `fresh`: as they should be. `old`: their server is away, and the kept ones serve.
   * `none`: there are none to use, and no token of the issuer can be judged.
   */
  readonly state: "unread" | "fresh" | "old" | "none";
  /** Since the set in use was loaded. */
  readonly ageSeconds: number | undefined;
  /** Attempts so far, by outcome. */
  readonly loads: { readonly loaded: number; readonly failed: number };
}
