/**
 * The names under which approvals lie. Keyed, so that nobody who reads the store can guess by a name what a call was about; and found
 * under the name of any key of the ring, so that a rotation loses none.
 */
import type { KeyHandle, Keyring } from "../keyring.ts";
import { type Principal, principalDigest } from "../principal/principal.ts";
import { type ApprovePolicy, policyDigest, settingsOf } from "./approve-policy.ts";
import { type ApprovalCall, matterOf } from "./question.ts";
import type { Place } from "./shelf.ts";

const LABEL = "sealgate/approval-name/1";
const CODE_LABEL = "sealgate/approval-code/1";

const tag = (key: KeyHandle, ...parts: readonly string[]): string =>
  key.mac(Buffer.from(JSON.stringify([LABEL, ...parts]), "utf8")).toString("base64url", 0, 16);

/**
 * What people tell calls apart by: sixteen hexadecimal digits. Half as many would be alike for two of some 77,000 calls, which one
 * caller can make.
 */
export function codeOf(ring: Keyring, at: number, matter: string): string {
  const mac = ring.sealer(at).mac(Buffer.from(JSON.stringify([CODE_LABEL, matter]), "utf8"));
  return mac.toString("hex", 0, 8).toUpperCase();
}

/** Names under every key of the ring, that which seals at a time (unix seconds) first. */
export function underAll<T>(ring: Keyring, at: number, make: (key: KeyHandle) => T): readonly T[] {
  const sealer = ring.sealer(at);
  const others = ring
    .labels(at)
    .filter(({ seals }) => !seals)
    .flatMap(({ keyId }) => ring.find(Buffer.from(keyId, "hex")) ?? []);
  return [sealer, ...others].map(make);
}

const ownerTag = (key: KeyHandle, principal: Principal): string =>
  tag(key, "owner", principalDigest(principal));

/** Where consent to a call lies that one policy asks for; `undefined` where the policy remembers none. */
export function rememberedPlace(
  key: KeyHandle,
  policy: ApprovePolicy,
  call: ApprovalCall,
): Place | undefined {
  const { remember, always, quorum } = settingsOf(policy);
  if (remember === undefined || always || quorum !== undefined || call.principal.anonymous) return undefined;
  const { route, upstream, method, target, principal } = call;
  const what = [
    policyDigest(policy),
    principalDigest(principal),
    route,
    upstream,
    method,
    target.kind,
    target.name,
  ];
  // The matter of a call holds all of its parameters.
  const about = remember.arguments === "same" ? ["same", matterOf([policy], call)] : ["any"];
  return { owner: ownerTag(key, principal), about: tag(key, "remembered", ...what, ...about) };
}

/** What a waiting call is about. */
export const waitingAbout = (key: KeyHandle, matter: string): string => tag(key, "waiting", matter);

/** Where a call waits. */
export const waitingPlace = (key: KeyHandle, principal: Principal, matter: string): Place => ({
  owner: ownerTag(key, principal),
  about: waitingAbout(key, matter),
});
