/** Mistakes about credentials of upstreams that no single setting can know. Part of `cross-checks.ts`, pure like it. */
import { isLoopback, isPrivate, parseUrl } from "./addresses.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";
import type { Sections } from "./schema.ts";

type WrittenRoute = Sections["routes"][number];
type Credential = NonNullable<WrittenRoute["upstream"]["credential"]>;
type Assertion = Extract<Credential, { assertion: unknown }>["assertion"];
type Grant = Extract<Credential, { clientCredentials: unknown }>["clientCredentials"];

/** Who can call, as far as the settings tell. */
interface Callers {
  /** Issuers of tokens. */
  readonly tokens: number;
  /** Some may come without a token. */
  readonly withoutToken: boolean;
  /** Some may come without identity. */
  readonly anonymous: boolean;
  /** Who vouches for subjects, each of whom may know the same ones. */
  readonly sources: number;
}

function callersOf({ authentication }: Sound, report: Report): Callers | undefined {
  if (authentication === undefined || report.lost(["authentication"])) return undefined;
  const { mode, issuers, introspection = [], clientCertificates, forwarded } = authentication;
  const tokens = issuers.length + introspection.length;
  const others = [clientCertificates, forwarded?.assertion, forwarded?.headers];
  const named = others.filter((other) => other !== undefined).length;
  return {
    tokens,
    withoutToken: mode === "anonymous" || named > 0,
    anonymous: mode === "anonymous",
    sources: tokens + named,
  };
}

function checkAssertion(
  { subject, anonymous }: Assertion,
  path: readonly Step[],
  callers: Callers | undefined,
  report: Report,
): void {
  if (callers === undefined) return;
  if (subject === "plain" && callers.sources > 1) {
    report.problem(
      [...path, "subject"],
      "is plain, while more than one issuer vouches for callers: two people of one subject would be one to the server, allowed qualified",
    );
  }
  if (anonymous === "refuse" && callers.anonymous && callers.sources === 0) {
    report.problem(
      [...path],
      "refuses callers without identity, while authentication knows no other, allowed anonymous: send",
    );
  }
}

function checkGrant(
  { endpoint, audience, resource, scope }: Grant,
  path: readonly Step[],
  report: Report,
): void {
  const url = parseUrl(endpoint);
  if (url?.protocol === "http:" && !isLoopback(url.hostname)) {
    const at = [...path, "endpoint"];
    if (isPrivate(url.hostname)) report.warning(at, "is http: tokens and secrets cross the network in clear");
    else report.problem(at, "is http on a public host, allowed https");
  }
  if (audience === undefined && resource === undefined && scope === undefined) {
    report.warning(
      [...path],
      "names no audience, resource or scope: the token may be good for other servers too",
    );
  }
}

function checkExchange(path: readonly Step[], callers: Callers | undefined, report: Report): void {
  if (callers === undefined) return;
  if (callers.tokens === 0) {
    report.problem([...path], "exchanges tokens of callers, while authentication names no issuer of tokens");
  } else if (callers.withoutToken) {
    report.warning(
      [...path],
      "is for callers with a token: those without one, whom authentication lets in too, are refused",
    );
  }
}

function checkTls({ upstream: { tls } }: WrittenRoute, path: readonly Step[], report: Report): void {
  if ((tls?.cert === undefined) === (tls?.key === undefined)) return;
  const [given, missing] = tls?.cert === undefined ? ["key", "cert"] : ["cert", "key"];
  const at = [...path, "tls", missing];
  if (!report.lost(at)) report.problem([...path, "tls", given], `needs ${missing} beside it`);
}

function checkSection(sections: Sound, report: Report, used: boolean): void {
  const { assertions } = sections;
  if (assertions === undefined) return;
  const { primary, ring } = assertions;
  const known = !report.lost(["assertions", "ring"]) && !report.lost(["assertions", "primary"]);
  if (known && !ring.some(({ id }) => id === primary))
    report.problem(["assertions", "primary"], "is not the id of a key in assertions.ring");
  const issuer = assertions.issuer ?? sections.server?.publicUrl;
  const { issuers = [], introspection = [], forwarded } = sections.authentication ?? {};
  const taken = [...issuers, ...introspection, ...(forwarded?.assertion ? [forwarded.assertion] : [])];
  if (issuer !== undefined && taken.some((other) => other.issuer === issuer)) {
    report.problem(
      ["assertions", "issuer"],
      "is an issuer whose word is taken here: what servers are told could come back as a caller's, allowed another one",
    );
  }
  if (!used && sections.routes !== undefined && !report.lost(["routes"]))
    report.warning(["assertions"], "signs nothing: no route has an assertion as its credential");
}

/**
 * All checks of credentials and certificates for upstreams.
 * @param given the names of the sections that stand in the file, sound or not
 */
export function checkCredentials(sections: Sound, given: ReadonlySet<string>, report: Report): void {
  const callers = callersOf(sections, report);
  let used = false;
  for (const [index, route] of (sections.routes ?? []).entries()) {
    const path: Step[] = ["routes", index, "upstream"];
    checkTls(route, path, report);
    const { credential } = route.upstream;
    if (credential === undefined) continue;
    const at = [...path, "credential"];
    if ("assertion" in credential) {
      used = true;
      checkAssertion(credential.assertion, [...at, "assertion"], callers, report);
      if (!given.has("assertions"))
        report.problem([...at, "assertion"], "needs the section assertions, with the keys that sign");
    } else if ("exchange" in credential) {
      checkGrant(credential.exchange, [...at, "exchange"], report);
      checkExchange([...at, "exchange"], callers, report);
    } else if ("clientCredentials" in credential) {
      checkGrant(credential.clientCredentials, [...at, "clientCredentials"], report);
    }
  }
  checkSection(sections, report, used);
}
