/**
 * Consent that holds for more calls. For each policy that asks it is kept on its own, so that it serves whichever of them ask next;
 * a call runs on it only where all of them have it. What cannot be read, or is not ours, is asked about again.
 */
import type { Sealing } from "../keyring.ts";
import { type ApprovePolicy, settingsOf } from "./approve-policy.ts";
import { openEntry, personOf, type RememberedEntry, sealEntry } from "./entry.ts";
import type { ApprovalCall } from "./question.ts";
import { expiryOf, type Place, type Shelf } from "./shelf.ts";
import { rememberedPlace, underAll } from "./tags.ts";

/** The chain of rounds in which somebody approved: revocations go by it. */
export interface ApprovedIn {
  readonly chain: string;
  /** Unix seconds. */
  readonly chainIat: number;
  /** Of the state that brought the answer. */
  readonly jti: string;
  /** Unix seconds: when that state expires. */
  readonly exp: number;
}

/** An approval that still holds: the oldest, where several policies have one each. */
export interface Recalled {
  readonly id: string;
  readonly chain: string;
  /** All the chains that it rests on: none may have been revoked. */
  readonly chains: readonly Pick<ApprovedIn, "chain" | "chainIat">[];
  /** Milliseconds, by the store's clock. */
  readonly approvedAt: number;
  readonly until: number;
  readonly policies: readonly string[];
}

/** What lies at a place, opened. */
export interface Opened<T> {
  readonly place: Place;
  readonly text: string;
  readonly entry: T;
}

/** The consent to a call, if every policy has one; of policies that remember. @throws ShelfUnavailable */
export async function recall(
  shelf: Shelf,
  sealing: Sealing,
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
): Promise<Recalled | undefined> {
  const { ring } = sealing.keys;
  const seconds = sealing.now() / 1_000;
  const places = policies.map((policy) =>
    underAll(ring, seconds, (key) => rememberedPlace(key, policy, call)).filter(
      (place) => place !== undefined,
    ),
  );
  const { now, found } = await shelf.read("remembered", places.flat());
  const entries: Opened<RememberedEntry>[] = [];
  for (const [index, policy] of policies.entries()) {
    const own = found.filter(({ place }) => places[index]?.some((one) => sameName(one, place)));
    const opened = own.flatMap(({ place, text }) => {
      const entry = openEntry(sealing, "remembered", place, text);
      return entry?.policy === policy.id && now < expiryOf(text) ? [{ place, text, entry }] : [];
    });
    const [best] = opened.sort((a, b) => expiryOf(b.text) - expiryOf(a.text));
    if (best === undefined) return undefined;
    entries.push(best);
  }
  const oldest = entries.reduce((a, b) => (b.entry.approvedAt < a.entry.approvedAt ? b : a));
  return {
    id: oldest.entry.id,
    chain: oldest.entry.chain,
    chains: entries.map(({ entry: { chain, chainIat } }) => ({ chain, chainIat })),
    approvedAt: oldest.entry.approvedAt,
    until: Math.min(...entries.map(({ text }) => expiryOf(text))),
    policies: policies.map(({ id }) => id),
  };
}

/**
 * Keeps the consent to a call, of policies that all remember it.
 * @returns until when it holds (milliseconds, by the store's clock); undefined where it was not kept
 * @throws ShelfUnavailable
 */
export async function remember(
  shelf: Shelf,
  sealing: Sealing,
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
  { chain, chainIat }: ApprovedIn,
): Promise<number | undefined> {
  const key = sealing.keys.ring.sealer(sealing.now() / 1_000);
  let first: number | undefined;
  for (const policy of policies) {
    const place = rememberedPlace(key, policy, call);
    const { remember: how } = settingsOf(policy);
    if (place === undefined || how === undefined) return undefined;
    const { now, found } = await shelf.read("remembered", [place]);
    const until = now + how.for;
    const { route, target, principal } = call;
    const entry: RememberedEntry = {
      id: sealing.random(16).toString("base64url"),
      route,
      kind: target.kind,
      target: target.name,
      principal: personOf(principal),
      policy: policy.id,
      arguments: how.arguments,
      chain,
      chainIat,
      approvedAt: now,
    };
    const text = sealEntry(sealing, "remembered", place, entry, until);
    if (text === undefined) return undefined;
    // Whoever changed it meanwhile has remembered the same.
    const reply = await shelf.change("remembered", { place, instead: found[0]?.text ?? "", text });
    if (reply === "full") return undefined;
    first = Math.min(first ?? until, until);
  }
  return first;
}

/** One that is remembered, with its expiry. */
export interface Held extends Opened<RememberedEntry> {
  /** Milliseconds, by the store's clock. */
  readonly until: number;
}

/** All that are remembered, oldest first. @throws ShelfUnavailable */
export async function listHeld(shelf: Shelf, sealing: Sealing): Promise<Held[]> {
  const { found } = await shelf.all("remembered");
  return found
    .flatMap(({ place, text }) => {
      const entry = openEntry(sealing, "remembered", place, text);
      return entry === undefined ? [] : [{ place, text, entry, until: expiryOf(text) }];
    })
    .sort((a, b) => a.entry.approvedAt - b.entry.approvedAt);
}

const sameName = (a: Place, b: Place): boolean => a.owner === b.owner && a.about === b.about;
