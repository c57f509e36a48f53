/** `sealgate keys list`: the ring of a configuration, without a byte of a secret. */
import { join } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { loadKeyring } from "../keyring.ts";
import { EXIT } from "./exit.ts";
import { tableLines } from "./text-table.ts";

type Keys = NonNullable<Config["keys"]>;

/** The lines of the table. `at` is unix seconds. */
export function ringLines(
  keys: Keys,
  secrets: Parameters<typeof loadKeyring>[0],
  at: number,
): readonly string[] {
  const ring = loadKeyring(secrets, keys.primary, keys.next);
  const rows = ring
    .labels(at)
    .map(({ id, keyId, seals }) => [id, keyId, role(keys, id, seals, at), placeOf(keys, id)]);
  return tableLines([["id", "key id", "role", "secret"], ...rows]);
}

function role({ next }: Keys, id: string, seals: boolean, at: number): string {
  if (seals) return "seals";
  const comes = next?.id === id && next.notBefore > at;
  return comes ? `opens, seals from ${new Date(next.notBefore * 1000).toISOString()}` : "opens";
}

/** Where the secret of a key is, as a text. */
function placeOf({ ring = [], folder = "" }: Keys, id: string): string {
  const secret = ring.find((entry) => entry.id === id)?.secret;
  if (secret === undefined) return join(folder, id);
  return "file" in secret ? secret.file : `$${secret.env}`;
}

/**
 * Prints the ring to standard output.
 * @returns the exit code 0
 * @throws ConfigError, ConfigFileError; the command line prints them
 */
export async function keysList(options: { readonly config: string }): Promise<number> {
  const { config, secrets } = await loadConfig(options.config, process.env);
  if (config.keys === undefined) {
    process.stderr.write("there is no keys section: each process seals with a random key of its own\n");
    return EXIT.ok[0];
  }
  for (const line of ringLines(config.keys, secrets.keys, Date.now() / 1000))
    process.stdout.write(`${line}\n`);
  return EXIT.ok[0];
}
