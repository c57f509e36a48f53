/** Where the address of a url question may lead: section `capability.url` of a route, compiled. Pure. */
import { domainToASCII } from "node:url";
import { tokenIssuers } from "../config/caller-issuers.ts";
import type { Config } from "../config/schema.ts";
import { compileGlobs } from "../glob.ts";
import type { AddressPolicy } from "../mcp/address-findings.ts";
import { isLoopbackHost } from "../mcp/question-url.ts";

/**
 * Compiles the section for one route. Without a word in it, http may lead to this machine only where the gateway
 * itself is there for nobody else: its public URL is on a loopback host.
 */
export function compileAddresses(config: Config, route: Config["routes"][number]): AddressPolicy {
  const { hosts, loopbackHttp } = route.capability.url;
  const own = hostOf(config.server.publicUrl);
  const issuers = tokenIssuers(config.authentication).map(({ issuer }) => hostOf(issuer));
  return {
    hosts: hosts === undefined ? undefined : compileGlobs(hosts.map(inAscii)),
    loopbackHttp: loopbackHttp ?? isLoopbackHost(own),
    // Everything on one machine shares its name; that says nothing there.
    ownHosts: new Set([own, ...issuers].filter((host) => host !== "" && !isLoopbackHost(host))),
  };
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? "";
}

/** A pattern in the letters that addresses are compared in. */
function inAscii(pattern: string): string {
  const [host = "", ...port] = pattern.toLowerCase().startsWith("[")
    ? [pattern.toLowerCase()]
    : pattern.toLowerCase().split(":");
  const ascii = /\P{ASCII}/u.test(host)
    ? host
        .split(".")
        .map((label) => (/\P{ASCII}/u.test(label) ? domainToASCII(label) : label))
        .join(".")
    : host;
  return [ascii, ...port].join(":");
}
