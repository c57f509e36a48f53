/**
 * "From nothing to a sealed round trip" in the README, command by command as it stands there: only ports are others, since
 * those may be taken, and the first command has been run by whoever runs tests.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { fences, page, ROOT, section } from "../support/markdown.ts";

const [block] = fences(section(page("README.md"), "From nothing to a sealed round trip"));
const COMMANDS = block?.body.trimEnd().split("\n") ?? [];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** A command line in a shell, in a group of its own so that what npx starts ends with it. */
function run(line: string, cwd: string): ChildProcess & { printed(): string } {
  const child = spawn("sh", ["-c", line], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  }
  return Object.assign(child, { printed: () => text });
}

/** Resolves once a running command has printed `words`; it never ends by itself. */
function until(child: ReturnType<typeof run>, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (child.printed().includes(words)) resolve();
    };
    child.stdout?.on("data", look);
    child.once("close", (code) => reject(new Error(`ended with ${code}: ${child.printed()}`)));
    look();
  });
}

t.setTimeout(120_000);
t.test("the five commands of the README", async (t) => {
  t.equal(COMMANDS.length, 5);
  const ports = new Map([
    ["3001", String(await freePort())],
    ["8080", String(await freePort())],
  ]);
  const [install, server = "", init = "", serve = "", call = ""] = COMMANDS.map((line) =>
    line.replaceAll(/(?<=127\.0\.0\.1:)(3001|8080)\b/g, (port) => ports.get(port) ?? port),
  );
  t.equal(install, "npm ci");
  const folder = mkdtempSync(join(tmpdir(), "sealgate-first-"));
  for (const name of ["src", "demo", "node_modules", "package.json"])
    symlinkSync(join(ROOT, name), join(folder, name));
  const running: ReturnType<typeof run>[] = [];
  t.teardown(async () => {
    for (const child of running) {
      if (child.pid === undefined || child.exitCode !== null) continue;
      const closed = once(child, "close");
      process.kill(-child.pid, "SIGTERM");
      await closed;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (line: string, words: string): Promise<void> => {
    const child = run(line, folder);
    running.push(child);
    await until(child, words);
  };
  const finish = async (line: string): Promise<string> => {
    const child = run(line, folder);
    const [code] = await once(child, "close");
    t.equal(code, 0, child.printed());
    return child.printed();
  };
  await start(server, "server is listening");
  t.match(await finish(init), "Written:");
  await start(serve, "sealgate is listening");
  const sealed = await finish(call);
  t.match(sealed, /^state +sg1\.[\w-]+…$/m);
  t.match(sealed, /^question +Send 50 to acct-9\?$/m);
  t.match(sealed, /^result +sent 50 to acct-9$/m);
  // What the text says beside the commands; without npx, which takes its time.
  const direct = call.replace(/^npx node/, process.execPath);
  const bare = await finish(direct.replace(`:${ports.get("8080")}/`, `:${ports.get("3001")}/`));
  t.match(bare, /^state +eyJ/m);
  const hidden = run(direct.replace(/transfer .*/, "delete_everything"), folder);
  await once(hidden, "close");
  t.match(hidden.printed(), "Unknown tool");
});
