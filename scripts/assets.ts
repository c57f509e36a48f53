/** Puts the console's page beside what is compiled, as it stands. An argument names another folder than dist. */
import { cpSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const dist = resolve(process.argv[2] ?? `${ROOT}/dist`);

cpSync(`${ROOT}/src/console/assets`, `${dist}/console/assets`, { recursive: true });
