/** The open chains that one process knows of: so many at most, each until it expires. They end nearly in the order in which they came. */
import { isAddress } from "./caller.ts";

/** Bounds on chains, by kind of caller: who has many addresses takes no room from people with a token. */
export interface MostChains {
  readonly addresses: number;
  readonly people: number;
}

const MOST: MostChains = { addresses: 100_000, people: 500_000 };

type Kind = keyof MostChains;

/** See the file's header. */
export class KnownChains {
  readonly #now: () => number;
  readonly #most: MostChains;
  /** Caller and chain → expiry (Unix seconds). */
  readonly #chains: Record<Kind, Map<string, number>> = { addresses: new Map(), people: new Map() };
  /** How many of each caller. */
  readonly #counts = new Map<string, number>();

  /**
   * @param now milliseconds since the epoch
   * @param most for tests
   */
  constructor(now: () => number, most = MOST) {
    this.#now = now;
    this.#most = most;
  }

  /** A chain is open until `exp`; one that there is no room for is not kept. */
  keep(caller: string, chain: string, exp: number): void {
    this.#forgetExpired();
    const kind = kindOf(caller);
    const chains = this.#chains[kind];
    const name = nameOf(caller, chain);
    if (chains.has(name)) chains.delete(name);
    else if (chains.size >= this.#most[kind]) return;
    else this.#counts.set(caller, (this.#counts.get(caller) ?? 0) + 1);
    chains.set(name, exp);
  }

  /** A chain is not open any more. */
  drop(caller: string, chain: string): void {
    this.#forget(kindOf(caller), nameOf(caller, chain));
  }

  /** How many are open. Where there is no room for one more, more than any limit: what cannot be counted is too much. */
  count(caller: string): number {
    this.#forgetExpired();
    const kind = kindOf(caller);
    return this.#chains[kind].size >= this.#most[kind]
      ? Number.POSITIVE_INFINITY
      : (this.#counts.get(caller) ?? 0);
  }

  #forgetExpired(): void {
    for (const kind of ["addresses", "people"] as const) {
      for (const [name, exp] of this.#chains[kind]) {
        if (exp * 1000 > this.#now()) break;
        this.#forget(kind, name);
      }
    }
  }

  #forget(kind: Kind, name: string): void {
    if (!this.#chains[kind].delete(name)) return;
    const caller = name.slice(0, name.indexOf(" "));
    const left = (this.#counts.get(caller) ?? 0) - 1;
    if (left > 0) this.#counts.set(caller, left);
    else this.#counts.delete(caller);
  }
}

const kindOf = (caller: string): Kind => (isAddress(caller) ? "addresses" : "people");

/** Neither part holds a blank. */
const nameOf = (caller: string, chain: string): string => `${caller} ${chain}`;
