/** `sealgate serve`: loads, opens, says what was opened, reads its file again on SIGHUP, and drains on SIGTERM and SIGINT. */

import type { Signals } from "close-with-grace";
import { parseListen } from "../config/addresses.ts";
import { NO_UPSTREAM_SECRETS } from "../config/credential-material.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { quickConfig } from "../config/quick.ts";
import { createLog, tellLosses, withoutQuery } from "../log.ts";
import { openStandard } from "../output.ts";
import { start } from "../start.ts";
import { EXIT } from "./exit.ts";
import { startFailure } from "./start-failure.ts";
import { heedStopSignals } from "./stop-signals.ts";
import { untilClosed } from "./until-closed.ts";

/**
 * Runs until a signal comes.
 * @param options either `config` (a file) or `upstream` (a URL, with an optional loopback `listen`)
 * @returns the exit code
 */
export async function serve(options: {
  readonly config?: string;
  readonly upstream?: string;
  readonly listen?: string;
}): Promise<number> {
  let stopping: NodeJS.Signals | undefined;
  let onSecond = (_signal: NodeJS.Signals): void => process.exit(EXIT.unhealthy[0]);
  heedStopSignals((signal) => {
    if (stopping === undefined) stopping = signal;
    else onSecond(signal);
  });
  const loaded = await load(options);
  const { config, warnings } = loaded;
  const [stdout, stderr] = [openStandard(1), openStandard(2)];
  const log = createLog(config.log.level, stdout);
  tellLosses(stdout, stderr, log);
  for (const warning of warnings) log.warn({ warning }, "configuration");
  const flush = (): Promise<unknown> => Promise.all([stdout.flush(), stderr.flush()]);
  onSecond = (signal) => {
    log.warn({ signal, requests: 0 }, "ended by a second signal");
    void flush().then(() => process.exit(EXIT.unhealthy[0]));
  };
  // Nothing is open yet.
  if (stopping !== undefined) {
    log.info({ signal: stopping }, "ended before it listened");
    await flush();
    return EXIT.ok[0];
  }
  try {
    const setLogLevel = (level: string): void => {
      log.level = level;
    };
    const running = await start(loaded, { log, stdout, setLogLevel });
    const policies = config.authorization.policies.length;
    const routes = config.routes.map(({ path, upstream, legacy }) => ({
      path,
      upstream: withoutQuery(upstream.url),
      legacy,
    }));
    log.info(
      {
        url: running.url,
        admin: running.adminUrl,
        routes,
        authentication: config.authentication.mode,
        authorization: `default ${config.authorization.default}, ${policies === 1 ? "1 policy" : `${policies} policies`}`,
        store: config.redemption.store,
      },
      "sealgate is listening",
    );
    // Without a file there is nothing to read again, and a terminal that closes ends the process.
    if (loaded.source !== undefined) process.on("SIGHUP", () => void running.reload());
    const others: Signals[] = loaded.source === undefined ? ["SIGQUIT", "SIGHUP"] : ["SIGQUIT"];
    return await untilClosed(running, { log, flush, others, grace: config.server.shutdownGrace, stopping });
  } catch (error) {
    const reason = startFailure(error, config, options.config === undefined);
    log.error({ reason, err: error }, "sealgate cannot start");
    stderr.write(`sealgate: cannot start: ${reason}\n`);
    await flush();
    return EXIT.unavailable[0];
  }
}

async function load(options: { config?: string; upstream?: string; listen?: string }): Promise<LoadedConfig> {
  if (options.config !== undefined) return loadConfig(options.config, process.env);
  const config = quickConfig(
    options.upstream ?? "",
    options.listen === undefined ? {} : parseListen(options.listen),
  );
  return {
    config,
    warnings: [
      "quickstart: loopback only, anonymous (every program on this machine may call, and a state is bound to no caller), everything allowed, legacy traffic passed, states in memory under a random key",
    ],
    secrets: { ...NO_UPSTREAM_SECRETS, keys: [], jwksFiles: new Map() },
  };
}
