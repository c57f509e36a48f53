/** Limits that cannot do what they say. Part of `cross-checks.ts`, pure like it. */
import { isLoopback, parseUrl } from "./addresses.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";

interface Written {
  readonly requests?: { readonly points: number | "off"; readonly per: number };
}

/** Redis counts windows in whole seconds. */
function checkWindow({ requests }: Written, path: readonly Step[], report: Report): void {
  if (requests === undefined || requests.per % 1_000 === 0) return;
  report.problem(
    [...path, "perPrincipal", "requests", "per"],
    "is no whole number of seconds, allowed such as 30s, 1m or 1h",
  );
}

const isSet = ({ requests }: Written): boolean => requests !== undefined && requests.points !== "off";

/** All checks of limits. */
export function checkLimits({ limits, routes, authentication, server }: Sound, report: Report): void {
  if (limits !== undefined) checkWindow(limits.perPrincipal, ["limits"], report);
  for (const [index, route] of (routes ?? []).entries())
    checkWindow(route.limits.perPrincipal, ["routes", index, "limits"], report);
  const counted =
    (limits !== undefined && isSet(limits.perPrincipal)) ||
    (routes ?? []).some((route) => isSet(route.limits.perPrincipal));
  if (!counted || authentication?.mode !== "anonymous" || report.lost(["authentication", "mode"])) return;
  if (server === undefined || report.lost(["server"]) || server.trustedProxies.length > 0) return;
  const url = server.publicUrl === undefined ? undefined : parseUrl(server.publicUrl);
  if (!isLoopback(server.listen.host) || url === undefined || isLoopback(url.hostname)) return;
  report.warning(
    ["limits"],
    "count callers without a token by address, while a proxy on this machine stands in front and server.trustedProxies is empty: all of them are one caller",
  );
}
