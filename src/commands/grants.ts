/** `sealgate grants`: what servers may ask of clients, on top of the configuration and for a time. */
import { parseDuration } from "../config/units.ts";
import { EXIT } from "./exit.ts";
import { checkOrder, type Given, whoami, withAccess } from "./override-access.ts";
import { printList, printOne } from "./override-lines.ts";
import { principalOf, remove, routeOf } from "./revoke.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Grants or denies.
 * @returns the exit code
 */
export async function grantsSet(effect: "allow" | "deny", given: Given): Promise<number> {
  const ttl = given.get("ttl");
  const milliseconds = ttl === undefined ? undefined : parseDuration(ttl);
  if (ttl !== undefined && milliseconds === undefined)
    throw new UsageError(
      "--ttl is not a duration with its unit, such as 30m or 48h; the units are ms, s, m and h",
    );
  return await withAccess(given, async (access) => {
    const members = {
      principal: principalOf(given, access),
      group: given.get("group"),
      route: routeOf(given, access),
      tool: given.get("tool"),
      capability: given
        .get("capability")
        ?.split(",")
        .map((name) => name.trim()),
      ttl: milliseconds,
      reason: given.get("reason"),
    };
    const present = Object.entries(members).filter(([, value]) => value !== undefined);
    const order = checkOrder({ by: whoami(given), effect, ...Object.fromEntries(present) });
    printOne(await access.set(order), given.has("json"), effect === "allow" ? "allowed" : "denied");
    return EXIT.ok[0];
  });
}

/** Lists grants and denials. @returns the exit code */
export async function grantsList(given: Given): Promise<number> {
  return await withAccess(given, async (access) => {
    printList(await access.list("grant"), given.has("json"), "nothing is granted or denied");
    return EXIT.ok[0];
  });
}

/** Takes a grant or a denial back. @returns the exit code */
export async function grantsRemove(given: Given): Promise<number> {
  return await withAccess(given, (access) => remove(access, "grant", given.get("ID") ?? "", given));
}
