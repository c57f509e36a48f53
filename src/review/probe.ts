/**
 * The effect probe of a review. It is always taken twice in a row: where the two differ, somebody else moves what it shows, and then
 * nothing that was ever concluded from it holds.
 */
import { type Finding, Inconclusive } from "./check.ts";
import type { Exchange } from "./exchange.ts";

/** One look: a text that is equal for equal effects, and the exchange that brought it. */
export interface Look {
  readonly said: string;
  readonly exchange: Exchange;
}

/** What one check sees of the probe. */
export interface ProbeWatch {
  /** @throws Inconclusive once the probe has changed by itself, in whatever check */
  take(): Promise<string>;
  /** All that this check has sent with it. */
  readonly exchanges: readonly Exchange[];
}

/** One for a whole review. */
export interface EffectProbe {
  watch(): ProbeWatch;
  /** Whether it was ever seen to change by itself. */
  isRestless(): boolean;
}

const RESTLESS = "the effect probe changes by itself, so it shows nothing; nobody else may use that account";

/** @param look sends the probe; what it throws passes */
export function createProbe(look: () => Promise<Look>): EffectProbe {
  let restless: readonly Exchange[] | undefined;
  return {
    watch() {
      const exchanges: Exchange[] = [];
      const one = async (): Promise<Look> => {
        const seen = await look();
        exchanges.push(seen.exchange);
        return seen;
      };
      return {
        exchanges,
        async take() {
          if (restless === undefined) {
            const [first, second] = [await one(), await one()];
            if (first.said === second.said) return second.said;
            restless = [first.exchange, second.exchange];
          }
          throw new Inconclusive(RESTLESS, restless);
        },
      };
    },
    isRestless: () => restless !== undefined,
  };
}

/** A finding with the looks right before and right after what it shows. */
export function withLooks(finding: Finding, looks: readonly Exchange[]): Finding {
  const byNumber = new Map(looks.map((look) => [look.number, look]));
  const all = new Map(finding.exchanges.map((exchange) => [exchange.number, exchange]));
  for (const { number } of finding.exchanges)
    for (const step of [-1, 1]) {
      let look = byNumber.get(number + step);
      for (let at = number + 2 * step; look !== undefined; at += step) {
        all.set(look.number, look);
        look = byNumber.get(at);
      }
    }
  return { ...finding, exchanges: [...all.values()].toSorted((a, b) => a.number - b.number) };
}

/** What a finding that rests on the probe is worth once that has changed by itself. */
export function unsettled(finding: Finding): Finding {
  if (finding.verdict === "not_applicable" || finding.verdict === "inconclusive") return finding;
  const words = `During the review the effect probe changed by itself, so this does not hold: ${finding.words}`;
  return { ...finding, verdict: "inconclusive", words };
}
