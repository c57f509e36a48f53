/**
 * The program's commands for tests that try many command lines: all in one process, which has loaded the program once. Where
 * the process itself is the point, tests spawn src/main.ts.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How a command ended, and what it printed. */
export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const HOST = fileURLToPath(new URL("command-host.ts", import.meta.url));

/**
 * Starts the process; it ends with the test.
 * @returns runs a command line, after those that were asked for before; `input` is its standard input
 */
export function openCommands(
  t: { teardown(run: () => unknown): void },
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): (args: readonly string[], input?: string) => Promise<Outcome> {
  const child = fork(HOST, { ...options, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const waiting = new Map<number, PromiseWithResolvers<Outcome>>();
  child.on("message", ({ id, outcome }: { id: number; outcome: Outcome }) => {
    waiting.get(id)?.resolve(outcome);
    waiting.delete(id);
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the commands ended with ${code ?? signal}`));
  });
  t.teardown(() => child.kill("SIGKILL"));
  let nextId = 1;
  return (args, input = "") => {
    const id = nextId++;
    const outcome = Promise.withResolvers<Outcome>();
    waiting.set(id, outcome);
    child.send({ id, args, input });
    return outcome.promise;
  };
}
