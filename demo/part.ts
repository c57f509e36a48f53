/**
 * One part of the demo as a process of its own, for docker-compose.yml: the issuer, the unprotected server, a client that goes
 * through the gateway, and a probe for health checks.
 */
import { parseArgs } from "node:util";
import { startIssuer } from "./issuer.ts";
import type { Address } from "./ports.ts";
import { roundTrip } from "./round-trip.ts";
import { startServer } from "./server.ts";

const USAGE = `Usage: node demo/part.ts PART

  issuer --listen HOST:PORT --name URL        signs tokens for whoever asks; URL is the iss of its tokens
  server --listen HOST:PORT                   the unprotected MCP server, at /mcp
  client --url URL --resource URL --issuer URL [--hidden URL] [--rounds N]
                                              N round trips through the gateway at --url, and attacks on them; the
                                              tokens are for --resource; --hidden must not be reachable
  probe URL                                   asks URL once

Exit code: 0 all went as it should, 1 it did not, 2 wrong usage. Parts that serve end with 0 on SIGTERM.`;

class WrongUsage extends Error {}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof WrongUsage ? 2 : 1;
});

async function main([part = "", ...args]: string[]): Promise<number> {
  if (part === "--help") {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const { values, positionals } = read(args);
  const need = (name: keyof typeof values): string => {
    const value = values[name];
    if (value === undefined) throw new WrongUsage(`${part} needs --${name}\n\n${USAGE}`);
    return value;
  };
  if (part === "issuer") {
    return serve(
      "issuer",
      need("listen"),
      await startIssuer(addressOf(need("listen")), Date.now, need("name")),
    );
  }
  if (part === "server") {
    return serve(
      "server",
      `${need("listen")}, at /mcp`,
      await startServer(addressOf(need("listen")), "/mcp"),
    );
  }
  if (part === "client") {
    const rounds = Number(values.rounds ?? "1");
    if (!Number.isInteger(rounds) || rounds < 1) throw new WrongUsage("--rounds is no number from 1");
    const places = { url: need("url"), resource: need("resource"), issuer: need("issuer"), rounds };
    return roundTrip(values.hidden === undefined ? places : { ...places, hidden: values.hidden });
  }
  if (part === "probe") return probe(positionals[0] ?? "");
  throw new WrongUsage(USAGE);
}

function read(args: string[]) {
  const text = { type: "string" } as const;
  const options = { listen: text, name: text, url: text, resource: text, issuer: text };
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...options, hidden: text, rounds: text } });
  } catch (error) {
    throw new WrongUsage(`${error instanceof Error ? error.message : "wrong usage"}\n\n${USAGE}`);
  }
}

function addressOf(text: string): Address {
  const [, host, port] = /^([^:]+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) throw new WrongUsage("--listen is not HOST:PORT");
  return { host, port: Number(port), exact: true };
}

async function serve(name: string, place: string, part: { close(): Promise<void> }): Promise<number> {
  process.stdout.write(`${name} is listening on ${place}\n`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await part.close();
  return 0;
}

/** Any answer but a failure of the server's own will do: an MCP endpoint refuses a bare GET. */
async function probe(url: string): Promise<number> {
  const { status, body } = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "manual" });
  await body?.cancel();
  return status < 500 ? 0 : 1;
}
