/**
 * What lies on the shelves: approvals that are remembered, and calls that wait for others. Sealed under the ring, for its place and
 * until its expiry: whoever can write to the store, and has no key, can neither make one up, nor read one, nor move it, nor make it
 * last.
 */
import * as z from "zod";
import { EnvelopeError, NONCE_BYTES, parseToken, printParts } from "../envelope/format.ts";
import type { Sealing } from "../keyring.ts";
import type { Principal } from "../principal/principal.ts";
import { expiryOf, MAX_TEXT_BYTES, nameOf, type Place, type ShelfName } from "./shelf.ts";

const PREFIX = "sga1.";
const LABEL = "sealgate/approvals/1";
/** Votes for all policies together. Who wants more of them than that never has enough. */
export const MOST_VOTES = 16;
/** Groups of a requester that are kept: for the message that others are shown. */
const MOST_GROUPS = 16;

const text = (max: number) => z.string().max(max);
const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const milliseconds = z.int().min(0).max(8_640_000_000_000_000);
const seconds = z.int().min(0).max(253_402_300_799);
const person = z.strictObject({
  issuer: text(2_048),
  subject: text(2_048),
  client: text(2_048).exactOptional(),
  tenant: text(2_048).exactOptional(),
});
const requester = person.extend({ groups: z.array(text(512)).max(MOST_GROUPS) });
const approver = z.union([person, z.strictObject({ operator: text(64) })]);
/** What an operation is, for people. */
const operation = {
  route: text(512),
  kind: z.enum(["tool", "prompt", "resource"]),
  target: text(8_192),
};

const remembered = z.strictObject({
  id,
  ...operation,
  principal: person,
  policy: text(64),
  arguments: z.enum(["same", "any"]),
  chain: id,
  chainIat: seconds,
  approvedAt: milliseconds,
});

const waiting = z.strictObject({
  id,
  ...operation,
  requester,
  /** What people tell it by, and what they are shown. */
  code: text(64),
  message: text(8_192),
  /** Ids of the policies that ask. */
  policies: z.array(text(64)).min(1).max(64),
  /** How many people each of them wants that wants others. */
  needs: z.record(z.string(), z.int().min(2).max(5)),
  /** The chain in which the requester has approved it last, and when that began. */
  chain: id,
  chainIat: seconds,
  askedAt: milliseconds,
  /** Until when others can approve. */
  deadline: milliseconds,
  votes: z
    .array(
      z.strictObject({
        by: approver,
        at: milliseconds,
        /** Ids of the policies that take this one's word. */
        for: z.array(text(64)).max(64),
        /** Of a word that was said in a call: the chain of that call, and when it began. Revocations go by it. */
        chain: id.exactOptional(),
        chainIat: seconds.exactOptional(),
      }),
    )
    .max(MOST_VOTES),
  denied: z.strictObject({ by: approver, at: milliseconds }).exactOptional(),
  /** Of the one state that runs on these votes. */
  spentBy: id.exactOptional(),
});

/** An approval that is remembered, for one policy. */
export type RememberedEntry = z.output<typeof remembered>;
/** A call that waits. */
export type WaitingEntry = z.output<typeof waiting>;
/** Who has approved. */
export type ApproverEntry = z.output<typeof approver>;

interface Entries {
  readonly remembered: RememberedEntry;
  readonly waiting: WaitingEntry;
}

const SHAPES = { remembered, waiting } as const;

/** @param until milliseconds, by the store's clock. Undefined for what nobody could read back, or would be too large */
export function sealEntry<N extends ShelfName>(
  { keys, audience, now, random }: Sealing,
  name: N,
  place: Place,
  entry: Entries[N],
  until: number,
): string | undefined {
  if (!SHAPES[name].safeParse(entry).success) return undefined;
  const key = keys.ring.sealer(now() / 1_000);
  const plain = Buffer.from(JSON.stringify([LABEL, name, nameOf(place), until, entry]), "utf8");
  const nonce = random(NONCE_BYTES);
  const sealed = printParts(PREFIX, {
    keyId: key.keyId,
    nonce,
    body: key.sealTask(nonce, plain, audience, PREFIX),
  });
  const printed = `${until} ${sealed}`;
  return Buffer.byteLength(printed) > MAX_TEXT_BYTES ? undefined : printed;
}

/** Opens what lies at a place; undefined unless a key of the ring has sealed it for that place and until that expiry. */
export function openEntry<N extends ShelfName>(
  { keys, audience }: Pick<Sealing, "keys" | "audience">,
  name: N,
  place: Place,
  printed: string,
): Entries[N] | undefined {
  const until = expiryOf(printed);
  const plain = openText(keys.ring, audience, printed.slice(printed.indexOf(" ") + 1));
  if (!Array.isArray(plain) || plain.length !== 5) return undefined;
  const [label, shelf, at, expiry, entry]: unknown[] = plain;
  if (label !== LABEL || shelf !== name || at !== nameOf(place) || expiry !== until) return undefined;
  const read = SHAPES[name].safeParse(entry);
  return read.success ? (read.data as Entries[N]) : undefined;
}

function openText(ring: Sealing["keys"]["ring"], audience: string, token: string): unknown {
  try {
    const { keyId, nonce, body } = parseToken(token, MAX_TEXT_BYTES, PREFIX);
    const plain = ring.find(keyId)?.openTask(nonce, body, audience, PREFIX);
    return plain === undefined ? undefined : (JSON.parse(plain.toString("utf8")) as unknown);
  } catch (error) {
    if (error instanceof EnvelopeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A caller as an entry has them. */
export function personOf({ issuer, subject, client, tenant }: Principal): z.output<typeof person> {
  return {
    issuer,
    subject,
    ...(client === undefined ? {} : { client }),
    ...(tenant === undefined ? {} : { tenant }),
  };
}

/** The requester as others are shown them; of many groups the first. */
export const requesterOf = (principal: Principal): WaitingEntry["requester"] => ({
  ...personOf(principal),
  groups: principal.groups.filter((group) => group.length <= 512).slice(0, MOST_GROUPS),
});

/** The same as a principal: for the words of a question, and for nothing that is decided. */
export const shownPrincipal = (entry: WaitingEntry["requester"]): Principal => ({
  ...entry,
  anonymous: false,
  scopes: [],
});

/** Whether it is the same person: by another client, too. */
export const isSame = (
  a: { readonly issuer: string; readonly subject: string },
  b: { readonly issuer: string; readonly subject: string },
): boolean => a.issuer === b.issuer && a.subject === b.subject;
