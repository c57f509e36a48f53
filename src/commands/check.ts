/** `sealgate check`: everything `serve` would refuse at start, without starting. */
import { loadConfig } from "../config/load.ts";
import { EXIT } from "./exit.ts";

/**
 * Prints warnings to standard error and `FILE: ok` to standard output.
 * @returns the exit code 0
 * @throws ConfigError, ConfigFileError; the command line prints them
 */
export async function check(options: { readonly config: string }): Promise<number> {
  const { warnings } = await loadConfig(options.config, process.env);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  process.stdout.write(`${options.config}: ok\n`);
  return EXIT.ok[0];
}
