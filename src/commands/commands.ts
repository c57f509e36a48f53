/** The commands: words, options, help, exit codes, and which module does the work. Modules load when they run. */
import type { EXIT } from "./exit.ts";

/** One command. */
export interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly details: readonly string[];
  /** Name without dashes → the placeholder of its value, and what it does. Each at most once, each with a value. */
  readonly options: Readonly<Record<string, { readonly value: string; readonly text: string }>>;
  readonly exits: readonly (keyof typeof EXIT)[];
  /** @returns the exit code */
  run(given: ReadonlyMap<string, string>): Promise<number>;
}

/** The command line is wrong. The message is one line for whoever typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly command: Command | undefined;

  constructor(message: string, command?: Command) {
    super(message);
    this.command = command;
  }
}

const CONFIG = { value: "FILE", text: "The configuration, one YAML file." } as const;

const serve: Command = {
  words: ["serve"],
  usage: "serve (--config FILE | --upstream URL [--listen HOST:PORT])",
  summary: "Run the gateway.",
  details: [
    "With --upstream no file is needed: the MCP server at URL is served at /mcp on loopback, without tokens,",
    "with states in memory. SIGTERM and SIGINT drain open requests within server.shutdownGrace.",
  ],
  options: {
    config: CONFIG,
    upstream: { value: "URL", text: "The full endpoint of an MCP server, instead of --config." },
    listen: { value: "HOST:PORT", text: "With --upstream: a loopback address. Default 127.0.0.1:8080." },
  },
  exits: ["ok", "usage", "input", "unavailable", "fault", "config"],
  async run(given) {
    const config = given.get("config");
    const upstream = given.get("upstream");
    const listen = given.get("listen");
    if ((config === undefined) === (upstream === undefined)) {
      const found = config === undefined ? "neither" : "both";
      throw new UsageError(`serve needs exactly one of --config and --upstream, found ${found}`, serve);
    }
    if (listen !== undefined && upstream === undefined) {
      throw new UsageError("--listen goes with --upstream; with --config it is server.listen", serve);
    }
    if (upstream !== undefined) {
      const [{ quickConfig }, { parseListen }] = await Promise.all([
        import("../config/quick.ts"),
        import("../config/addresses.ts"),
      ]);
      const at = listen === undefined ? {} : parseListen(listen);
      if (at === undefined) throw new UsageError("--listen is not HOST:PORT", serve);
      try {
        quickConfig(upstream, at);
      } catch (error) {
        throw new UsageError(error instanceof Error ? error.message : "--upstream is wrong", serve);
      }
    }
    const module = await import("./serve.ts");
    return module.serve({
      ...(config === undefined ? {} : { config }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(listen === undefined ? {} : { listen }),
    });
  },
};

const check: Command = {
  words: ["check"],
  usage: "check --config FILE",
  summary: "Check a configuration and all files it refers to.",
  details: [
    "Prints every problem at once, with line, column and path. Warnings go to standard error.",
    "Connects to nothing.",
  ],
  options: { config: CONFIG },
  exits: ["ok", "usage", "input", "fault", "config"],
  async run(given) {
    const config = given.get("config");
    if (config === undefined) throw new UsageError("check needs --config FILE", check);
    const module = await import("./check.ts");
    return module.check({ config });
  },
};

const schema: Command = {
  words: ["schema"],
  usage: "schema",
  summary: "Print the JSON Schema of the configuration.",
  details: ["Draft 2020-12, for editors and for tools that check files before they are deployed."],
  options: {},
  exits: ["ok", "usage", "fault"],
  async run() {
    const module = await import("./schema.ts");
    return module.schema();
  },
};

const keysNew: Command = {
  words: ["keys", "new"],
  usage: "keys new [--out FILE]",
  summary: "Make a secret for keys.ring: 32 random bytes as base64url.",
  details: ["Prints it, or writes it to a new file with mode 0600. An existing file is never overwritten."],
  options: { out: { value: "FILE", text: "Write the secret there and print nothing of it." } },
  exits: ["ok", "usage", "fault", "create"],
  async run(given) {
    const module = await import("./keys.ts");
    return module.keysNew({ out: given.get("out") });
  },
};

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [serve, check, schema, keysNew];
