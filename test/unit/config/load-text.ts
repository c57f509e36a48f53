/** Loads a configuration from text, for the tests of this folder. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { type LoadedConfig, loadConfig } from "../../../src/config/load.ts";
import { ConfigError } from "../../../src/errors.ts";

/** A file that is sound as it stands. Tests add sections or replace lines. */
export const SOUND = `version: 1
authentication:
  issuers:
    - issuer: https://login.example.com
authorization:
  policies: [{ id: all, effect: allow }]
routes:
  - path: /mcp
    upstream: { url: "http://127.0.0.1:3001/mcp" }
`;

/** Files that stand beside the configuration, with mode 0600. */
export type Files = Readonly<Record<string, string>>;

/** Loads `text`; what was printed has no file name: `line:column path: message`. */
export async function load(
  t: Test,
  text: string,
  files: Files = {},
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly problems: string[]; readonly warnings: string[]; readonly loaded?: LoadedConfig }> {
  const folder = t.testdir({});
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), 0o600);
  }
  const file = join(folder, "gate.yaml");
  writeFileSync(file, text);
  const short = (lines: readonly string[]): string[] => lines.map((line) => line.replace(`${file}:`, ""));
  try {
    const loaded = await loadConfig(file, env);
    return { problems: [], warnings: short(loaded.warnings), loaded };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: short(error.message.split("\n")), warnings: short(error.warnings) };
  }
}
