/** `sealgate serve`: loads, opens, says what was opened, reads its file again on SIGHUP, and drains on SIGTERM and SIGINT. */
import closeWithGrace from "close-with-grace";
import { parseListen } from "../config/addresses.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { quickConfig } from "../config/quick.ts";
import { createLog, tellLosses, withoutQuery } from "../log.ts";
import { openStandard } from "../output.ts";
import { start } from "../start.ts";
import { EXIT } from "./exit.ts";
import { startFailure } from "./start-failure.ts";

/** Time for closing sockets after the grace for requests is over, in milliseconds. */
const CLOSE_MS = 5_000;

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
  const loaded = await load(options);
  const { config, warnings } = loaded;
  const [stdout, stderr] = [openStandard(1), openStandard(2)];
  const log = createLog(config.log.level, stdout);
  tellLosses(stdout, stderr, log);
  for (const warning of warnings) log.warn({ warning }, "configuration");
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
    return await new Promise<number>((resolve) => {
      closeWithGrace(
        {
          delay: config.server.shutdownGrace + CLOSE_MS,
          logger: false,
          skip: loaded.source === undefined ? [] : ["SIGHUP"],
        },
        async ({ signal, err }) => {
          if (err !== undefined) log.error({ err }, "unexpected error, shutting down");
          else log.info({ signal }, "draining");
          try {
            await running.close();
            log.info({}, "closed");
          } catch (failure) {
            log.error({ err: failure }, "closed out of order");
            throw failure;
          } finally {
            // The process ends right after this, and what is not written by then is gone.
            await Promise.all([stdout.flush(), stderr.flush()]);
          }
          resolve(err === undefined ? EXIT.ok[0] : EXIT.fault[0]);
        },
      );
    });
  } catch (error) {
    const reason = startFailure(error, config, options.config === undefined);
    log.error({ reason, err: error }, "sealgate cannot start");
    stderr.write(`sealgate: cannot start: ${reason}\n`);
    await Promise.all([stdout.flush(), stderr.flush()]);
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
      "quickstart: loopback only, anonymous, everything allowed, legacy traffic passed, states in memory under a random key",
    ],
    secrets: { keys: [], credentials: new Map(), upstreamCas: new Map(), jwksFiles: new Map() },
  };
}
