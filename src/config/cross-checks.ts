/**
 * What no single setting can know: mistakes between settings, and combinations that work but weaken something.
 * Each check runs on what can be read, whatever is wrong elsewhere. Pure.
 */
import { isLoopback, isPrivate, parseUrl, printListen, sameListen } from "./addresses.ts";
import { checkAudit, usesRedis } from "./audit-checks.ts";
import { checkCapability } from "./capability-checks.ts";
import { allows } from "./consent-checks.ts";
import { checkCredentials } from "./credential-checks.ts";
import { checkIdentity } from "./identity-checks.ts";
import type { Step } from "./json-schema.ts";
import { checkLimits } from "./limit-checks.ts";
import { checkPolicies } from "./policy-checks.ts";
import { checkPrincipals } from "./principal-checks.ts";
import { checkRedis } from "./redis-checks.ts";
import type { Report, Sound } from "./report.ts";
import { checkRoutes } from "./route-checks.ts";
import { checkRules } from "./rule-checks.ts";
import { checkScopes } from "./scope-checks.ts";
import { checkTelemetry } from "./telemetry-checks.ts";
import { checkTokens } from "./token-checks.ts";

function checkServer({ server, admin }: Sound, report: Report): void {
  if (admin !== undefined && !isLoopback(admin.listen.host)) {
    report.warning(
      ["admin", "listen"],
      "is an address that others can reach: it tells metrics and health without a token, keep clients away",
    );
  }
  if (admin?.token !== undefined && !isLoopback(admin.listen.host)) {
    report.warning(["admin", "token"], "crosses the network in clear: the admin listener speaks http");
  }
  if (admin?.console === true && admin.token === undefined && !report.lost(["admin", "token"])) {
    report.problem(["admin", "console"], "is true without admin.token, allowed true beside a token");
  }
  if (admin?.console === true && !isLoopback(admin.listen.host)) {
    report.warning(
      ["admin", "console"],
      "is served in clear to whoever reaches the address: let people come by a proxy with TLS, or a tunnel to loopback",
    );
  }
  if (server === undefined || report.lost(["server", "listen"])) return;
  const loopback = isLoopback(server.listen.host);
  const url = server.publicUrl === undefined ? undefined : parseUrl(server.publicUrl);
  const absent = url === undefined && !report.lost(["server", "publicUrl"]);
  if (absent && !loopback) {
    report.problem(
      ["server", "publicUrl"],
      "is required and missing, allowed the origin clients use, such as https://mcp.example.com",
    );
  }
  if (absent && loopback && server.listen.port === 0) {
    report.problem(
      ["server", "publicUrl"],
      "is required and missing, since server.listen names no fixed port",
    );
  }
  if (url?.protocol === "http:" && !isLoopback(url.hostname)) {
    report.warning(
      ["server", "publicUrl"],
      "is http: tokens and answers of clients cross the network in clear",
    );
  }
  if (url?.protocol === "http:" && server.tls !== undefined) {
    report.warning(["server", "publicUrl"], "is http, while server.tls makes the listener speak https");
  }
  if (admin !== undefined && sameListen(server.listen, admin.listen)) {
    report.problem(
      ["admin", "listen"],
      `is the address of server.listen, found ${printListen(admin.listen)}, allowed an address of its own`,
    );
  }
}

function checkIssuers({ authentication }: Sound, report: Report): void {
  if (authentication === undefined) return;
  const { issuers } = authentication;
  for (const [index, entry] of issuers.entries()) {
    const at = (name: string): Step[] => ["authentication", "issuers", index, name];
    const slashed = issuers.find(({ issuer }) => issuer === `${entry.issuer}/`);
    if (slashed !== undefined) {
      report.warning(
        at("issuer"),
        "is another issuer here with a slash behind it: a name is compared character by character, so they are two, with callers of their own",
      );
    }
    const url = parseUrl(entry.issuer);
    if (url?.protocol === "http:" && !isLoopback(url.hostname)) {
      if (isPrivate(url.hostname))
        report.warning(at("issuer"), "is http: its keys can be replaced on the way");
      else report.problem(at("issuer"), "is http on a public host, allowed https");
    }
    const jwks = entry.jwks !== undefined && "url" in entry.jwks ? parseUrl(entry.jwks.url) : undefined;
    if (jwks?.protocol === "http:" && !isLoopback(jwks.hostname)) {
      report.warning([...at("jwks"), "url"], "is http: the keys can be replaced on the way");
    }
  }
}

function checkAuthentication({ authentication, server, routes }: Sound, report: Report): void {
  if (authentication === undefined || report.lost(["authentication", "mode"])) return;
  const { mode, issuers, introspection, clientCertificates, forwarded } = authentication;
  const others = [introspection, clientCertificates, forwarded].some((way) => way !== undefined);
  const lost = ["issuers", "introspection", "clientCertificates", "forwarded"].some((name) =>
    report.lost(["authentication", name]),
  );
  if (mode === "required" && issuers.length === 0 && !others && !lost) {
    report.problem(
      ["authentication", "issuers"],
      "names no issuer, while authentication.mode is required, allowed one issuer or more",
    );
  }
  if (mode === "anonymous" && issuers.length > 0) {
    report.warning(
      ["authentication", "issuers"],
      "counts only for callers that bring a token, while authentication.mode is anonymous",
    );
  }
  if (mode === "anonymous" && server !== undefined && !isLoopback(server.listen.host)) {
    report.warning(
      ["authentication", "mode"],
      "is anonymous on a listener that others can reach: anybody may call, and a state is bound to no caller",
    );
  }
  const open = routes === undefined ? 0 : routes.filter((route) => route.audiences === undefined).length;
  if (routes !== undefined && routes.length > 1 && open > 0 && !report.lost(["routes"])) {
    for (const [index, entry] of issuers.entries()) {
      if (entry.audiences === undefined) continue;
      report.warning(
        ["authentication", "issuers", index, "audiences"],
        "holds for every route without audiences of its own: a token for one of them is good for all",
      );
    }
  }
}

function checkRing({ primary, next, ring, folder }: NonNullable<Sound["keys"]>, report: Report): void {
  const known = !report.lost(["keys", "ring"]) && !report.lost(["keys", "folder"]);
  if (known && (ring === undefined) === (folder === undefined)) {
    const what = ring === undefined ? "holds neither ring nor folder" : "holds ring and folder at once";
    report.problem(["keys"], `${what}, allowed one of them`);
  }
  if (next?.id === primary) {
    report.problem(["keys", "next", "id"], "is keys.primary itself, allowed the key that takes its place");
  }
  // The names in a folder are known when it is read.
  if (ring === undefined || !known) return;
  const ids = ring.map((key) => key.id);
  if (!ids.includes(primary)) report.problem(["keys", "primary"], "is not the id of a key in keys.ring");
  if (next !== undefined && !ids.includes(next.id)) {
    report.problem(["keys", "next", "id"], "is not the id of a key in keys.ring");
  }
}

function checkKeys(
  { keys, redemption, redis, server, audit }: Sound,
  report: Report,
  given: ReadonlySet<string>,
): void {
  if (keys !== undefined) checkRing(keys, report);
  if (redemption === undefined || report.lost(["redemption", "store"])) return;
  const store = redemption.store ?? (given.has("redis") ? "redis" : "memory");
  if (store === "redis" && !given.has("redis")) {
    report.problem(["redemption", "store"], "is redis, while there is no redis section");
  }
  if (store === "redis" && !given.has("keys")) {
    const path = redemption.store === undefined ? ["redis"] : ["redemption", "store"];
    report.problem(
      path,
      "needs a key, and none is configured: a random one would differ on each replica, allowed a keys section (`sealgate keys new` makes a secret)",
    );
  }
  if (store === "memory" && server !== undefined && server.replicas > 1) {
    const why = "no other replica sees what the memory store marks";
    if (redemption.store === undefined) {
      report.problem(["server", "replicas"], `is more than 1 without a redis section: ${why}, allowed 1`);
    } else {
      report.problem(
        ["redemption", "store"],
        `is memory, while server.replicas is more than 1: ${why}, allowed redis`,
      );
    }
  }
  if (store === "memory" && !given.has("keys")) {
    report.warning(
      ["keys"],
      "is absent: states are sealed with a random key and do not outlive this process",
    );
  }
  const sinks = audit !== undefined && !report.lost(["audit", "sinks"]);
  if (store === "memory" && redis !== undefined && sinks && !usesRedis(audit)) {
    report.warning(["redis"], "is not used, while redemption.store is memory");
  }
  if (redemption.epoch === "off") {
    report.warning(["redemption", "epoch"], "is off: a store that lost marks can let a state be used twice");
  }
  if (redemption.eviction === "accept" && store === "redis") {
    report.warning(
      ["redemption", "eviction"],
      "is accept: a mark that is evicted lets a state be used twice",
    );
  }
}

function checkAuthorization({ authorization }: Sound, report: Report): void {
  if (authorization === undefined || report.lost(["authorization", "default"])) return;
  if (authorization.default === "allow") {
    report.warning(["authorization", "default"], "is allow: what no policy denies is open to every caller");
  } else if (!report.lost(["authorization", "policies"]) && !authorization.policies.some(allows)) {
    report.warning(["authorization"], "allows nothing: the default is deny and no policy allows");
  }
}

function checkEnvelope({ envelope, server }: Sound, report: Report): void {
  if (envelope === undefined || server === undefined) return;
  if (report.lost(["envelope", "maxStateBytes"]) || report.lost(["server", "limits", "body"])) return;
  // A sealed state is a third longer, and a kilobyte of it is claims.
  if (((envelope.maxStateBytes + 1_024) * 4) / 3 > server.limits.body) {
    report.warning(
      ["envelope", "maxStateBytes"],
      "is more than a request can bring back, sealed, with server.limits.body: larger states are refused",
    );
  }
}

function checkRoundTrip({ roundTrip }: Sound, report: Report): void {
  if (roundTrip?.answersWithoutState === "forward") {
    report.warning(
      ["roundTrip", "answersWithoutState"],
      "is forward: answers nobody was asked for reach the server",
    );
  }
}

/**
 * All checks between settings.
 * @param sections what can be read of each, with defaults
 * @param given the names of the sections that stand in the file, sound or not
 */
export function crossCheck(sections: Sound, given: ReadonlySet<string>, report: Report): void {
  checkServer(sections, report);
  checkIssuers(sections, report);
  checkAuthentication(sections, report);
  checkIdentity(sections, report);
  checkTokens(sections, report);
  checkPrincipals(sections, report);
  checkKeys(sections, report, given);
  checkRedis(sections, report);
  checkAuthorization(sections, report);
  checkPolicies(sections, report);
  checkScopes(sections, report);
  checkCapability(sections, report);
  checkEnvelope(sections, report);
  checkRoundTrip(sections, report);
  checkRoutes(sections, report);
  checkCredentials(sections, given, report);
  checkRules(sections, report);
  checkLimits(sections, report);
  checkAudit(sections, given, report);
  checkTelemetry(sections, report);
}
