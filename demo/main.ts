/** `npm run demo`: starts everything on this machine, tells the story, and says by its exit code whether it was true. */
import { parseArgs } from "node:util";
import { auditLine, commands } from "./by-hand.ts";
import { openStage, type Stage } from "./stage.ts";
import { tell } from "./story.ts";
import { createTeller } from "./terminal.ts";

const USAGE = `Usage: npm run demo [-- --keep]

Starts an issuer, an unprotected MCP server and the gateway on this machine, and attacks them.

  --keep    leave all of it running afterwards and print commands to try by hand

Exit code: 0 every line came out as told, 1 one did not, 2 wrong usage`;

/** Resolved when whoever read the output has gone (`npm run demo | head`): the story goes on to its end, and prints nothing. */
const unread = new Promise<void>((resolve) => {
  process.stdout.on("error", () => resolve());
});

const print = (line: string): void => {
  if (process.stdout.writable) process.stdout.write(`${line}\n`);
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const options = parse(args);
  if (options === undefined) return 2;
  if (options.help) {
    print(USAGE);
    return 0;
  }
  const started = performance.now();
  const teller = createTeller(print);
  const stage = await openStage().catch((error: unknown) => {
    process.stderr.write(`the demo cannot start: ${error instanceof Error ? error.message : error}\n`);
  });
  if (stage === undefined) return 1;
  try {
    introduce(stage);
    await tell(stage, teller);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print("");
    print(
      teller.failed === 0
        ? `All ${teller.steps} lines came out as told, in ${seconds} s.`
        : `${teller.failed} of ${teller.steps} lines did not come out as told.`,
    );
    for (const error of stage.errors) print(`the gateway logged an error: ${error}`);
    if (options.keep) await keep(stage);
    else print("To try it by hand: npm run demo -- --keep");
  } finally {
    await stage.close();
  }
  return teller.failed === 0 && stage.errors.length === 0 ? 0 : 1;
}

function parse(args: string[]): { readonly keep: boolean; readonly help: boolean } | undefined {
  try {
    const options = { keep: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
    const { keep = false, help = false } = parseArgs({ args, options }).values;
    return { keep, help };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : "wrong usage"}\n\n${USAGE}\n`);
    return undefined;
  }
}

function introduce({ issuer, server, gatewayUrl, moved }: Stage): void {
  print("Sealgate: the demo. Everything runs in this process; nothing leaves this machine.");
  print("");
  print(`   issuer     ${issuer.issuer.padEnd(30)} signs tokens for alice and bob`);
  print(`   server     ${server.url.padEnd(30)} unprotected, believes its requestState`);
  print(`   gateway    ${gatewayUrl.padEnd(30)} config/quickstart.yaml`);
  if (moved) print("   (some ports of config/quickstart.yaml are taken here, so free ones are used)");
}

/** Prints the commands, then a line for each request, until Ctrl-C or SIGTERM. */
async function keep(stage: Stage): Promise<void> {
  print("");
  print("All of it keeps running until Ctrl-C. Paste into another terminal:");
  print("");
  print(commands(stage));
  print("The audit log, as it comes:");
  print("");
  stage.onAudit((record) => print(auditLine(record)));
  const signal = new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await Promise.race([signal, unread]);
}
