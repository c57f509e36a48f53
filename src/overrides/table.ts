/**
 * The entries in force, ready to be asked: is this chain revoked, what may be asked of this caller? Immutable and pure; times
 * come from outside. Asked for each request, so that 10,000 entries cost no more than few, but for patterns of tools.
 */
import type { Ask } from "../config/schema.ts";
import { compileGlob, type Glob } from "../glob.ts";
import type { Principal } from "../principal/principal.ts";
import { CAPABILITIES, type Entry, type Grant, type PrincipalSelector, type Revocation } from "./entry.ts";
import { dates } from "./orders.ts";

/** What of a sealed state a revocation is compared with. */
export interface Chain {
  readonly chain: string;
  /** Unix seconds. */
  readonly chainIat: number;
}

/** Whose call it is, and of what. */
export interface Place {
  readonly principal: Principal;
  /** The route's path. */
  readonly route: string;
  /** The name of the tool that is called, if one is. */
  readonly tool: string | undefined;
}

interface Rule {
  readonly entry: Grant;
  readonly fitsTool: Glob | undefined;
}

/** See the file's header. */
export class Table {
  readonly #revocations = new Map<string, Revocation[]>();
  readonly #grants = new Map<string, Rule[]>();

  /** Takes entries in any order, at most one for each id. Removals do nothing by themselves. */
  constructor(entries: Iterable<Entry> = []) {
    for (const entry of entries) {
      if (entry.kind === "revocation") add(this.#revocations, revocationKey(entry), entry);
      if (entry.kind === "grant") {
        const fitsTool = entry.tool === undefined ? undefined : compileGlob(entry.tool);
        add(this.#grants, grantKey(entry), { entry, fitsTool });
      }
    }
    Object.freeze(this);
  }

  /**
   * Whether a chain may go no further.
   * @param principal whose request brings the state; binding has made sure that the state is this principal's
   * @param now milliseconds, by the clock that the entries were set by
   */
  isRevoked(chain: Chain, { principal, route }: Omit<Place, "tool">, now: number): boolean {
    if (this.#revocations.size === 0) return false;
    const hits = [...this.#found(principal, route, now), ...this.#live(keyOf("chain", chain.chain), now)];
    return hits.some(({ bornBefore }) => chain.chainIat < bornBefore);
  }

  /**
   * The earliest birth (unix seconds) that no revocation known so far hits; 0 where none is for this caller and route. One that
   * is further ahead than any that is set counts for nothing here: it hits new chains too.
   */
  firstBirth({ principal, route }: Omit<Place, "tool">, now: number): number {
    if (this.#revocations.size === 0) return 0;
    return this.#found(principal, route, now).reduce(
      (latest, { bornBefore }) => (dates(bornBefore, now) ? Math.max(latest, bornBefore) : latest),
      0,
    );
  }

  /**
   * What may be asked: what policy allows and what is granted, without what is denied.
   * @param allowed by policy
   * @param now for denials, which never lapse
   * @param grantsNow for grants; infinite while they have lapsed
   */
  asks(allowed: ReadonlySet<Ask>, place: Place, now: number, grantsNow: number): ReadonlySet<Ask> {
    if (this.#grants.size === 0) return allowed;
    const { principal, route } = place;
    const keys = [principalKey(principal), ...principal.groups.map((group) => keyOf("group", group))];
    const granted = new Set(allowed);
    const denied = new Set<Ask>();
    for (const key of new Set([...keys, keyOf("route", route), keyOf("any", "")])) {
      for (const { entry, fitsTool } of this.#grants.get(key) ?? []) {
        const time = entry.effect === "deny" ? now : grantsNow;
        if (!(time < entry.until) || !fits(entry, fitsTool, place)) continue;
        for (const ask of entry.capability ?? CAPABILITIES) {
          if (entry.effect === "deny") denied.add(ask);
          else granted.add(ask);
        }
      }
    }
    for (const ask of denied) granted.delete(ask);
    return granted;
  }

  #found(principal: Principal, route: string, now: number): Revocation[] {
    return [
      ...this.#live(keyOf("route", route), now),
      ...this.#live(principalKey(principal), now).filter(
        ({ target }) => "principal" in target && isOf(target.principal, principal),
      ),
    ];
  }

  #live(key: string, now: number): Revocation[] {
    return (this.#revocations.get(key) ?? []).filter(({ until }) => now < until);
  }
}

function add<T>(index: Map<string, T[]>, key: string, value: T): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [value]);
  else list.push(value);
}

const keyOf = (kind: string, ...parts: string[]): string => JSON.stringify([kind, ...parts]);
const principalKey = ({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string =>
  keyOf("principal", issuer, subject);

function revocationKey({ target }: Revocation): string {
  if ("chain" in target) return keyOf("chain", target.chain);
  return "route" in target ? keyOf("route", target.route) : principalKey(target.principal);
}

/** Under which of its selectors a grant is found: the one that fits the fewest. */
function grantKey({ principal, group, route }: Grant): string {
  if (principal !== undefined) return principalKey(principal);
  if (group !== undefined) return keyOf("group", group);
  return route === undefined ? keyOf("any", "") : keyOf("route", route);
}

/** An anonymous caller is nobody's. */
function isOf(wanted: PrincipalSelector, principal: Principal): boolean {
  return (
    !principal.anonymous &&
    wanted.issuer === principal.issuer &&
    wanted.subject === principal.subject &&
    (wanted.client === undefined || wanted.client === principal.client) &&
    (wanted.tenant === undefined || wanted.tenant === principal.tenant)
  );
}

function fits(entry: Grant, fitsTool: Glob | undefined, { principal, route, tool }: Place): boolean {
  return (
    (entry.principal === undefined || isOf(entry.principal, principal)) &&
    (entry.group === undefined || principal.groups.includes(entry.group)) &&
    (entry.route === undefined || entry.route === route) &&
    (fitsTool === undefined || (tool !== undefined && fitsTool(tool)))
  );
}
