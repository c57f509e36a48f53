/**
 * Lets what was compiled be started by its name: the compiler writes no executable bit. Packages and images take modes as
 * they are. An argument names another folder than dist.
 */
import { chmodSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const dist = resolve(process.argv[2] ?? `${ROOT}/dist`);

chmodSync(`${dist}/main.js`, 0o755);
