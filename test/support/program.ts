/** The program as people start it, in a process of its own. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./markdown.ts";

/** How a command ended, and what it printed. */
export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `sealgate` with these words, and variables laid over those of this process. */
export function sealgate(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, "src/main.ts"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      out += piece;
    });
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      err += piece;
    });
    child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
  });
}
