/**
 * Which of many policies an operation can match at all, found by what their patterns begin with, so that a request costs the same
 * with a thousand policies as with one. It only leaves out what cannot match: what it gives is asked as if it were all. Pure.
 */
import type { CompiledPolicy, Operation } from "./compiled-policy.ts";
import type { UriReading } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";
import { type Trait, targetText } from "./selectors.ts";

/** Up to so many policies are asked one after the other, which is cheaper than to look for those that could match. */
const FEW = 16;

/** What of a principal and an operation the patterns of a trait are held against: all that any of them could fit. */
const TEXTS: Readonly<
  Record<
    Trait,
    (principal: Principal, operation: Operation, uri: UriReading | undefined) => readonly string[]
  >
> = {
  target: (_, { target }, uri) => {
    if (target === undefined) return [];
    const names = target.kind === "resource" ? (uri?.texts ?? [target.name]) : [target.name];
    return names.map((name) => targetText(target.kind, name));
  },
  issuers: (principal) => (principal.anonymous ? [] : [principal.issuer]),
  subjects: (principal) => (principal.anonymous ? [] : [principal.subject]),
  clients: ({ client }) => (client === undefined ? [] : [client]),
  groups: ({ groups }) => groups,
  scopes: ({ scopes }) => scopes,
};

/** The places of policies by the patterns of one trait. */
interface Places {
  /** By patterns that are the whole text. */
  readonly whole: Map<string, number[]>;
  /** By what stands before the first wildcard of others. */
  readonly beginning: Map<string, number[]>;
  /** Of those beginnings. */
  readonly lengths: Set<number>;
}

/** Policies of one configuration, in the order of the file. */
export class PolicyIndex {
  readonly all: readonly CompiledPolicy[];
  /** Those that name nothing to find them by. */
  readonly #always: number[] = [];
  readonly #places = new Map<Trait, Places>();

  constructor(policies: readonly CompiledPolicy[]) {
    this.all = policies;
    if (policies.length <= FEW) return;
    const shared = countPatterns(policies);
    for (const [at, { patterns }] of policies.entries()) {
      // By what it shares with the fewest others.
      const crowd = (trait: Trait): number =>
        Math.max(0, ...(patterns.get(trait) ?? []).map((one) => shared.get(keyOf(trait, one)) ?? 0));
      const [trait] = [...patterns.keys()].sort((a, b) => crowd(a) - crowd(b));
      if (trait === undefined) this.#always.push(at);
      else for (const pattern of patterns.get(trait) ?? []) this.#put(trait, pattern, at);
    }
  }

  /** Every policy that can match, and few others, in the order of the file. Those left out do not match. */
  candidates(
    principal: Principal,
    operation: Operation,
    uri: UriReading | undefined,
  ): readonly CompiledPolicy[] {
    if (this.all.length <= FEW) return this.all;
    const found = new Set(this.#always);
    const add = (places: readonly number[] | undefined): void => {
      if (places !== undefined) for (const at of places) found.add(at);
    };
    for (const [trait, { whole, beginning, lengths }] of this.#places) {
      for (const text of TEXTS[trait](principal, operation, uri)) {
        add(whole.get(text));
        for (const length of lengths) if (length <= text.length) add(beginning.get(text.slice(0, length)));
      }
    }
    return [...found].sort((a, b) => a - b).flatMap((at) => this.all[at] ?? []);
  }

  #put(trait: Trait, pattern: string, at: number): void {
    const places = this.#places.get(trait) ?? { whole: new Map(), beginning: new Map(), lengths: new Set() };
    this.#places.set(trait, places);
    const start = beginningOf(pattern);
    const map = start === pattern ? places.whole : places.beginning;
    if (start !== pattern) places.lengths.add(start.length);
    const list = map.get(start) ?? [];
    map.set(start, list);
    list.push(at);
  }
}

/** What stands before the first wildcard (glob.ts). */
const beginningOf = (pattern: string): string => pattern.replace(/[*?].*$/s, "");

const keyOf = (trait: Trait, pattern: string): string => `${trait}:${beginningOf(pattern)}`;

/** How many policies have a pattern with the same beginning. */
function countPatterns(policies: readonly CompiledPolicy[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { patterns } of policies) {
    const own = [...patterns].flatMap(([trait, list]) => list.map((pattern) => keyOf(trait, pattern)));
    for (const key of new Set(own)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
