/** How a gateway starts, and what it says when it cannot: on standard error for people, in the log for machines, with exit code 69. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { startProcess } from "../support/process.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

async function serve(...args: string[]): Promise<{ code: number | null; lines: unknown[]; err: string }> {
  const child = spawn(process.execPath, [MAIN, "serve", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [code, out, err] = await Promise.all([
    new Promise<number | null>((resolve) => child.once("close", resolve)),
    text(child.stdout),
    text(child.stderr),
  ]);
  const lines = out.split("\n").filter(Boolean);
  return { code, lines: lines.map((line) => JSON.parse(line) as unknown), err };
}

/** A port that another listener has. */
async function taken(t: Test): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

function configFile(t: Test, sections: object): string {
  const file = join(mkdtempSync(join(tmpdir(), "sealgate-start-")), "sealgate.yaml");
  t.teardown(() => rmSync(dirname(file), { recursive: true }));
  const config = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: "http://127.0.0.1" },
    authentication: { mode: "anonymous" },
    routes: [{ path: "/mcp", upstream: { url: "http://127.0.0.1:9/mcp" } }],
    ...sections,
  };
  writeFileSync(file, stringify(config));
  return file;
}

t.test("an address in use, by the setting that names it", async (t) => {
  const port = await taken(t);
  const at = `127.0.0.1:${port}`;
  const cases: [args: string[], setting: string][] = [
    [["--config", configFile(t, { server: { listen: at } })], "server.listen"],
    [["--config", configFile(t, { admin: { listen: at } })], "admin.listen"],
    [["--upstream", "http://127.0.0.1:9/mcp", "--listen", at], "--listen"],
  ];
  for (const [args, setting] of cases) {
    const { code, lines, err } = await serve(...args);
    const reason = `${at} (${setting}) is in use by another process`;
    t.equal(code, 69, setting);
    t.equal(err, `sealgate: cannot start: ${reason}\n`);
    t.match(lines.at(-1), {
      level: "error",
      msg: "sealgate cannot start",
      reason,
      err: { type: "Error", code: "EADDRINUSE", message: /address already in use/ },
    });
  }
});

t.test("an address of another machine", async (t) => {
  const file = configFile(t, { server: { listen: "192.0.2.1:8080", publicUrl: "https://a.example" } });
  const { code, lines, err } = await serve("--config", file);
  t.equal(code, 69);
  t.equal(err, "sealgate: cannot start: 192.0.2.1:8080 (server.listen) is no address of this machine\n");
  t.match(lines.at(-1), { level: "error", err: { code: "EADDRNOTAVAIL" } });
});

t.test("an audit file that cannot be opened", async (t) => {
  const file = configFile(t, { audit: { sinks: [{ type: "stdout" }, { type: "file", path: "audit" }] } });
  const audit = join(dirname(file), "audit");
  mkdirSync(audit);
  const { code, lines, err } = await serve("--config", file);
  t.equal(code, 69);
  t.equal(err, `sealgate: cannot start: ${audit} (audit.sinks[1].path) is a folder\n`);
  t.match(lines.at(-1), { level: "error", reason: /is a folder/, err: { code: "EISDIR" } });
});

t.test("the line about what is in force counts policies as people do", async (t) => {
  const route = { path: "/mcp", upstream: { url: "http://127.0.0.1:9/mcp" } };
  const policies = [
    { id: "a", effect: "allow" },
    { id: "b", effect: "deny", tools: ["x"] },
  ];
  for (const [count, words] of ["0 policies", "1 policy", "2 policies"].entries()) {
    const authorization = { default: "deny", policies: policies.slice(0, count) };
    const gateway = await startProcess(t, { authorization, routes: [route] });
    const line = await gateway.line(({ msg }) => msg === "sealgate is listening");
    t.equal(line["authorization"], `default deny, ${words}`);
  }
});
