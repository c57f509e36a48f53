/** `sealgate check`: everything `serve` would refuse at start, without starting. */
import { loadConfig } from "../config/load.ts";
import { loadRingView } from "../config/ring-view.ts";
import { rotationFaults } from "../rotation.ts";
import { EXIT } from "./exit.ts";

/**
 * Prints warnings to standard error and `FILE: ok` to standard output.
 * @param options `previous`: the configuration in force, of which only the keys section is read
 * @returns the exit code 0
 * @throws ConfigError, ConfigFileError; the command line prints them
 */
export async function check(options: {
  readonly config: string;
  readonly previous?: string | undefined;
}): Promise<number> {
  const { config, warnings } = await loadConfig(options.config, process.env);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  if (options.previous !== undefined) {
    const now = Date.now() / 1000;
    const before = await loadRingView(options.previous, now);
    const after = await loadRingView(options.config, now);
    if (before !== undefined && after !== undefined) {
      for (const fault of rotationFaults(before, after, config.server.replicas)) {
        process.stderr.write(`warning: ${options.config}: keys: ${fault}\n`);
      }
    }
  }
  process.stdout.write(`${options.config}: ok\n`);
  return EXIT.ok[0];
}
