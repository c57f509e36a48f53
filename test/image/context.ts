/** A build context as people have it: the checkout, with what must stay out of images lying about in it. */
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../support/markdown.ts";

/** What a checkout holds that nobody wants to copy. */
const HEAVY = new Set(["node_modules", "dist", ".git", ".tap", ".cache", "coverage"]);

/** A word that is in every planted file and nowhere else. */
export const CANARY = "Canary7Yx0kfQ2mVnGd5Wm";

/** Files that must have no way into a layer, by path. */
export const PLANTED: Readonly<Record<string, string>> = {
  ".npmrc": `//registry.example/:_authToken=${CANARY}\n`,
  ".env": `SEALGATE_KEY=${CANARY}\n`,
  ".git/config": `[remote]\n url = https://user:${CANARY}@git.example/x\n`,
  "secrets/key-2026-11": `${CANARY}\n`,
  "docker/secrets/keys/key-1": `${CANARY}\n`,
  "config/secrets/key": `${CANARY}\n`,
  "config/production.key": `${CANARY}\n`,
  "src/.env": `KEY=${CANARY}\n`,
  "src/commands/id_ed25519": `-----BEGIN OPENSSH PRIVATE KEY-----\n${CANARY}\n`,
  "demo/tls.pem": `-----BEGIN PRIVATE KEY-----\n${CANARY}\n`,
  "dist/main.js": `// ${CANARY}\n`,
  "node_modules/planted/index.js": `// ${CANARY}\n`,
  "sealgate.yaml": `# ${CANARY}\n`,
};

/**
 * Copies the checkout into a folder of its own and plants `PLANTED` in it. All modes are those of an umask of 077, under
 * which only the owner of a checkout could read what is copied from it.
 */
export async function plantedContext(
  t: { teardown(run: () => unknown): void },
  from = ROOT,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-context-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(from)) {
    if (HEAVY.has(name)) continue;
    await cp(join(from, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  for (const [path, text] of Object.entries(PLANTED)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) await chmod(path, entry.isDirectory() ? 0o700 : 0o600);
  }
  return folder;
}
