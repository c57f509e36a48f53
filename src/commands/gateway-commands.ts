/** The commands about a gateway that runs, or is to run. Part of `commands.ts`. */
import { CONFIG, type Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

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
  exits: [
    ["ok", "drained and closed after a signal"],
    [
      "unhealthy",
      "ended without having drained: a second signal, the grace was over, or an unexpected error",
    ],
    "usage",
    "input",
    ["unavailable", "the system refused something at start, for example an address in use"],
    "fault",
    "config",
  ],
  async run(given) {
    const config = given.get("config");
    const upstream = given.get("upstream");
    const listen = given.get("listen");
    if ((config === undefined) === (upstream === undefined)) {
      const found = config === undefined ? "neither" : "both";
      throw new UsageError(`serve needs exactly one of --config and --upstream, found ${found}`);
    }
    if (listen !== undefined && upstream === undefined) {
      throw new UsageError("--listen goes with --upstream; with --config it is server.listen");
    }
    if (upstream !== undefined) {
      const [{ quickConfig }, { parseListen }] = await Promise.all([
        import("../config/quick.ts"),
        import("../config/addresses.ts"),
      ]);
      const at = listen === undefined ? {} : parseListen(listen);
      if (at === undefined) throw new UsageError("--listen is not HOST:PORT");
      try {
        quickConfig(upstream, at);
      } catch (error) {
        throw new UsageError(error instanceof Error ? error.message : "--upstream is wrong");
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

const health: Command = {
  words: ["health"],
  usage: "health (--config FILE | --url URL) [--ready] [--timeout DURATION]",
  summary: "Ask a running gateway on this machine whether it is healthy.",
  details: [
    "Asks /healthz of its admin listener once, for health checks of containers. Prints one line. Of the",
    "configuration only the section admin is read, and no secret.",
  ],
  options: {
    config: { value: "FILE", text: "The configuration of the gateway; admin.listen is asked." },
    url: { value: "URL", text: "The admin listener as http://host:port, instead of --config." },
    ready: { text: "Ask /readyz instead." },
    timeout: { value: "DURATION", text: "Time for the whole answer. Default 3s." },
  },
  exits: [
    ["ok", "healthy; with --ready: ready"],
    ["unhealthy", "not healthy or not ready, or no answer"],
    "usage",
    "input",
    "fault",
    "config",
  ],
  async run(given) {
    const config = given.get("config");
    const text = given.get("url");
    if ((config === undefined) === (text === undefined)) {
      const found = config === undefined ? "neither" : "both";
      throw new UsageError(`health needs exactly one of --config and --url, found ${found}`);
    }
    const [module, { parseDuration }] = await Promise.all([
      import("./health.ts"),
      import("../config/units.ts"),
    ]);
    const url = text === undefined ? undefined : module.parseAdminUrl(text);
    if (text !== undefined && url === undefined) throw new UsageError("--url is not http://host:port");
    const timeout = parseDuration(given.get("timeout") ?? "3s");
    if (timeout === undefined || timeout < 1 || timeout > 60_000) {
      throw new UsageError("--timeout is no duration between 1ms and 1m, such as 3s");
    }
    return module.health({
      ...(config === undefined ? {} : { config }),
      ...(url === undefined ? {} : { url }),
      ready: given.has("ready"),
      timeout,
    });
  },
};

const reach: Command = {
  words: ["reach"],
  usage: "reach --upstream URL",
  summary: "Try whether a server can be reached from here, around the gateway.",
  details: [
    "Run it where clients are, and where only the gateway should be reachable. It opens a connection to each",
    "address of the server, sends nothing, and prints what it finds.",
  ],
  options: { upstream: { value: "URL", text: "The server, as in upstream.url of a route." } },
  exits: [
    ["ok", "the server does not answer here"],
    ["unhealthy", "the server can be reached around the gateway"],
    "usage",
    ["unavailable", "the name of the server has no address here, which proves nothing"],
    "fault",
  ],
  async run(given) {
    const upstream = given.get("upstream");
    if (upstream === undefined) throw new UsageError("reach needs --upstream URL");
    const [module, { parseUrl }] = await Promise.all([
      import("./reach.ts"),
      import("../config/addresses.ts"),
    ]);
    const url = parseUrl(upstream);
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new UsageError("--upstream is no http or https URL");
    }
    return module.reach(upstream);
  },
};

/** In the order of the help. */
export const GATEWAY_COMMANDS: readonly Command[] = [serve, health, reach];
