/** The demo, run as a user runs it: it tells the truth, beside whatever else runs here, and its commands work when pasted. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createTeller } from "../../demo/terminal.ts";
import { program } from "../support/debian.ts";

const MAIN = fileURLToPath(new URL("../../demo/main.ts", import.meta.url));
const { PATH = "" } = process.env;

function run(
  args: string[],
  env: Record<string, string>,
): ChildProcess & { readonly output: Promise<string> } {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return Object.assign(child, { output: text(child.stdout) });
}

t.test("tells the whole story, plain where NO_COLOR is set", async (t) => {
  const child = run([], { NO_COLOR: "1" });
  const [code] = await once(child, "close");
  const output = await child.output;
  t.equal(code, 0, output);
  const lines = [
    /✓ call transfer +"Send 50 to acct-9\?" yes → sent 50 to acct-9$/m,
    /✓ call delete_everything +Unknown tool/,
    /✓ the server obeys +200 sent 5000 to mallory$/m,
    /✓ one character edited +400 Invalid or expired requestState +aead$/m,
    /✓ used by bob +400 Invalid or expired requestState +principal$/m,
    /✓ used for 5000, not 50 +400 Invalid or expired requestState +params$/m,
    /✓ alice, as it was meant +200 sent 50 to acct-9 +redeemed$/m,
    /✓ replayed +400 This requestState was already redeemed +already_redeemed$/m,
    /✓ 11 minutes later +400 Invalid or expired requestState +expired$/m,
    /✓ what reached the server +1 retry of 8, 1 transfer$/m,
    /✓ url, never declared +400 requires \{"elicitation":\{"url":\{\}\}\} +undeclared$/m,
    /✓ sampling, policy forbids it +403 question_forbidden +sampling$/m,
    /^All \d+ lines came out as told, in [\d.]+ s\.$/m,
  ];
  for (const line of lines) t.match(output, line);
  t.notMatch(output, "✗");
  t.notMatch(output, "\u001b", "no escape sequence");
  t.same(tooLong(output), []);
});

t.test("in colour where that is asked for", async (t) => {
  const child = run([], { FORCE_COLOR: "1" });
  const [code] = await once(child, "close");
  t.equal(code, 0);
  t.match(await child.output, "\u001b[32m✓\u001b[39m");
});

for (const port of [3001, 3002, 8080, 9090]) {
  t.test(`beside another listener on ${port}: the same story, and nothing is sent there`, async (t) => {
    let connections = 0;
    const other = await occupy(port, () => {
      connections += 1;
    });
    t.teardown(() => other?.close());
    const child = run([], { NO_COLOR: "1" });
    const [code] = await once(child, "close");
    const output = await child.output;
    t.equal(code, 0, output);
    t.match(output, /^All 23 lines came out as told,/m);
    t.match(output, "some ports of config/quickstart.yaml are taken");
    t.notMatch(output, new RegExp(`:${port}\\b`));
    t.equal(connections, 0);
  });
}

t.test("a reader that stops early: no word, and the exit code is that of the story", async (t) => {
  for (const args of [[], ["--keep"]]) {
    const child = run(args, { NO_COLOR: "1" });
    const errors = child.stderr === null ? "" : text(child.stderr);
    child.stdout?.once("data", () => child.stdout?.destroy());
    child.output.catch(() => undefined);
    const [code] = await once(child, "exit");
    t.equal(code, 0);
    t.equal(await errors, "");
  }
});

const NO_CURL = await program("curl", { debian: "curl" }).then(
  () => false,
  () => "no curl here",
);

t.test("--keep, beside others: the printed commands work when pasted", { skip: NO_CURL }, async (t) => {
  const others = await Promise.all([8080, 9090, 3001, 3002].map((port) => occupy(port)));
  t.teardown(() => Promise.all(others.map((other) => other?.close())));
  const child = run(["--keep"], { NO_COLOR: "1" });
  t.teardown(() => child.kill("SIGKILL"));
  const printed = await untilPrinted(child, "The audit log, as it comes:");
  t.match(printed, "some ports of config/quickstart.yaml are taken");
  t.notMatch(printed, /:(8080|9090|3001|3002)\b/, "no address that another process has");
  const commands = /another terminal:\n\n([\s\S]*)\n# the MCP Inspector/.exec(printed)?.[1] ?? "";
  const shell = spawnSync("sh", ["-eu"], { input: commands, env: { PATH }, encoding: "utf8" });
  t.equal(shell.status, 0, shell.stderr);
  const [state, yes, again, other, order, ...counted] = shell.stdout.trimEnd().split("\n");
  t.match(state, /^sg1\.[\w-]+$/);
  t.match(yes, '"text":"sent 50 to acct-9"');
  t.match(again, '"reason":"already_redeemed"');
  t.match(other, '"reason":"invalid_request_state"');
  t.equal(order, '{"to":"acct-9","amount":50}');
  t.match(counted.join("\n"), 'sealgate_refusals_total{route="/mcp",code="invalid_request_state"');
  child.kill("SIGINT");
  const [code] = await once(child, "close");
  t.equal(code, 0);
  t.same(tooLong(await child.output), []);
  const audited = (await child.output).split("as it comes:")[1] ?? "";
  t.match(audited, /alice +tools\/call transfer +input_required$/m);
  t.match(audited, /alice +tools\/call transfer +complete +redeemed$/m);
  t.match(audited, /alice +tools\/call transfer +refused +invalid_request_state: params$/m);
});

t.test(
  "a line that does not come out as told is marked and counted, also when its step throws",
  async (t) => {
    const lines: string[] = [];
    const teller = createTeller((line) => lines.push(line));
    await teller.step("right", { sees: "a", cause: "b" }, async () => ({ sees: "a", cause: "b" }));
    t.equal(teller.failed, 0);
    await teller.step("other answer", { sees: "a" }, async () => ({ sees: "b" }));
    await teller.step("other cause", { sees: "a", cause: "b" }, async () => ({ sees: "a", cause: "c" }));
    await teller.step("no cause", { sees: "a", cause: "b" }, async () => ({ sees: "a" }));
    await teller.step("thrown", { sees: "a" }, () => Promise.reject(new Error("broken")));
    t.same([teller.steps, teller.failed], [5, 4]);
    const marked = lines
      .filter((line) => line.includes("✗"))
      .map((line) => line.replace(/^.*✗\S* /, "").trimEnd());
    t.same(
      marked.map((line) => line.split(/ {2,}/)[0]),
      ["other answer", "other cause", "no cause", "thrown"],
    );
  },
);

t.test("wrong usage", async (t) => {
  const child = run(["--keepp"], { NO_COLOR: "1" });
  const [code] = await once(child, "close");
  t.equal(code, 2);
});

/** The lines that do not fit 100 columns. */
const tooLong = (output: string): string[] => output.split("\n").filter((line) => line.length > 100);

/** Takes a port; nothing to do where another process has it already. */
async function occupy(port: number, onConnection = (): void => undefined): Promise<Server | undefined> {
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  const taken = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  return taken ? server : undefined;
}

/** What a child has printed when `end` came. */
function untilPrinted(child: ChildProcess, end: string): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      printed += String(chunk);
      if (printed.includes(end)) resolve(printed);
    });
    child.once("close", () => reject(new Error(`it ended too early:\n${printed}`)));
  });
}
