/**
 * Checks of callers who bring no token: that their certificates can come from somewhere and be judged, that no two kinds of caller
 * can be one principal, and that no header is read as two. Part of `cross-checks.ts`, pure like it.
 */
import { isLoopback, parseUrl } from "./addresses.ts";
import type { Step } from "./json-schema.ts";
import { holdEverybody } from "./networks.ts";
import type { Report, Sound } from "./report.ts";

const CERTIFICATES = ["authentication", "clientCertificates"];
const FORWARDED = ["authentication", "forwarded"];

/** A text that must not stand in two places. */
interface Named {
  readonly path: readonly Step[];
  readonly text: string;
}

function checkCertificates({ authentication, server }: Sound, report: Report): void {
  const certificates = authentication?.clientCertificates;
  const header = certificates?.header;
  const asks = server?.tls?.clientCa !== undefined || report.lost(["server", "tls"]) || server === undefined;
  if (
    certificates !== undefined &&
    header === undefined &&
    !asks &&
    !report.lost([...CERTIFICATES, "header"])
  ) {
    report.problem(
      CERTIFICATES,
      "has no place that certificates come from, allowed server.tls.clientCa, or header for a proxy in front",
    );
  }
  if (
    header?.verified === "byGateway" &&
    header.ca === undefined &&
    !report.lost([...CERTIFICATES, "header"])
  ) {
    report.problem(
      [...CERTIFICATES, "header", "ca"],
      "is required and missing, allowed the authorities of clients, or verified: byProxy",
    );
  }
  if (header?.verified === "byProxy" && header.ca !== undefined) {
    report.warning([...CERTIFICATES, "header", "ca"], "is not used, while verified is byProxy");
  }
  if (certificates?.trustDomain !== undefined) {
    if (certificates.subject !== "san.uri") {
      report.problem([...CERTIFICATES, "trustDomain"], "is for subject: san.uri only");
    }
    if (!/^[a-z0-9._-]+$/.test(certificates.trustDomain)) {
      report.problem(
        [...CERTIFICATES, "trustDomain"],
        "is no SPIFFE trust domain, allowed lower-case letters, digits, . - _, without spiffe://",
      );
    }
  }
  if (authentication?.forwarded?.headers?.proxyCertificate !== undefined && !asks) {
    report.problem(
      [...FORWARDED, "headers", "proxyCertificate"],
      "can never be shown: needs server.tls.clientCa",
    );
  }
}

/** A certificate's caller must never be equal to a token's, nor to one that is forwarded. */
function checkNames({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  const { issuers, introspection = [], clientCertificates, forwarded } = authentication;
  const others = [
    named(clientCertificates?.issuer, [...CERTIFICATES, "issuer"]),
    named(forwarded?.assertion?.issuer, [...FORWARDED, "assertion", "issuer"]),
    named(forwarded?.headers?.issuer, [...FORWARDED, "headers", "issuer"]),
  ].flat();
  const tokens = [
    ...issuers.map(({ issuer }, index) => named(issuer, ["authentication", "issuers", index, "issuer"])),
    ...introspection.map(({ issuer }, index) =>
      named(issuer, ["authentication", "introspection", index, "issuer"]),
    ),
  ].flat();
  differ(
    [...tokens, ...others],
    others,
    "the issuer of other callers too: two people could be one principal",
    report,
  );
}

function checkHeaders({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  const { clientCertificates, forwarded } = authentication;
  const { assertion, headers } = forwarded ?? {};
  const header = clientCertificates?.header;
  const at = (name: string): Step[] => [...FORWARDED, "headers", name];
  const place = [...CERTIFICATES, "header", "name"];
  const names = [
    named(header?.name, place),
    named(header?.format === "rfc9440" ? `${header.name}-chain` : undefined, place),
    named(assertion?.header, [...FORWARDED, "assertion", "header"]),
    named(headers?.user, at("user")),
    named(headers?.client, at("client")),
    named(headers?.tenant, at("tenant")),
    named(headers?.groups, at("groups")),
  ].flat();
  differ(names, names, "a header with another meaning already, allowed one of its own", report);
}

function checkWays({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  const { mode, forwarded, clientCertificates } = authentication;
  if (forwarded !== undefined && forwarded.assertion === undefined && forwarded.headers === undefined) {
    if (!report.lost(FORWARDED)) report.problem(FORWARDED, "holds neither assertion nor headers");
  }
  const jwks = forwarded?.assertion?.jwks;
  const url = jwks !== undefined && "url" in jwks ? parseUrl(jwks.url) : undefined;
  if (url?.protocol === "http:" && !isLoopback(url.hostname)) {
    report.warning(
      [...FORWARDED, "assertion", "jwks", "url"],
      "is http: the keys can be replaced on the way",
    );
  }
  if (mode !== "anonymous" || report.lost(["authentication", "mode"])) return;
  for (const [given, path] of [
    [clientCertificates, CERTIFICATES],
    [forwarded, FORWARDED],
  ] as const) {
    if (given === undefined) continue;
    report.warning(
      path,
      "counts only for callers that are known by it, while authentication.mode is anonymous",
    );
  }
}

/** Two halves of the internet are all of it. */
function checkLists({ authentication, server }: Sound, report: Report): void {
  if (server !== undefined && holdEverybody(server.trustedProxies)) {
    report.warning(
      ["server", "trustedProxies"],
      "hold everybody: callers say themselves which address they have, for the record and for limits of those without a token",
    );
  }
  const { clientCertificates, forwarded } = authentication ?? {};
  for (const [list, path] of [
    [clientCertificates?.header?.from, [...CERTIFICATES, "header", "from"]],
    [forwarded?.assertion?.from, [...FORWARDED, "assertion", "from"]],
    [forwarded?.headers?.from, [...FORWARDED, "headers", "from"]],
  ] as const) {
    if (list === undefined || !holdEverybody(list)) continue;
    report.problem(path, "holds everybody, all entries together, allowed the addresses of the proxies");
  }
}

function named(text: string | undefined, path: readonly Step[]): Named[] {
  return text === undefined ? [] : [{ text, path }];
}

/** Reports each of `judged` whose text stands in `all` before it. */
function differ(all: readonly Named[], judged: readonly Named[], wrong: string, report: Report): void {
  for (const [index, { text, path }] of all.entries()) {
    const earlier = all.slice(0, index).some((other) => other.text === text);
    if (earlier && judged.some((one) => one.path === path)) report.problem(path, `is ${wrong}`);
  }
}

/** All checks of callers without a token. */
export function checkIdentity(sections: Sound, report: Report): void {
  checkCertificates(sections, report);
  checkNames(sections, report);
  checkHeaders(sections, report);
  checkWays(sections, report);
  checkLists(sections, report);
}
