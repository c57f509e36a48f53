/**
 * The settings that a running gateway cannot change, all of them; everything else is taken up when the configuration is read
 * again. A file that changes one of these is not taken up at all, so that what is in force is always one whole file.
 * docs/operations.md has the same list. Pure.
 */

import { isDeepStrictEqual } from "node:util";
import { NO_UPSTREAM_SECRETS } from "./credential-material.ts";
import type { LoadedConfig } from "./load.ts";

interface StartOnly {
  readonly path: readonly string[];
  /** What must stay as it is. */
  read(loaded: LoadedConfig): unknown;
}

/** Paths of settings; for a section, everything in it. */
const START_ONLY: readonly StartOnly[] = [
  { path: ["server", "listen"], read: ({ config }) => config.server.listen },
  { path: ["server", "trustedProxies"], read: ({ config }) => config.server.trustedProxies },
  { path: ["server", "shutdownGrace"], read: ({ config }) => config.server.shutdownGrace },
  { path: ["server", "limits", "body"], read: ({ config }) => config.server.limits.body },
  // What is in the files is taken up; a listener cannot begin or cease to speak TLS, or to ask clients for a certificate.
  { path: ["server", "tls"], read: ({ config }) => config.server.tls !== undefined },
  { path: ["server", "tls", "clientCa"], read: ({ config }) => config.server.tls?.clientCa !== undefined },
  { path: ["admin", "listen"], read: ({ config }) => config.admin?.listen },
  {
    path: ["redis"],
    read: ({ config, secrets }) => [
      config.redis,
      ...[secrets.redisPassword, secrets.redisCa, secrets.sentinelPassword, secrets.sentinelCa],
    ],
  },
  { path: ["redemption"], read: ({ config }) => config.redemption },
  // With keys a state outlives the process, without it does not: the store is chosen by that.
  { path: ["keys"], read: ({ config }) => config.keys !== undefined },
];

/**
 * The same for two files that need not lie in one folder, by which relative paths are resolved. What is in the files that they
 * name is not compared.
 */
export function startOnlyDifferences(previous: LoadedConfig, next: LoadedConfig): string[] {
  const written = new Set(startOnlyChanges(asWritten(previous), asWritten(next)));
  return startOnlyChanges(withoutSecrets(previous), withoutSecrets(next)).filter((line) => written.has(line));
}

const NO_SECRETS = { ...NO_UPSTREAM_SECRETS, keys: [], jwksFiles: new Map() };
const withoutSecrets = (loaded: LoadedConfig): LoadedConfig => ({ ...loaded, secrets: NO_SECRETS });
const asWritten = (loaded: LoadedConfig): LoadedConfig => ({
  ...withoutSecrets(loaded),
  config: { ...loaded.config, ...loaded.source?.sections } as LoadedConfig["config"],
});

/** What of `next` takes a restart, one line each with its place; empty when it can be taken up. */
export function startOnlyChanges(inForce: LoadedConfig, next: LoadedConfig): string[] {
  return START_ONLY.filter(({ read }) => !isDeepStrictEqual(read(inForce), read(next))).map(({ path }) => {
    const place = next.source === undefined ? "" : `${next.source.place(path)} `;
    return `${place}${path.join(".")}: has changed, which takes a restart`;
  });
}
