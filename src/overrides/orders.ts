/**
 * What an operator asks for, from the command line or the admin listener, and the entry that it becomes. Pure: id and times come
 * from the store, and so does the newest birth that was revoked so far.
 */
import * as z from "zod";
import { optional } from "../optional.ts";
import { MAX_LEEWAY_SECONDS } from "../redemption/store.ts";
import { MAX_TASK_SECONDS } from "../tasks/task-id.ts";
import {
  CAPABILITIES,
  type Entry,
  type Grant,
  type Removal,
  type Revocation,
  type RevocationTarget,
  revocationTarget,
  said,
  selectors,
} from "./entry.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a grant or a denial may hold, and does unless told; what is to last belongs into the configuration. Milliseconds. */
export const TTL_MS = { least: 1_000, most: 90 * DAY_MS, allow: 60 * MINUTE_MS, deny: 7 * DAY_MS } as const;

const revocationOrder = z.strictObject({ ...said, target: revocationTarget });
const grantOrder = z
  .strictObject({
    ...said,
    effect: z.enum(["allow", "deny"]),
    ...selectors,
    ttl: z.int().min(TTL_MS.least).max(TTL_MS.most).exactOptional(),
  })
  .refine(({ effect, capability }) => effect === "deny" || capability !== undefined, { path: ["capability"] })
  .refine((order) => Object.keys(selectors).some((name) => Object.hasOwn(order, name)), { path: ["tool"] });

/** A revocation that is asked for. */
export type RevocationOrder = z.output<typeof revocationOrder>;
/** A grant or a denial that is asked for; `ttl` in milliseconds. */
export type GrantOrder = z.output<typeof grantOrder>;

/** An order that cannot be carried out. The message is one line for the operator and quotes nothing. */
export class OrderRefused extends Error {
  override readonly name = "OrderRefused";
}

const ALLOWED: Readonly<Record<string, string>> = {
  target:
    "revoked is exactly one of a chain (22 characters, as in audit records), a principal (issuer and subject, and client and tenant where they are to count) and a route (its path)",
  principal: "a principal is issuer and subject, and client and tenant where they are to count",
  route: "a route is its path, such as /mcp",
  group: "a group is 1 to 512 printable characters",
  tool: "at least one of principal, group, route, tool and capability is needed; a tool is a pattern of 1 to 256 printable characters",
  capability: `capability is a list of ${CAPABILITIES.join(", ")}, and is needed to allow`,
  effect: "effect is allow or deny",
  ttl: "ttl is from 1s to 2160h",
  by: "by is 1 to 64 printable characters",
  reason: "reason is 1 to 256 printable characters",
};

function ordered<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ code, path }) => {
    const known = code === "unrecognized_keys" && path.length === 0 ? undefined : ALLOWED[String(path[0])];
    return known ?? "there is a member that is not known, or no object at all";
  });
  throw new OrderRefused([...new Set(lines)].join("; "));
}

/** Reads an order. Trusts nothing. @throws OrderRefused with all that is wrong */
export const parseRevocationOrder = (value: unknown): RevocationOrder => ordered(revocationOrder, value);

/** Reads an order. Trusts nothing. @throws OrderRefused with all that is wrong */
export const parseGrantOrder = (value: unknown): GrantOrder => ordered(grantOrder, value);

/**
 * How far ahead of the clock a `bornBefore` may be: the largest skew that can be set, two seconds, and what revocations in quick
 * succession add. Nobody has to sign a revocation for it to count, so what is not signed gets less far than what is: it must not
 * leave operators without a later birth. No new chain is dated further.
 */
export const AHEAD_SECONDS = { unsigned: 450, most: 900 } as const;

/** What the store knows when an entry is made. */
export interface Making {
  readonly id: string;
  /** Milliseconds, by the store's clock. */
  readonly now: number;
}

/** How far clocks differ, and how long states live, under the configuration in force. */
export interface Lifetimes {
  /** `envelope.clockSkew`, in whole seconds, rounded up. */
  readonly skewSeconds: number;
  /** From the birth of a chain until none of its states, and no task of it, opens any more; in whole seconds. */
  readonly chainSeconds: number;
}

/**
 * A revocation that takes effect now. It hits every chain that a gateway can have begun until the second that follows `now`, by a
 * clock that is ahead by the skew; and by one second more than any before it that has dated chains of this target, since chains
 * that were begun in spite of that one have its `bornBefore` for their birth. docs/redemption.md has the argument.
 * @param newest see `newestBirth`
 */
export function makeRevocation(
  { target, by, reason }: RevocationOrder,
  { id, now }: Making,
  newest: number,
  { skewSeconds, chainSeconds }: Lifetimes,
): Revocation {
  const bornBefore = Math.max(Math.floor(now / 1000) + skewSeconds + 2, newest + 1);
  const until = (bornBefore + chainSeconds) * 1000;
  return { kind: "revocation", id, setAt: now, until, by, ...optional("reason", reason), target, bornBefore };
}

/** A grant or a denial that holds from now on, for its `ttl`. */
export function makeGrant({ by, reason, ttl, ...order }: GrantOrder, { id, now }: Making): Grant {
  const until = now + (ttl ?? TTL_MS[order.effect]);
  return { kind: "grant", id, setAt: now, until, by, ...optional("reason", reason), ...order };
}

/** The removal of an entry. */
export function makeRemoval(entry: Entry, by: string, now: number): Removal {
  const { id, until } = entry;
  const revoked = revokedBy(entry);
  return { kind: "removal", id, setAt: now, until, by, ...(revoked === undefined ? {} : { revoked }) };
}

/** A revocation by which chains may have been dated. */
export type Dated = Pick<Revocation, "target" | "bornBefore">;

/** What an entry is, or was before it was taken back, if that was a revocation. */
export function revokedBy(entry: Entry): Dated | undefined {
  if (entry.kind === "grant") return undefined;
  if (entry.kind === "removal") return entry.revoked;
  return { target: entry.target, bornBefore: entry.bornBefore };
}

/**
 * The latest birth that a chain can have got which a revocation of `target` has to hit: the largest `bornBefore` of revocations
 * that date such chains; 0 for none. Revocations of one chain date nobody's, those of two subjects or two routes not each other's,
 * and what is too far ahead dates none.
 * @param now milliseconds
 */
export function newestBirth(dated: Iterable<Dated>, target: RevocationTarget, now: number): number {
  let newest = 0;
  for (const { target: other, bornBefore } of dated)
    if (dates(bornBefore, now) && meet(target, other)) newest = Math.max(newest, bornBefore);
  return newest;
}

/** Whether new chains get this `bornBefore` for their birth. One that is further ahead hits them, rather than that they never age. */
export const dates = (bornBefore: number, now: number): boolean =>
  bornBefore <= Math.floor(now / 1000) + AHEAD_SECONDS.most;

function meet(target: RevocationTarget, other: RevocationTarget): boolean {
  if ("chain" in other) return false;
  if ("chain" in target) return true;
  if ("route" in target && "route" in other) return target.route === other.route;
  if (!("principal" in target && "principal" in other)) return true;
  const [a, b] = [target.principal, other.principal];
  return a.issuer === b.issuer && a.subject === b.subject;
}

/** The lifetimes of a configuration: the longest of all routes. Ids of tasks live by far the longest, then approvals that are remembered. */
export function lifetimesOf(config: {
  readonly envelope: { readonly ttl: number; readonly clockSkew: number };
  readonly routes: readonly {
    readonly roundTrip: { readonly maxAge: number };
    readonly tasks?: "refuse" | "pass";
  }[];
  readonly authorization?: {
    readonly policies: readonly {
      readonly approval?: { readonly remember?: { readonly for: number } };
    }[];
  };
}): Lifetimes {
  const { ttl, clockSkew } = config.envelope;
  const skewSeconds = Math.ceil(clockSkew / 1000);
  const longest = Math.max(
    ttl,
    ...config.routes.map(({ roundTrip, tasks }) =>
      tasks === "pass" ? Math.max(roundTrip.maxAge, MAX_TASK_SECONDS * 1_000) : roundTrip.maxAge,
    ),
  );
  const policies = config.authorization?.policies ?? [];
  // What is remembered is dated by the chain it was given in.
  const remembered = Math.max(0, ...policies.map(({ approval }) => approval?.remember?.for ?? 0));
  const chainSeconds = Math.ceil((longest + remembered) / 1000) + skewSeconds + MAX_LEEWAY_SECONDS;
  return { skewSeconds, chainSeconds };
}
