/** Calls that wait and approvals that are remembered, for operators: JSON with readable times. Texts in it are callers' own. */
import * as z from "zod";
import { MOST_VOTES, type WaitingEntry } from "./entry.ts";
import type { Held } from "./remembering.ts";
import type { Decided } from "./standing.ts";
import { lackOf } from "./tally.ts";

/** Of either that a list shows at most. */
export const MOST_SHOWN = 10_000;

const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const instant = z.string().regex(/^[-+\d]{10,13}T[\d:.]{12}Z$/);
const text = z.string().max(16_384);
const person = z.object({
  issuer: text,
  subject: text,
  client: text.exactOptional(),
  tenant: text.exactOptional(),
});
const approver = z.union([person, z.object({ operator: text })]);

const shown = z.object({
  id,
  route: text,
  kind: z.enum(["tool", "prompt", "resource"]),
  target: text,
  /** Whose call it is. */
  principal: person,
  policies: z.array(text).max(64),
  /** The chain in which its caller has approved it. */
  chain: id,
  since: instant,
  until: instant,
  /** Of an approval that is remembered: whether it is for the same arguments only. */
  arguments: z.enum(["same", "any"]).exactOptional(),
  /** Of a call that waits: what people are shown, what they tell it by, and who has approved it so far. */
  code: text.exactOptional(),
  message: text.exactOptional(),
  needs: z.record(z.string(), z.int()).exactOptional(),
  approvedBy: z.array(approver).max(MOST_VOTES).exactOptional(),
  /** How many more people are needed. */
  missing: z.int().min(0).exactOptional(),
  /** Of a decision: whether it changed anything. */
  counts: z.boolean().exactOptional(),
});

/** Either, as JSON shows it. */
export type ShownApproval = z.output<typeof shown>;

/** Reads one that somebody shows, from wherever it comes; undefined unless it is one. Members of gateways to come are left out. */
export function parseShown(value: unknown): ShownApproval | undefined {
  const result = shown.safeParse(value);
  return result.success ? result.data : undefined;
}

const printed = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A call that waits, with the votes that count. */
export function presentWaiting(entry: WaitingEntry): ShownApproval {
  const { requester, askedAt, deadline, votes, route, kind, target, policies, chain, code, message, needs } =
    entry;
  const { groups: _, ...principal } = requester;
  return {
    ...{ id: entry.id, route, kind, target, principal, policies, chain },
    since: printed(askedAt),
    until: printed(deadline),
    ...{ code, message, needs },
    approvedBy: votes.map(({ by }) => by),
    missing: lackOf(entry, votes),
  };
}

/** One that an operator has said yes or no to. */
export const presentDecided = ({ entry, counts }: Decided): ShownApproval => ({
  ...presentWaiting(entry),
  counts,
});

/** An approval that is remembered. */
export function presentHeld({ entry, until }: Held): ShownApproval {
  const { id: ownId, route, kind, target, principal, policy, chain, approvedAt } = entry;
  return {
    ...{ id: ownId, route, kind, target, principal, policies: [policy], chain },
    since: printed(approvedAt),
    until: printed(until),
    arguments: entry.arguments,
  };
}
