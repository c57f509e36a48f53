/**
 * A stand-in for the base image, made of Debian's packages and this machine's Node and npm, under the real name: the tests
 * have no registry of images. What it cannot prove is in docs/containers.md.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { program } from "../support/debian.ts";

const run = promisify(execFile);

/** The name in the Dockerfile. */
export const BASE = "docker.io/library/node:24-bookworm-slim";

/** Where what is dear is kept between runs, for all checkouts of this user. */
export const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sealgate-image");

/** Chroots, mounts and package installation need root; a test that cannot run must not look like one that passed. */
export function demandRoot(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new Error(
      "The image tests need root on Linux, with Debian's packages: they make chroots and mounts",
    );
  }
}

/** The folder of the npm that runs this, or of the one on PATH. */
async function npmFolder(): Promise<string> {
  const script = process.env["npm_execpath"] ?? (await run("sh", ["-c", "command -v npm"])).stdout.trim();
  return dirname(dirname(await realpath(script)));
}

/** What is done inside the new system: `$1` is its root. */
const SETUP = `
install -D -m 755 "$NODE" "$1/usr/local/bin/node"
mkdir -p "$1/usr/local/lib/node_modules"
cp -a "$NPM" "$1/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/usr/local/bin/npx"
chroot "$1" groupadd --gid 1000 node
chroot "$1" useradd --uid 1000 --gid node --create-home node
`;

/** The archive of the stand-in and the key it is cached by: what it is made of. Some 90 s the first time. */
export async function standInBase(): Promise<{ readonly tar: string; readonly key: string }> {
  demandRoot();
  const mmdebstrap = await program("mmdebstrap", { debian: "mmdebstrap" });
  const [node, npm] = [await realpath(process.execPath), await npmFolder()];
  const { version } = JSON.parse(await readFile(join(npm, "package.json"), "utf8")) as { version: string };
  const parts = [BASE, SETUP, process.version, process.arch, version];
  const key = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 12);
  const tar = join(CACHE, `base-${key}.tar`);
  if (existsSync(tar)) return { tar, key };
  await mkdir(CACHE, { recursive: true });
  const draft = join(CACHE, `draft-${process.pid}.tar`);
  try {
    const options = ["--variant=minbase", "--mode=root", "--include=ca-certificates", "--skip=output/dev"];
    await run(mmdebstrap, [...options, `--customize-hook=${SETUP}`, "bookworm", draft], {
      env: { ...process.env, NODE: node, NPM: npm },
      maxBuffer: 1e8,
    });
    await rename(draft, tar);
  } finally {
    await rm(draft, { force: true });
  }
  return { tar, key };
}
