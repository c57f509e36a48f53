/**
 * What is built carries the console's page: every file of it, served as it stands in the sources, and nothing else. And it
 * can be started by its name.
 */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import Fastify from "fastify";
import t from "tap";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ASSETS = join(ROOT, "src/console/assets");
const run = promisify(execFile);

t.test("compiled, with its assets, in the order that npm run build has", async (t) => {
  const { scripts, files, bin } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
    files: string[];
    bin: Record<string, string>;
  };
  t.equal(scripts["build"], "node scripts/clean.ts && node scripts/assets.ts && tsc -p tsconfig.build.json");
  // npm runs it behind build, also where that is given options for the compiler, as in the Dockerfile.
  t.equal(scripts["postbuild"], "node scripts/executable.ts");
  t.equal(bin["sealgate"], "dist/main.js");
  t.ok(files.includes("dist"));
  // Inside the checkout, so that packages are found; a name of its own, so that two runs do not meet.
  const out = join(ROOT, ".cache", `console-build-${process.pid}`);
  await mkdir(out, { recursive: true });
  t.teardown(() => rm(out, { recursive: true, force: true }));
  await run(process.execPath, [join(ROOT, "scripts/assets.ts"), out]);
  // Without what the test runner has children load: the compiler cannot be started with it.
  const compile = 'unset NODE_OPTIONS; exec "$0" -p "$1" --outDir "$2"';
  const [compiler, project] = ["node_modules/.bin/tsc", "tsconfig.build.json"].map((name) =>
    join(ROOT, name),
  );
  await run("sh", ["-c", compile, compiler ?? "", project ?? "", out]).catch(
    // Whatever it says of types is said by `npm run types`; here counts what it writes.
    () => undefined,
  );
  await run(process.execPath, [join(ROOT, "scripts/executable.ts"), out]);
  const { mode } = await stat(join(out, "main.js"));
  t.equal(mode & 0o777, 0o755, "anybody may start it, and only its owner change it");
  t.match((await run(join(out, "main.js"), ["help"])).stdout, /^sealgate: a reverse proxy/);
  t.equal((await stat(join(out, "start.js"))).mode & 0o111, 0, "what is no program is none");
  const { servePage } = (await import(pathToFileURL(join(out, "console/page.js")).href)) as {
    servePage: (app: unknown, on: () => boolean) => void;
  };
  const app = Fastify();
  t.teardown(() => app.close());
  servePage(app, () => true);
  const names = await readdir(ASSETS);
  t.same(await readdir(join(out, "console/assets")), names);
  for (const name of names) {
    const reply = await app.inject(`/console/${name === "index.html" ? "" : name}`);
    t.equal(reply.statusCode, 200, `${name} is served: page.ts names it`);
    t.equal(reply.body, await readFile(join(ASSETS, name), "utf8"));
  }
  for (const path of [
    "/console/page.js",
    "/console/../start.js",
    "/console/%2e%2e/start.js",
    "/console/assets/console.js",
  ])
    t.equal((await app.inject(path)).statusCode, 404, path);
});

t.test("the page loads its own files only, and has no script or style in its markup", async (t) => {
  const html = await readFile(join(ASSETS, "index.html"), "utf8");
  t.notMatch(html, /<style|style=|\son\w+=|https?:|<script(?![^>]*src=)/);
  for (const name of await readdir(ASSETS)) {
    const text = await readFile(join(ASSETS, name), "utf8");
    t.notMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?:\/\/(?!www\.w3\.org)/,
      name,
    );
  }
});
