/** Mistakes between the settings of routes. Part of `cross-checks.ts`, pure like it. */
import { isLoopback, type Listen, parseUrl } from "./addresses.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";
import { ROUNDS_OF_CLIENTS } from "./route-settings.ts";
import type { Sections } from "./schema.ts";

type WrittenRoute = Sections["routes"][number];

/** Whether a request to `url` comes back to the listener that would send it. */
function isOwnListener(url: URL, listen: Listen): boolean {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (listen.port === 0 || port !== listen.port) return false;
  const wildcard = listen.host === "0.0.0.0" || listen.host === "::";
  return isLoopback(url.hostname) ? wildcard || isLoopback(listen.host) : url.hostname === listen.host;
}

function checkUpstream(
  { upstream }: WrittenRoute,
  path: readonly Step[],
  sections: Sound,
  report: Report,
): void {
  const at = (name: string): Step[] => [...path, "upstream", name];
  const url = parseUrl(upstream.url);
  if (url === undefined) return;
  const listens = !report.lost(["server", "listen"]);
  if (sections.server !== undefined && listens && isOwnListener(url, sections.server.listen)) {
    report.problem(at("url"), "is the gateway's own server.listen, allowed the MCP server behind it");
  }
  if (url.protocol !== "http:") return;
  if (upstream.tls !== undefined)
    report.problem(at("tls"), "needs an https:// URL, found http:// in upstream.url");
  if (upstream.credential !== undefined && !isLoopback(url.hostname)) {
    report.warning(at("credential"), "crosses the network in clear, since upstream.url is http");
  }
}

function checkRounds(rounds: number | undefined, path: readonly Step[], report: Report): void {
  if (rounds === undefined || rounds >= ROUNDS_OF_CLIENTS) return;
  report.warning(
    path,
    `is ${rounds}: SDK clients repeat a call ten times on their own, so honest calls can meet this limit; ${ROUNDS_OF_CLIENTS} or more lets them`,
  );
}

/** All checks of routes: upstreams, and overrides that weaken something. */
export function checkRoutes(sections: Sound, report: Report): void {
  const { routes, authentication } = sections;
  if (routes === undefined) return;
  checkRounds(sections.roundTrip?.maxRounds, ["roundTrip", "maxRounds"], report);
  for (const [index, route] of routes.entries()) {
    const path = ["routes", index];
    checkRounds(route.roundTrip.maxRounds, [...path, "roundTrip", "maxRounds"], report);
    checkUpstream(route, path, sections, report);
    const mode = report.lost(["authentication", "mode"]) ? undefined : authentication?.mode;
    if (route.legacy === "pass" && mode === "required") {
      report.warning(
        [...path, "legacy"],
        "is pass: questions in traffic of revisions before 2026-07-28 are not filtered and its states not sealed",
      );
    }
    if (route.roundTrip.answersWithoutState === "forward") {
      report.warning(
        [...path, "roundTrip", "answersWithoutState"],
        "is forward: answers nobody was asked for reach the server",
      );
    }
  }
}
