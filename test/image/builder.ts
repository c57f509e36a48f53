/**
 * Builds the project's Dockerfile, as it stands, with buildah on the stand-in base, and opens what comes out. Build stages
 * are kept between runs, so that a run without a change of dependencies installs nothing.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { program } from "../support/debian.ts";
import { BASE, CACHE, demandRoot, standInBase } from "./base.ts";

const run = promisify(execFile);
/** Where Debian keeps the certificate authorities it trusts, all in one file. */
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** Stores of other dependencies or another base are deleted after this time, in milliseconds. */
const STALE_MS = 7 * 24 * 3_600_000;

/** What the image says of itself (the configuration in Docker's format). */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Healthcheck?: { readonly Test?: readonly string[]; readonly Interval?: number };
  readonly Labels?: Readonly<Record<string, string>>;
  readonly StopSignal?: string;
  readonly Volumes?: Readonly<Record<string, object>>;
}

export interface Builder {
  /** Builds a target and names it. `dockerfile` is that of the context unless given. */
  build(options: {
    readonly context: string;
    readonly target?: string;
    readonly tag: string;
    readonly dockerfile?: string;
  }): Promise<void>;
  config(tag: string): Promise<{ readonly config: ImageConfig; readonly history: readonly string[] }>;
  /** The archives of the layers above the base, lowest first, in a folder of their own. */
  layers(tag: string): Promise<readonly string[]>;
  /** A root file system made of the image, writable, one's own until the end of the test. */
  mount(tag: string): Promise<string>;
}

/** Opens the store. What is mounted or written beside it is gone after the test; the stages that builds are made of stay. */
export async function openBuilder(t: { teardown(run: () => unknown): void }): Promise<Builder> {
  demandRoot();
  const buildah = await program("buildah", { debian: "buildah" });
  const { tar, key } = await standInBase();
  const store = join(CACHE, `store-${key}`);
  await mkdir(store, { recursive: true });
  await dropStale(store);
  const folder = await mkdtemp(join(tmpdir(), "sealgate-image-"));
  const containers: string[] = [];
  const places = ["--root", join(store, "root"), "--runroot", join(store, "run")];
  const b = async (...args: string[]): Promise<string> => {
    const all = [...places, "--storage-driver", "overlay", ...args];
    const options = { maxBuffer: 1e9, env: { ...process.env, TMPDIR: folder } };
    const { stdout } = await run(buildah, all, options).catch((error: { stdout: string; stderr: string }) => {
      const last = `${error.stdout}\n${error.stderr}`.trim().split("\n").slice(-25);
      throw new Error(`buildah ${args[0]} failed:\n${last.join("\n")}`);
    });
    return stdout.trim();
  };
  t.teardown(async () => {
    for (const container of containers) await b("rm", container).catch(() => undefined);
    await b("rmi", "--prune").catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });
  const mounts = await npmMounts(folder);
  if ((await b("images", "--quiet", "--filter", `reference=${BASE}`)) === "") await importBase(b, tar);
  const baseLayers = new Set(await layersOf(b, BASE));

  return {
    async build({ context, target, tag, dockerfile }) {
      await b(
        ...["bud", "--isolation", "chroot", "--pull-never", "--format", "docker", "--layers"],
        ...mounts,
        ...(target === undefined ? [] : ["--target", target]),
        ...(dockerfile === undefined ? [] : ["--file", dockerfile]),
        ...["--tag", tag, context],
      );
    },
    async config(tag) {
      const { Docker } = JSON.parse(await b("inspect", "--type", "image", tag)) as {
        Docker: { config: ImageConfig; history: readonly { created_by?: string }[] };
      };
      return { config: Docker.config, history: Docker.history.map(({ created_by = "" }) => created_by) };
    },
    async layers(tag) {
      const to = join(folder, `layers-${(await readdir(folder)).length}`);
      await b("push", "--quiet", "--format", "v2s2", "--disable-compression", tag, `dir:${to}`);
      return (await layersOf(b, tag))
        .filter((digest) => !baseLayers.has(digest))
        .map((digest) => join(to, digest.replace("sha256:", "")));
    },
    async mount(tag) {
      const container = await b("from", "--pull-never", tag);
      containers.push(container);
      return b("mount", container);
    },
  };
}

async function importBase(b: (...args: string[]) => Promise<string>, tar: string): Promise<void> {
  const container = await b("from", "scratch");
  await b("add", "--quiet", container, tar, "/");
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  await b("config", "--env", path, "--cmd", "node", container);
  await b("commit", "--quiet", "--rm", "--format", "docker", container, BASE);
}

/** Digests of the uncompressed layers, lowest first. */
async function layersOf(b: (...args: string[]) => Promise<string>, tag: string): Promise<string[]> {
  const { Docker } = JSON.parse(await b("inspect", "--type", "image", tag)) as {
    Docker: { rootfs: { diff_ids: string[] } };
  };
  return Docker.rootfs.diff_ids;
}

/**
 * What npm in the build needs to reach the registry that npm on this machine uses, as flags of the build: its settings, and
 * a certificate authority where the machine has one of its own. The Dockerfile knows nothing of them.
 */
async function npmMounts(folder: string): Promise<string[]> {
  const get = async (name: string): Promise<string> => {
    const value = (await run("npm", ["config", "get", name])).stdout.trim();
    return value === "null" || value === "undefined" ? "" : value;
  };
  const settings: string[] = [];
  for (const name of ["registry", "https-proxy", "proxy", "noproxy", "strict-ssl"]) {
    const value = await get(name);
    if (value !== "") settings.push(`${name}=${value}`);
  }
  const flags: string[] = [];
  const authority = (await get("cafile")) || (process.env["NODE_EXTRA_CA_CERTS"] ?? "");
  if (authority !== "" && existsSync(authority)) {
    settings.push(`cafile=${CERTIFICATES}`);
    flags.push("--volume", `${await realpath(authority)}:${CERTIFICATES}:ro`);
  }
  const npmrc = join(folder, "npmrc");
  await writeFile(npmrc, `${settings.join("\n")}\n`);
  flags.push("--volume", `${npmrc}:/usr/local/etc/npmrc:ro`);
  const user = await get("userconfig");
  // Where a registry wants a token, it stands there.
  if (existsSync(user) && (await readFile(user, "utf8")).includes("_auth")) {
    flags.push("--volume", `${user}:/root/.npmrc:ro`);
  }
  return flags;
}

async function dropStale(inUse: string): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    const isOther = /^(store|base|draft)-/.test(name) && !inUse.endsWith(name.replace(/^base-|\.tar$/g, ""));
    if (isOther && Date.now() - (await stat(path)).mtimeMs > STALE_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}
