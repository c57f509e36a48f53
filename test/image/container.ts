/**
 * Runs what an image says in a root file system of it, as an engine would: first process of its own process namespace, the
 * image's user, no capabilities, no new privileges, everything read-only, no shell. The network is the machine's.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { program } from "../support/debian.ts";
import type { ImageConfig } from "./builder.ts";

/** `$1` root, `$2` how many binds, then pairs FROM TO, then the program. Shells are covered by something that cannot be run. */
const ENTER = `
root=$1; count=$2; shift 2
mount --bind "$root" "$root"
while [ "$count" -gt 0 ]; do mount --bind "$1" "$root$2"; mount -o remount,bind,ro "$root$2"; shift 2; count=$((count - 1)); done
for shell in "$root"/usr/bin/*sh; do [ ! -f "$shell" ] || [ -L "$shell" ] || mount --bind /dev/null "$shell"; done
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mount -o remount,bind,ro "$root"
cd /
exec "$@"
`;

/** A running container. */
export interface Container {
  /** The first process, by its number on this machine. */
  readonly pid: number;
  readonly out: () => string;
  readonly err: () => string;
  /** The first whole line of standard output that holds this text. */
  line(text: string): Promise<string>;
  /** Runs another program in it, as a health check is run. */
  exec(
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** A line of `/proc/PID/status`. */
  status(name: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** The words that drop every privilege and become the image's user. */
function dropped({ User = "0" }: ImageConfig): string[] {
  const [uid = "0", gid = uid] = User.split(":");
  return [
    ...["/usr/bin/setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", "--no-new-privs"],
    ...["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--"],
  ];
}

/**
 * Starts it; it is killed at teardown.
 * @param options `args` in the place of the image's CMD; `binds`: place in the image → file or folder here, read-only
 */
export async function startContainer(
  t: { teardown(run: () => unknown): void },
  root: string,
  config: ImageConfig,
  options: { readonly args?: readonly string[]; readonly binds?: Readonly<Record<string, string>> } = {},
): Promise<Container> {
  const [unshare, nsenter] = await Promise.all([
    program("unshare", { debian: "util-linux" }),
    program("nsenter", { debian: "util-linux" }),
  ]);
  const binds = Object.entries(options.binds ?? {});
  for (const [place] of binds) await mkdir(join(root, place), { recursive: true });
  const args = [...(config.Entrypoint ?? []), ...(options.args ?? config.Cmd ?? [])];
  const env = config.Env ?? [];
  const child = spawn(
    unshare,
    [
      ...["--mount", "--pid", "--fork", "--propagation", "private"],
      ...[
        "sh",
        "-euc",
        ENTER,
        "enter",
        root,
        String(binds.length),
        ...binds.flatMap(([to, from]) => [from, to]),
      ],
      ...["env", "-i", ...env, "chroot", root, ...dropped(config), ...args],
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const { out, err, line } = read(child);
  const pid = await firstProcess(child, err);
  t.teardown(async () => {
    // Not its parent, whose end it outlives: with its user it has lost the signal that was to tell it.
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    await ended;
  });
  return {
    pid,
    out,
    err,
    line,
    ended,
    kill: (signal) => void process.kill(pid, signal),
    async status(name) {
      const text = await readFile(`/proc/${pid}/status`, "utf8");
      return new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "m").exec(text)?.[1] ?? "";
    },
    exec: (words) => {
      const into = ["--target", String(pid), "--mount", "--pid", "--root", "--wdns=/", ...dropped(config)];
      return new Promise((resolve) => {
        // Nothing of the surroundings of this test, as in the container itself.
        execFile("env", ["-i", ...env, nsenter, ...into, ...words], (error, out, err) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err });
        });
      });
    },
  };
}

/** The number on this machine of the process that `unshare` has made; it is the container's number 1. */
async function firstProcess(child: ChildProcess, err: () => string): Promise<number> {
  for (;;) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`the container ended: ${err()}`);
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").catch(() => "");
    const pid = Number(children.trim().split(" ")[0]);
    if (pid > 0) return pid;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function read(child: ChildProcess): Pick<Container, "out" | "err" | "line"> {
  const told = { out: "", err: "" };
  const waiting = new Set<() => void>();
  child.stderr?.on("data", (piece) => {
    told.err += String(piece);
  });
  if (child.stdout === null) throw new Error("no standard output");
  createInterface({ input: child.stdout }).on("line", (text) => {
    told.out += `${text}\n`;
    for (const look of waiting) look();
  });
  return {
    out: () => told.out,
    err: () => told.err,
    line: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = told.out.split("\n").find((line) => line.includes(text));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        child.once("close", (code) => reject(new Error(`ended with ${code}: ${told.err}${told.out}`)));
        look();
      }),
  };
}
