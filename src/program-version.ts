/** The version of this program. */
import { readFileSync } from "node:fs";

/** As `package.json` says. */
export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
