/** The example of docs/audit.md, followed by logrotate itself under a gateway that is in use: every request has its record, once and whole. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import t from "tap";
import { program } from "../support/debian.ts";
import { startEdited } from "../support/edited.ts";
import { fences, page } from "../support/markdown.ts";

const WORKERS = 4;
const ROTATIONS = 4;
const call = { method: "tools/call", params: { name: "t", arguments: {} } };

t.test("no record is lost, cut or doubled", { skip: process.platform !== "linux" }, async (t) => {
  const logrotate = await program("logrotate", { debian: "logrotate" });
  const gateway = await startEdited(t, {
    audit: { sinks: [{ type: "file", path: "audit.ndjson" }] },
    routes: [{ path: "/mcp", upstream: { url: "http://127.0.0.1:9/mcp", reachCheck: "off" } }],
  });
  const file = join(gateway.folder, "audit.ndjson");
  const shown = fences(page("docs/audit.md")).find(({ body }) => body.includes("postrotate"))?.body ?? "";
  const { username } = userInfo();
  const group = (await promisify(execFile)("id", ["-gn"])).stdout.trim();
  const ours = [
    ["/var/log/sealgate/audit.ndjson", file],
    ["sealgate sealgate", `${username} ${group}`],
    ["systemctl kill --signal=HUP --kill-whom=main sealgate", `kill -HUP ${gateway.pid}`],
  ] as const;
  let config = shown;
  for (const [theirs, own] of ours) {
    t.equal(config.split(theirs).length, 2, `the example says ${theirs}`);
    config = config.replace(theirs, own);
  }
  const rules = join(gateway.folder, "logrotate.conf");
  writeFileSync(rules, config, { mode: 0o600 });
  const rotate = () =>
    promisify(execFile)(logrotate, ["--force", "--state", join(gateway.folder, "state"), rules]);

  const ids: string[] = [];
  let rotating = true;
  const work = async (): Promise<void> => {
    while (rotating) ids.push(String((await gateway.send(call)).headers["x-request-id"]));
  };
  const workers = Array.from({ length: WORKERS }, work);
  for (let turn = 0; turn < ROTATIONS; turn++) {
    const before = ids.length;
    while (ids.length < before + 20) await new Promise((next) => setTimeout(next, 5));
    await rotate();
  }
  rotating = false;
  await Promise.all(workers);
  gateway.kill("SIGTERM");
  t.equal(await gateway.ended, 0);

  const files = readdirSync(gateway.folder).filter((name) => name.startsWith("audit.ndjson"));
  t.equal(files.length, ROTATIONS + 1, files.join(" "));
  t.ok(files.some((name) => name.endsWith(".gz")));
  const found = files.flatMap((name) => {
    const bytes = readFileSync(join(gateway.folder, name));
    const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
    const records = text.split("\n").filter((line) => line !== "");
    t.ok(records.length > 0, `${name}: ${records.length} records`);
    return records.map((line) => String(JSON.parse(line).requestId));
  });
  t.same(found.sort(), ids.sort(), `${ids.length} requests`);
  t.notOk(gateway.lines.some(({ msg }) => /lost|cannot/.test(String(msg))));
});
