/** Programs that have children of their own, for tests: they end with all of those. */
import { execFile, spawn } from "node:child_process";
import { createServer } from "node:net";

/** A running program, leader of a process group of its own. */
export interface Detached {
  readonly out: () => string;
  readonly err: () => string;
  /** SIGKILL goes to the whole group: workers do not notice that their master was killed. */
  kill(signal: NodeJS.Signals): void;
  /** Exit code or signal, once nobody of the group holds its output open. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a program; it is killed when this process ends. */
export function startDetached(
  name: string,
  args: readonly string[],
  cwd: string,
  user: { readonly uid?: number; readonly gid?: number } = {},
): Detached {
  const child = spawn(name, args, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"], ...user });
  const told = { out: "", err: "" };
  child.stdout.on("data", (piece) => {
    told.out += String(piece);
  });
  child.stderr.on("data", (piece) => {
    told.err += String(piece);
  });
  const kill = (signal: NodeJS.Signals): void => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    process.kill(signal === "SIGKILL" ? -child.pid : child.pid, signal);
  };
  const orphan = (): void => kill("SIGKILL");
  process.once("exit", orphan);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => {
      process.removeListener("exit", orphan);
      resolve(code ?? signal);
    });
  });
  return { out: () => told.out, err: () => told.err, kill, ended };
}

/** Runs a program to its end. @returns its standard output; throws when it does not end with 0 */
export function run(name: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(name, args, (error, out) => (error === null ? resolve(out) : reject(error)));
  });
}

/** A TCP port that was free on all addresses a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
