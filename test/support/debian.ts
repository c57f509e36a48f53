/** Programs that tests need beside Node: from PATH, else installed by the system's package manager when root, else a clear message. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/bin"];

/** Where a program stands, or undefined. Folders for administrators are searched whatever PATH says. */
export function onPath(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...FOLDERS];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Debian starts a service with the package unless policy-rc.d says no; the lock is for test files that run at once. */
const INSTALL = `
set -e
program=$1; debian=$2; alpine=$3
command -v "$program" >/dev/null && exit 0
if command -v apt-get >/dev/null; then
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $debian
elif command -v apk >/dev/null; then
  apk add --no-cache $alpine
else
  exit 1
fi`;

/**
 * The path of a program, installed if need be.
 * @param packages names of the packages that bring it; `alpine` is the same as `debian` unless given
 * @throws Error that says what to install
 */
export async function program(
  name: string,
  packages: { readonly debian: string; readonly alpine?: string },
): Promise<string> {
  const missing = `These tests need ${name} on PATH: install your system's package ${packages.debian}`;
  const there = onPath(name);
  if (there !== undefined) return there;
  if (process.getuid?.() !== 0) throw new Error(missing);
  const lock = join(tmpdir(), "sealgate-install.lock");
  const args = ["sh", "-c", INSTALL, "install", name, packages.debian, packages.alpine ?? packages.debian];
  try {
    await promisify(execFile)("flock", [lock, ...args]);
  } catch (error) {
    throw new Error(missing, { cause: error });
  }
  const installed = onPath(name);
  if (installed === undefined) throw new Error(missing);
  return installed;
}
