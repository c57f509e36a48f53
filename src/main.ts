#!/usr/bin/env node
/**
 * The program: Node's version, then argv → command. This file imports nothing before it has looked at the version,
 * and its text is plain enough for every Node that knows modules.
 */
const OLDEST = 24;

if (Number(process.versions.node.split(".")[0]) < OLDEST) {
  process.stderr.write(
    `sealgate needs Node ${OLDEST} or newer, this is ${process.versions.node}; in its own folder "npx node …" and the npm scripts use the one that npm ci brought (Linux)\n`,
  );
  process.exitCode = 1;
} else {
  const [command] = process.argv.slice(2);
  const heard =
    command === "serve"
      ? import("./commands/stop-signals.ts").then(({ hearStopSignals }) => hearStopSignals())
      : Promise.resolve();
  heard
    .then(() => import("./command-line.ts"))
    .then(async ({ run }) => {
      process.exitCode = await run(process.argv.slice(2));
    });
}
