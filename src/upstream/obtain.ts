/**
 * The last step before a state is redeemed: the credential for the upstream, so that one that cannot be had spends nothing.
 * Waits only where the credential is not at hand.
 */

import { Refusal } from "../errors.ts";
import type { Journey } from "../journey.ts";
import { parseAuthorization } from "../principal/bearer.ts";
import type { Credential } from "./credentials.ts";

/**
 * The credential of the route for this request's caller.
 * @throws Refusal, or rejects with one, as `CredentialSource.for`, and where the request is stopped while it waits
 */
export function obtain(journey: Journey): Credential | undefined | Promise<Credential> {
  const { credentials } = journey.route;
  if (credentials.kind === undefined) return undefined;
  journey.draft.credential = credentials.kind;
  const obtained = credentials.for({
    principal: journey.principal,
    accessToken: accessTokenOf(journey),
  });
  return obtained instanceof Promise ? unlessStopped(journey, obtained) : obtained;
}

/** The caller's token, where it is what this request was authenticated by. */
function accessTokenOf({ principal, headers, draft }: Journey): string | undefined {
  const by = draft.authenticatedBy;
  if (principal.anonymous || (by !== "jwt" && by !== "introspection")) return undefined;
  const authorization = parseAuthorization(headers.get("authorization"), true);
  return authorization.kind === "token" ? authorization.token : undefined;
}

/** Whoever is told to stop waits no longer; the credential is made all the same, for others who wait for it. */
async function unlessStopped(journey: Journey, obtaining: Promise<Credential>): Promise<Credential> {
  const { signal } = journey;
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(journey.stopped ?? new Refusal("cancelled", "client_left"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([obtaining, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
