/** The selectors of a policy that need more than a list of patterns: resources, by their spellings, and principals. Pure. */
import type { Policy } from "./config/schema.ts";
import { compileGlob, compileGlobs, isEverything } from "./glob.ts";
import { readPattern, type UriReading } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";

/** What policies are found by (policy-index.ts): each of the things that they can name by patterns. */
export type Trait = "target" | "issuers" | "subjects" | "clients" | "groups" | "scopes";

/** A target, or a pattern of targets, told apart by its kind. */
export const targetText = (kind: string, name: string): string => `${kind}:${name}`;

type PrincipalSelector = NonNullable<Policy["principal"]>;

/**
 * A deny holds for every spelling of what it names; an allow only for the one that the operator wrote, and only where no
 * reader takes it for another. A pattern for everything asks nothing of the spelling.
 */
export function compileResources(
  effect: "allow" | "deny",
  patterns: readonly string[],
): (name: string, uri: UriReading | undefined) => boolean {
  if (patterns.some(isEverything)) return () => true;
  const fits = compileGlobs(effect === "deny" ? patterns.flatMap(readPattern) : patterns);
  return (name, uri) => {
    if (effect === "deny") return (uri?.texts ?? [name]).some(fits);
    return uri?.canonical === true && fits(name);
  };
}

/**
 * All given kinds must match, within a kind any. What a principal does not have matches no pattern, not even `*`.
 * @returns the first kind that does not match
 */
export function compilePrincipal(
  selector: PrincipalSelector | undefined,
): (principal: Principal) => string | undefined {
  if (selector === undefined) return () => undefined;
  const one = (patterns: readonly string[], read: (principal: Principal) => string | undefined) => {
    const fits = compileGlobs(patterns);
    return (principal: Principal) => {
      const value = read(principal);
      return value !== undefined && fits(value);
    };
  };
  const some = (patterns: readonly string[], read: (principal: Principal) => readonly string[]) => {
    const globs = patterns.map(compileGlob);
    return (principal: Principal) => read(principal).some((value) => globs.some((glob) => glob(value)));
  };
  const tests: { readonly name: string; readonly fits: (principal: Principal) => boolean }[] = [];
  const add = (name: string, fits: (principal: Principal) => boolean): unknown =>
    tests.push({ name: `principal.${name}`, fits });
  const { issuers, subjects, clients, groups, scopes, anonymous } = selector;
  if (issuers !== undefined)
    add(
      "issuers",
      one(issuers, (p) => (p.anonymous ? undefined : p.issuer)),
    );
  if (subjects !== undefined)
    add(
      "subjects",
      one(subjects, (p) => (p.anonymous ? undefined : p.subject)),
    );
  if (clients !== undefined)
    add(
      "clients",
      one(clients, (p) => p.client),
    );
  if (groups !== undefined)
    add(
      "groups",
      some(groups, (p) => p.groups),
    );
  if (scopes !== undefined)
    add(
      "scopes",
      some(scopes, (p) => p.scopes),
    );
  if (anonymous !== undefined) add("anonymous", (p) => p.anonymous === anonymous);
  return (principal) => {
    for (const test of tests) if (!test.fits(principal)) return test.name;
    return undefined;
  };
}
