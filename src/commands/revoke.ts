/** `sealgate revoke`: makes the states of chains useless that were begun so far, lists revocations, takes one back. */
import { EXIT } from "./exit.ts";
import { type Access, checkOrder, type Given, whoami, withAccess } from "./override-access.ts";
import { printList, printOne } from "./override-lines.ts";
import { UsageError } from "./usage-error.ts";

/** The principal that options name; the issuer may be left out where there is one only. */
export function principalOf(given: Given, { issuers }: Access): Record<string, string> | undefined {
  const subject = given.get("principal");
  const more = ["issuer", "client", "tenant"].filter((name) => given.has(name));
  if (subject === undefined) {
    if (more.length > 0) throw new UsageError(`--${more[0]} goes with --principal`);
    return undefined;
  }
  const issuer = given.get("issuer") ?? (issuers.length === 1 ? issuers[0] : undefined);
  if (issuer === undefined)
    throw new UsageError("--principal needs --issuer, since there is not exactly one issuer");
  if (issuers.length > 0 && !issuers.includes(issuer))
    process.stderr.write("warning: --issuer is no issuer of authentication.issuers\n");
  const rest = ["client", "tenant"].flatMap((name) => {
    const value = given.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { issuer, subject, ...Object.fromEntries(rest) };
}

/** Warns of a path that no route has. */
export function routeOf(given: Given, { routes }: Access): string | undefined {
  const route = given.get("route");
  if (route !== undefined && routes !== undefined && !routes.includes(route))
    process.stderr.write("warning: --route is the path of no route of the configuration\n");
  return route;
}

/**
 * Revokes, lists or removes, by what is given.
 * @returns the exit code
 */
export async function revoke(given: Given): Promise<number> {
  const chosen = ["chain", "principal", "route", "list", "remove"].filter((name) => given.has(name));
  if (chosen.length !== 1) {
    throw new UsageError(
      `exactly one of --chain, --principal, --route, --list and --remove is needed, found ${chosen.length === 0 ? "none" : chosen.map((name) => `--${name}`).join(" and ")}`,
    );
  }
  const json = given.has("json");
  return await withAccess(given, async (access) => {
    if (given.has("list")) {
      printList(await access.list("revocation"), json, "nothing is revoked");
      return EXIT.ok[0];
    }
    const id = given.get("remove");
    if (id !== undefined) return await remove(access, "revocation", id, given);
    const principal = principalOf(given, access);
    const route = routeOf(given, access);
    const chain = given.get("chain");
    const reason = given.get("reason");
    const order = {
      by: whoami(given),
      ...(reason === undefined ? {} : { reason }),
      target: chain !== undefined ? { chain } : principal !== undefined ? { principal } : { route },
    };
    printOne(await access.set(checkOrder(order)), json, "revoked");
    return EXIT.ok[0];
  });
}

/** Takes one entry back. @returns the exit code */
export async function remove(
  access: Access,
  kind: "revocation" | "grant",
  id: string,
  given: Given,
): Promise<number> {
  const entry = await access.remove(kind, id, whoami(given));
  if (entry === undefined) {
    process.stderr.write("sealgate: there is no entry with this id in force\n");
    return EXIT.data[0];
  }
  printOne(entry, given.has("json"), "removed");
  return EXIT.ok[0];
}
