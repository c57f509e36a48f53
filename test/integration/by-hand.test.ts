/** docs/by-hand.md: the commands as they stand there, with the demo's server behind the gateway. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { startServer } from "../../demo/server.ts";
import { program } from "../support/debian.ts";
import { startGateway } from "../support/gateway.ts";
import { fences, page } from "../support/markdown.ts";

const run = promisify(execFile);
const [first = "", second = ""] = fences(page("docs/by-hand.md"))
  .filter(({ language }) => language === "sh")
  .map(({ body }) => body);

t.test("a call and its retry with curl, and what spoils them", async (t) => {
  await program("curl", { debian: "curl" });
  const server = await startServer({ host: "127.0.0.1", port: 0, exact: true }, "/mcp");
  t.teardown(() => server.close());
  const gateway = await startGateway(server.url, { capability: { allow: ["elicitation.form"] } });
  t.teardown(() => gateway.close(0));
  const folder = mkdtempSync(join(tmpdir(), "sealgate-hand-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const shell = async (line: string, file: string): Promise<unknown> => {
    const fitted = line.replaceAll("http://127.0.0.1:8080", gateway.url);
    t.not(fitted, line, "it goes to the gateway");
    await run("sh", ["-c", fitted], { cwd: folder });
    return JSON.parse(readFileSync(join(folder, file), "utf8").replace(/^[\s\S]*?data: (?=\{)/, ""));
  };

  const bare = first.replace(/-H "MCP-Protocol-Version: [^"]+" /, "");
  t.not(bare, first);
  t.match(await shell(bare, "first.json"), { error: { data: { reason: "header_mismatch" } } });
  const asked = await shell(first, "first.json");
  t.match(asked, {
    result: { resultType: "input_required", requestState: /^sg1\./, inputRequests: { confirm: {} } },
  });
  t.match(await shell(second.replaceAll('"amount":50', '"amount":5000'), "second.json"), {
    error: { data: { reason: "invalid_request_state" } },
  });
  t.match(await shell(second, "second.json"), { result: { content: [{ text: "sent 50 to acct-9" }] } });
  t.match(await shell(second, "second.json"), { error: { data: { reason: "already_redeemed" } } });
  t.same(server.ledger, [{ to: "acct-9", amount: 50 }], "it was sent once");
});
