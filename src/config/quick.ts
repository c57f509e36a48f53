/** The configuration of `sealgate serve --upstream URL`: one upstream, this machine only, nothing to set up. */
import { isLoopback, type Listen, printListen } from "./addresses.ts";
import { crossCheck } from "./cross-checks.ts";
import { printPath } from "./json-schema.ts";
import { resolveConfig, type Whole } from "./resolve.ts";
import { type Config, SECTIONS } from "./schema.ts";

/** Where the quickstart listens unless told otherwise. */
const QUICK_LISTEN: Listen = { host: "127.0.0.1", port: 8_080 };

/**
 * Loopback listener, route `/mcp`, anonymous, memory store, random key, everything allowed, legacy traffic passed,
 * no admin listener.
 * @param upstreamUrl full endpoint of the MCP server
 * @param listen address to listen on; anything but loopback is refused, since nobody is asked for a token here
 * @throws Error with one line for the operator
 */
export function quickConfig(upstreamUrl: string, listen: Partial<Listen> = {}): Config {
  const at = { ...QUICK_LISTEN, ...listen };
  if (!isLoopback(at.host)) {
    throw new Error(
      "without a configuration file the gateway listens on loopback only (127.0.0.1, [::1], localhost)",
    );
  }
  const routes = SECTIONS.routes.safeParse([
    { path: "/mcp", upstream: { url: upstreamUrl }, legacy: "pass" },
  ]);
  if (!routes.success)
    throw new Error("the upstream must be an http:// or https:// URL without credentials or fragment");
  const sections: Whole = {
    version: 1,
    server: { ...SECTIONS.server.parse({}), listen: at, publicUrl: `http://${printListen(at)}` },
    authentication: SECTIONS.authentication.parse({ mode: "anonymous" }),
    envelope: SECTIONS.envelope.parse({}),
    roundTrip: SECTIONS.roundTrip.parse({}),
    redemption: SECTIONS.redemption.parse({ store: "memory" }),
    capability: SECTIONS.capability.parse({}),
    authorization: SECTIONS.authorization.parse({ default: "allow" }),
    rules: SECTIONS.rules.parse({}),
    limits: SECTIONS.limits.parse({}),
    routes: routes.data,
    errors: SECTIONS.errors.parse({}),
    audit: SECTIONS.audit.parse({}),
    log: SECTIONS.log.parse({}),
  };
  crossCheck(sections, new Set(), {
    problem: (path, message) => {
      throw new Error(`${printPath(path)}: ${message}`);
    },
    // What this mode weakens is its purpose; `serve` says it once in its own words.
    warning: () => undefined,
    lost: () => false,
  });
  return resolveConfig(sections, process.cwd());
}
