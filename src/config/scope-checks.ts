/**
 * Scopes that nobody can have, that include each other in a circle, or that are asked for nothing. Part of `cross-checks.ts`,
 * pure like it.
 */
import { compileGlob } from "../glob.ts";
import { isTaskMethod } from "../mcp/methods.ts";
import { tokenIssuers } from "./caller-issuers.ts";
import type { Step } from "./json-schema.ts";
import { METHOD_TARGETS } from "./known-methods.ts";
import { foreignSign } from "./pattern-signs.ts";
import { checkTargets, nearestMethod } from "./policy-checks.ts";
import type { Report, Sound } from "./report.ts";

/** What a client asks its issuer for, and no resource needs (MCP 2026-07-28, basic/authorization, refresh tokens). */
const OFFLINE = "offline_access";

/** All checks of `authorization.scopes`, `authorization.scopeIncludes` and of scopes elsewhere. */
export function checkScopes(sections: Sound, report: Report): void {
  const { authorization, authentication } = sections;
  for (const { requiredScopes, path } of authentication === undefined ? [] : tokenIssuers(authentication)) {
    checkOffline(requiredScopes, [...path, "requiredScopes"], report);
  }
  for (const [index, { metadata }] of (sections.routes ?? []).entries()) {
    checkMetadata(metadata, ["routes", index, "metadata"], sections, report);
  }
  if (authorization === undefined) return;
  for (const [index, entry] of (authorization.scopes ?? []).entries()) {
    const path = ["authorization", "scopes", index];
    checkOffline(entry.requires, [...path, "requires"], report);
    checkMethods(entry.methods ?? [], [...path, "methods"], report);
    checkTargets(entry, path, report);
  }
  const none = authorization.scopes === undefined && !report.lost(["authorization", "scopes"]);
  if (none && authorization.scopedLists !== undefined) {
    report.warning(["authorization", "scopedLists"], "changes nothing without authorization.scopes");
  }
  checkCircles(authorization.scopeIncludes ?? {}, report);
  checkObtainable(sections, report);
}

function checkOffline(scopes: readonly string[], path: readonly Step[], report: Report): void {
  const index = scopes.indexOf(OFFLINE);
  if (index < 0) return;
  report.warning(
    [...path, index],
    `is ${OFFLINE}, which a client asks its issuer for by itself: no resource should need it`,
  );
}

/** What clients are told of a route must be what it goes by. */
function checkMetadata(
  metadata: NonNullable<Sound["routes"]>[number]["metadata"],
  path: readonly Step[],
  { authentication }: Sound,
  report: Report,
): void {
  checkOffline(metadata?.scopes ?? [], [...path, "scopes"], report);
  if (authentication === undefined || report.lost(["authentication"])) return;
  const known = tokenIssuers(authentication);
  const named = known.filter(({ issuer }) => metadata?.issuers?.includes(issuer) ?? true);
  const { scopes } = metadata ?? {};
  if (
    scopes !== undefined &&
    !report.lost([...path, "scopes"]) &&
    named.some((of) => of.requiredScopes.some((scope) => !scopes.includes(scope)))
  ) {
    report.warning(
      [...path, "scopes"],
      "leave out what all tokens of an issuer need: clients start with a token that is refused",
    );
  }
  for (const [index, issuer] of (metadata?.issuers ?? []).entries()) {
    if (known.some((entry) => entry.issuer === issuer)) continue;
    report.problem(
      [...path, "issuers", index],
      "is no issuer of tokens, allowed the exact issuer of one in authentication.issuers or authentication.introspection",
    );
  }
}

/** A mistyped method would need no scope. */
function checkMethods(methods: readonly string[], path: readonly Step[], report: Report): void {
  for (const [index, pattern] of methods.entries()) {
    const fits = compileGlob(pattern);
    const known = [...METHOD_TARGETS.keys()].some(fits) || isTaskMethod(pattern);
    const near = known || foreignSign(pattern, false) !== undefined ? undefined : nearestMethod(pattern);
    if (near === undefined) continue;
    report.problem([...path, index], `fits no method of MCP, so it asks for nothing, did you mean ${near}?`);
  }
}

function checkCircles(includes: Readonly<Record<string, readonly string[]>>, report: Report): void {
  if (report.lost(["authorization", "scopeIncludes"])) return;
  const told = new Set<string>();
  for (const scope of Object.keys(includes)) {
    const reached = new Set(includes[scope]);
    for (const one of reached) for (const next of includes[one] ?? []) reached.add(next);
    if (!reached.has(scope) || told.has(scope)) continue;
    for (const one of reached) told.add(one);
    report.problem(
      ["authorization", "scopeIncludes", scope],
      "includes itself, by way of what it includes, allowed scopes that do not lead back to it",
    );
  }
}

/** Where callers have no scopes at all, what needs one is closed. */
function checkObtainable({ authorization, authentication }: Sound, report: Report): void {
  if (authorization?.scopes === undefined || authorization.scopes.length === 0) return;
  if (authentication === undefined || report.lost(["authentication"])) return;
  const { forwarded } = authentication;
  if (tokenIssuers(authentication).length > 0 || forwarded?.assertion !== undefined) return;
  report.warning(
    ["authorization", "scopes"],
    "are had by nobody: without an issuer no caller has scopes, and all that needs one is refused",
  );
}
