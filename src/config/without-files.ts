/** A configuration where what it refers to is not at hand: in a pipeline, or on the machine of whoever wrote it. */
import { NO_UPSTREAM_SECRETS } from "./credential-material.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";

/**
 * Reads, checks and resolves a configuration, and looks at no file and no variable that it names.
 * @param file path of the YAML file
 * @returns what `loadConfig` does, without secrets and without warnings about what it refers to
 * @throws ConfigFileError, ConfigError as `loadConfig` does
 */
export async function readConfig(file: string): Promise<LoadedConfig> {
  return loadConfig(file, {}, Date.now, async () => NOTHING);
}

const NOTHING: LoadedConfig["secrets"] = {
  ...NO_UPSTREAM_SECRETS,
  keys: [],
  jwksFiles: new Map(),
};
