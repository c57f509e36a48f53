/** What must not be in a layer: looks into the archive of each, so that a file deleted by a later layer is seen as well. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Names, from the root of the image. Packages bring certificates for tests and the like; contents are judged there, too. */
const NAMES: readonly RegExp[] = [
  /(^|\/)\.(npmrc|env[^/]*|git|netrc|aws|ssh|docker|npm)(\/|$)/,
  /(^|\/)(id_(rsa|ecdsa|ed25519)|credentials|npm-debug\.log)$/,
  /\.(pem|key|p12|pfx|jks)$/,
  /(^|\/)\.?secrets?\//,
  /^app\/(test|bench|fuzz|chaos|docs|\.tap|\.cache|docker|kubernetes)\//,
  /\.test\.[cm]?[jt]s$/,
];
const CONTENT = /-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n[A-Za-z0-9+/=]{16}|_authToken\s*=|_password\s*=/;

/** One thing that should not be there. */
export interface Leak {
  readonly layer: string;
  readonly path: string;
  readonly why: "name" | "content";
}

/** @param words more that no file may hold */
export async function leaksIn(layers: readonly string[], words: readonly string[] = []): Promise<Leak[]> {
  const found: Leak[] = [];
  for (const layer of layers) {
    const folder = await mkdtemp(join(tmpdir(), "sealgate-layer-"));
    try {
      await run("tar", ["-xf", layer, "-C", folder, "--no-same-owner"], { maxBuffer: 1e8 });
      for (const path of await filesOf(folder)) {
        for (const why of await judge(folder, path, words)) found.push({ layer: basename(layer), path, why });
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return found;
}

/** The paths of all files of layers, lowest layer first. */
export async function filesIn(layers: readonly string[]): Promise<string[]> {
  const lists = layers.map(async (layer) => {
    const { stdout } = await run("tar", ["-tf", layer], { maxBuffer: 1e8 });
    return stdout.split("\n").filter((path) => path !== "" && !path.endsWith("/"));
  });
  return (await Promise.all(lists)).flat();
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

async function judge(folder: string, path: string, words: readonly string[]): Promise<Leak["why"][]> {
  const file = join(folder, path);
  // The place where a build flag mounted something is left behind, empty.
  if ((await stat(file)).size === 0) return [];
  const text = await readFile(file, "latin1");
  const bad = CONTENT.test(text) || words.some((word) => text.includes(word));
  const named = NAMES.some((pattern) => pattern.test(path));
  return [...(named ? (["name"] as const) : []), ...(bad ? (["content"] as const) : [])];
}
