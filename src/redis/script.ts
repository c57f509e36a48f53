/** A script that Redis runs, atomically, and the name Redis knows it by. */
import { createHash } from "node:crypto";

/** Text and name of a script. */
export interface Script {
  readonly text: string;
  /** Hex SHA-1 of the text, for EVALSHA. */
  readonly sha: string;
}

/** Makes a script of Lua text. */
export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
