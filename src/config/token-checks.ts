/**
 * Mistakes between the settings of access tokens: who is asked about a token must be clear before it is sent anywhere, and what is
 * demanded must be possible. Part of `cross-checks.ts`, pure like it.
 */
import { isLoopback, isPrivate, parseUrl } from "./addresses.ts";
import { tokenIssuers } from "./caller-issuers.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";
import { CREDENTIAL_KINDS } from "./token-settings.ts";

type Authentication = NonNullable<Sound["authentication"]>;
type Introspection = NonNullable<Authentication["introspection"]>;

const INTROSPECTION = ["authentication", "introspection"];

/** All checks of introspection, bound tokens and `routes[].authentication`. */
export function checkTokens(sections: Sound, report: Report): void {
  const { authentication } = sections;
  if (authentication === undefined) return;
  const { introspection = [], dpop, mode } = authentication;
  for (const [index, { issuer, url }] of introspection.entries()) {
    checkScheme(issuer, [...INTROSPECTION, index, "issuer"], report);
    checkScheme(url, [...INTROSPECTION, index, "url"], report);
  }
  checkPrefixes(introspection, sections, report);
  checkBinding(sections, report);
  checkBothWays(authentication, report);
  checkAccepted(sections, report);
  const unlost = !report.lost(["authentication", "mode"]);
  if (mode === "anonymous" && unlost && introspection.length > 0) {
    report.warning(
      INTROSPECTION,
      "counts only for callers that bring a token, while authentication.mode is anonymous",
    );
  }
  if (dpop !== undefined && tokenIssuers(authentication).length === 0) {
    const lost = ["issuers", "introspection"].some((name) => report.lost(["authentication", name]));
    if (!lost) report.warning(["authentication", "dpop"], "is not used, without an issuer of tokens");
  }
}

function checkScheme(text: string, path: readonly Step[], report: Report): void {
  const url = parseUrl(text);
  if (url?.protocol !== "http:" || isLoopback(url.hostname)) return;
  const why = "is http: tokens and the gateway's secret cross the network in clear";
  if (isPrivate(url.hostname)) report.warning(path, why);
  else report.problem(path, `${why}, allowed https`);
}

/** Of an opaque token nobody can see whose it is: what it begins with must tell, or the route. */
function checkPrefixes(introspection: Introspection, { routes }: Sound, report: Report): void {
  if (report.lost(INTROSPECTION)) return;
  const all = introspection.flatMap(({ tokenPrefixes = [] }, index) =>
    tokenPrefixes.map((prefix, place) => ({
      prefix,
      path: [...INTROSPECTION, index, "tokenPrefixes", place],
    })),
  );
  for (const [place, { prefix, path }] of all.entries()) {
    const clash = all.some(
      (other, index) =>
        (index < place && prefix === other.prefix) ||
        (prefix !== other.prefix && prefix.startsWith(other.prefix)),
    );
    if (clash) {
      report.problem(
        path,
        "begins with another of authentication.introspection, or is the same: a token could be of either",
      );
    }
  }
  const bare = introspection.flatMap(({ tokenPrefixes }, index) =>
    tokenPrefixes === undefined ? [index] : [],
  );
  const [, second] = bare;
  if (second === undefined || routes === undefined || report.lost(["routes"])) return;
  const open = routes.some(({ authentication: own }) => {
    const takes = own?.accept === undefined || own.accept.includes("introspection");
    return takes && own?.introspection === undefined;
  });
  if (open) {
    report.problem(
      [...INTROSPECTION, second, "tokenPrefixes"],
      "is required and missing: another issuer has none either, and not every route says in authentication.introspection which of them it takes",
    );
  }
}

/** Tokens that must be bound, where no way to show it is configured. */
function checkBinding({ authentication, server }: Sound, report: Report): void {
  if (authentication === undefined || server === undefined || report.lost(["server", "tls"])) return;
  const { dpop, clientCertificates } = authentication;
  if (dpop !== undefined || report.lost(["authentication", "dpop"])) return;
  if (clientCertificates !== undefined || report.lost(["authentication", "clientCertificates"])) return;
  if (server.tls?.clientCa !== undefined) return;
  for (const { senderConstrained, path } of tokenIssuers(authentication)) {
    if (senderConstrained !== "required") continue;
    report.problem(
      [...path, "senderConstrained"],
      "is required, and no caller can show that a token is theirs: allowed with authentication.dpop, server.tls.clientCa or authentication.clientCertificates",
    );
  }
}

/** Tokens of one issuer that must be bound where they are signed, and need not where they are asked about, or the other way. */
function checkBothWays({ issuers, introspection = [] }: Authentication, report: Report): void {
  for (const [index, { issuer, senderConstrained = "optional" }] of introspection.entries()) {
    const signed = issuers.find((other) => other.issuer === issuer);
    if (signed === undefined || (signed.senderConstrained ?? "optional") === senderConstrained) continue;
    report.warning(
      [...INTROSPECTION, index, "senderConstrained"],
      "is not the one of the same issuer in authentication.issuers: who has a token of either kind takes the one that asks less",
    );
  }
}

/** The kinds of credential that are configured, in the order of their names' list. */
function configured({ issuers, introspection, clientCertificates, forwarded }: Authentication): string[] {
  const has: Record<(typeof CREDENTIAL_KINDS)[number], boolean> = {
    jwt: issuers.length > 0,
    introspection: introspection !== undefined,
    certificate: clientCertificates !== undefined,
    forwarded: forwarded !== undefined,
  };
  return CREDENTIAL_KINDS.filter((kind) => has[kind]);
}

const SECTIONS = { jwt: "issuers", introspection: "introspection", forwarded: "forwarded" } as const;

/** Kinds that no route takes. A certificate may still be what a token is bound to. */
function checkUnused(known: readonly string[], routes: Sound["routes"], report: Report): void {
  if (routes === undefined || routes.length === 0 || report.lost(["routes"])) return;
  const taken = new Set(routes.flatMap(({ authentication }) => authentication?.accept ?? known));
  for (const kind of ["jwt", "introspection", "forwarded"] as const) {
    if (!known.includes(kind) || taken.has(kind)) continue;
    report.warning(["authentication", SECTIONS[kind]], `is not used: no route accepts ${kind}`);
  }
}

function checkAccepted({ authentication, routes }: Sound, report: Report): void {
  if (authentication === undefined || report.lost(["authentication"])) return;
  const known = configured(authentication);
  checkUnused(known, routes, report);
  for (const [index, { authentication: own }] of (routes ?? []).entries()) {
    const at = (...more: Step[]): Step[] => ["routes", index, "authentication", ...more];
    for (const [place, kind] of (own?.accept ?? []).entries()) {
      if (known.includes(kind)) continue;
      report.problem(
        at("accept", place),
        `is not configured in authentication, allowed ${known.join(", ") || "nothing"}`,
      );
    }
    const { introspection, accept } = own ?? {};
    if (introspection === undefined) continue;
    if (!authentication.introspection?.some(({ issuer }) => issuer === introspection)) {
      report.problem(at("introspection"), "is no issuer of authentication.introspection");
    } else if (accept !== undefined && !accept.includes("introspection")) {
      report.problem(at("introspection"), "is of no use: accept does not hold introspection");
    }
  }
}
