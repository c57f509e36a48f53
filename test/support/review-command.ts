/** `sealgate review` in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** How it ended, and what it wrote. */
export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A review under way; it is killed at teardown if it still runs. */
export interface ReviewProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
}

/** Starts it. @param env beside that of the test */
export function startReview(
  t: Pick<Test, "teardown">,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ReviewProcess {
  const child = spawn(process.execPath, [MAIN, "review", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  t.teardown(() => {
    process.removeListener("exit", kill);
    kill();
  });
  const texts = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    texts.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    texts.err += chunk.toString();
  });
  const ended = new Promise<Outcome>((done) => child.on("close", (code) => done({ code, ...texts })));
  return { child, ended };
}

/** Runs it to its end. */
export const reviewed = (t: Pick<Test, "teardown">, ...args: readonly string[]): Promise<Outcome> =>
  startReview(t, args).ended;
