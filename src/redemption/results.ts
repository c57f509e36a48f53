/**
 * Where answers to redeemed retries are kept for a while, so that an owner who lost one can have it again (`redemption.results`).
 * Best effort on purpose: no promise of single use rests on it. The texts are sealed by the caller.
 */

/** The part of a state that a result is kept under. Trusted: it came out of the AEAD. */
export interface ResultKey {
  readonly jti: string;
}

/** Keeps sealed results. */
export interface ResultStore {
  /** Keeps a text for so many milliseconds, unless one is kept already. Never throws; tells whether it is kept. */
  keep(key: ResultKey, text: string, ms: number): Promise<boolean>;
  /** The text that is kept; undefined if there is none or the store cannot be asked in time. Never throws. */
  recall(key: ResultKey): Promise<string | undefined>;
  /** Waits for what is being kept, and ends. */
  close(): Promise<void>;
}

/** All texts of a memory store together, in characters; the oldest go first. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Results of a single process, gone with it. */
export function createMemoryResults(now: () => number, maxCharacters = MAX_CHARACTERS): ResultStore {
  const kept = new Map<string, { readonly text: string; readonly until: number }>();
  let characters = 0;
  const drop = (jti: string): void => {
    characters -= kept.get(jti)?.text.length ?? 0;
    kept.delete(jti);
  };
  return {
    async keep({ jti }, text, ms) {
      if (kept.has(jti) || text.length > maxCharacters) return false;
      kept.set(jti, { text, until: now() + ms });
      characters += text.length;
      for (const [oldest, { until }] of kept) {
        if (characters <= maxCharacters && until > now()) break;
        drop(oldest);
      }
      return kept.has(jti);
    },
    async recall({ jti }) {
      const found = kept.get(jti);
      if (found === undefined || found.until > now()) return found?.text;
      drop(jti);
      return undefined;
    },
    async close() {
      kept.clear();
      characters = 0;
    },
  };
}
