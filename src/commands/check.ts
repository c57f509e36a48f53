/** `sealgate check`: everything `serve` would refuse at start, without starting. */
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { loadRingView } from "../config/ring-view.ts";
import { startOnlyDifferences } from "../config/start-only.ts";
import { readConfig } from "../config/without-files.ts";
import { ConfigError } from "../errors.ts";
import { rotationFaults } from "../rotation.ts";
import { EXIT } from "./exit.ts";

/**
 * Prints warnings to standard error and `FILE: ok` to standard output.
 * @param options `previous`: the configuration in force, of which no file that it names is read; `withoutFiles`: look at nothing
 * that the configuration refers to; `strict`: a warning counts as a problem
 * @returns the exit code: 0, or 78 for a warning with `strict`
 * @throws ConfigError, ConfigFileError; the command line prints them
 */
export async function check(options: {
  readonly config: string;
  readonly previous?: string | undefined;
  readonly withoutFiles: boolean;
  readonly strict: boolean;
}): Promise<number> {
  const { config: file, previous, withoutFiles, strict } = options;
  const loaded = await (withoutFiles ? readConfig(file) : loadConfig(file, process.env));
  const { config, warnings } = loaded;
  const all = [...warnings];
  if (previous !== undefined) {
    const now = Date.now() / 1000;
    const before = await loadRingView(previous, now);
    const after = await loadRingView(file, now);
    if (before !== undefined && after !== undefined) {
      const faults = rotationFaults(before, after, config.server.replicas);
      all.push(...faults.map((fault) => `${file}: keys: ${fault}`));
    }
    all.push(...(await restarts(previous, loaded)));
  }
  for (const warning of all) process.stderr.write(`warning: ${warning}\n`);
  if (strict && all.length > 0) {
    process.stderr.write(
      `sealgate: ${all.length} warning${all.length === 1 ? "" : "s"}, which --strict takes for problems\n`,
    );
    return EXIT.config[0];
  }
  process.stdout.write(`${file}: ok\n`);
  return EXIT.ok[0];
}

/** What a running gateway would refuse the whole file for. */
async function restarts(previous: string, next: LoadedConfig): Promise<string[]> {
  try {
    return startOnlyDifferences(await readConfig(previous), next);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [`${previous}: has problems, so what takes a restart is not known`];
  }
}
