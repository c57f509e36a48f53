/** The limits of a route as its configuration has them. */
import type { Route } from "../config/schema.ts";
import type { CallerLimits } from "./allowance.ts";

const given = <T>(setting: T | "off"): T | undefined => (setting === "off" ? undefined : setting);

/** What is off has no bound. */
export function callerLimits({ limits: { perPrincipal } }: Route): CallerLimits {
  const { requests } = perPrincipal;
  const points = given(requests?.points ?? "off");
  return {
    requests: points === undefined || requests === undefined ? undefined : { points, per: requests.per },
    concurrent: given(perPrincipal.concurrent),
    streams: given(perPrincipal.streams),
    openRounds: given(perPrincipal.openRounds),
  };
}
