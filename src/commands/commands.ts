/** The commands: words, options, help, exit codes, and which module does the work. Modules load when they run. */
import type { EXIT } from "./exit.ts";
import { OVERRIDE_COMMANDS } from "./override-commands.ts";
import { UsageError } from "./usage-error.ts";

/** One command. */
export interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly details: readonly string[];
  /** What stands without an option, if the command takes that; it must be given, under this name in `run`. */
  readonly argument?: { readonly name: string; readonly text: string };
  /** Name without dashes → the placeholder of its value (none for a switch), and what it does. Each at most once. */
  readonly options: Readonly<Record<string, { readonly value?: string; readonly text: string }>>;
  /** The codes it can end with; with its own words where those of all commands say more than it does. */
  readonly exits: readonly (keyof typeof EXIT | readonly [keyof typeof EXIT, string])[];
  /** @returns the exit code */
  run(given: ReadonlyMap<string, string>): Promise<number>;
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

const check: Command = {
  words: ["check"],
  usage: "check --config FILE [--previous FILE] [--without-files] [--strict]",
  summary: "Check a configuration and all files it refers to.",
  details: [
    "Prints every problem at once, with line, column and path. Warnings go to standard error.",
    "Connects to nothing.",
  ],
  options: {
    config: CONFIG,
    previous: {
      value: "FILE",
      text: "The configuration in force. Warns of what takes a restart, and of a rotation of keys in the wrong order.",
    },
    "without-files": { text: "Look at no file and no variable that the configuration names." },
    strict: { text: "Take warnings for problems." },
  },
  exits: [
    "ok",
    "usage",
    "input",
    "fault",
    ["config", "the configuration has problems, all of them printed; with --strict: or warnings"],
  ],
  async run(given) {
    const module = await import("./check.ts");
    if (given.has("without-files") && given.has("previous")) {
      throw new UsageError("--previous compares keys, which --without-files does not read");
    }
    return module.check({
      config: configOf(given, "check"),
      previous: given.get("previous"),
      withoutFiles: given.has("without-files"),
      strict: given.has("strict"),
    });
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

const rules: Command = {
  words: ["rules"],
  usage: "rules [--config FILE [--route PATH] [--tool NAME]] [--json | --markdown]",
  summary: "Print the rules that messages are judged by, with the modes in force.",
  details: [
    "Without --config the defaults. Without --route the modes for all routes, and the routes that differ. What is",
    "core cannot be switched. docs/rules.md says what each rule means; --markdown prints that page.",
  ],
  options: {
    config: CONFIG,
    route: { value: "PATH", text: "The modes on this route." },
    tool: { value: "NAME", text: "The modes for calls of this tool." },
    json: { text: "As JSON, with all that is known of each rule." },
    markdown: { text: "The page of the documentation, which knows no configuration." },
  },
  exits: ["ok", "usage", "input", "fault", "config"],
  async run(given) {
    const config = given.get("config");
    for (const name of ["route", "tool"]) {
      if (given.has(name) && config === undefined) throw new UsageError(`--${name} goes with --config`);
    }
    if (given.has("markdown") && (given.has("json") || config !== undefined)) {
      throw new UsageError("--markdown goes with no other option");
    }
    const module = await import("./rules.ts");
    return module.rules({
      config,
      route: given.get("route"),
      tool: given.get("tool"),
      form: given.has("markdown") ? "markdown" : given.has("json") ? "json" : "table",
    });
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

const keysList: Command = {
  words: ["keys", "list"],
  usage: "keys list --config FILE",
  summary: "Print the ring: ids, key ids, which key seals, and where the secrets are.",
  details: ["Prints nothing of a secret. The key id is computed from the key and stands in every envelope."],
  options: { config: CONFIG },
  exits: ["ok", "usage", "input", "fault", "config"],
  async run(given) {
    const module = await import("./keys-list.ts");
    return module.keysList({ config: configOf(given, "keys list") });
  },
};

const keysRotate: Command = {
  words: ["keys", "rotate"],
  usage: "keys rotate --config FILE [--step add|promote|remove] [--id ID]",
  summary: "Do one step of a rotation of keys in the configuration, or say which steps there are.",
  details: [
    "add makes a secret and its entry, promote makes a key the primary, remove takes a key out of the ring.",
    "Each step must be on all replicas before the next. The file is replaced at once, comments stay, and",
    "the text before is kept as FILE.bak.",
  ],
  options: {
    config: CONFIG,
    step: { value: "STEP", text: "add, promote or remove. Without it nothing is changed." },
    id: {
      value: "ID",
      text: "The key. Default: today's date to add; the only other key to promote or remove.",
    },
  },
  exits: ["ok", "usage", "input", "fault", "create", "later", "config"],
  async run(given) {
    const module = await import("./keys-rotate.ts");
    const step = given.get("step");
    if (step !== undefined && !module.isStep(step)) {
      throw new UsageError("--step is none of add, promote, remove");
    }
    return module.keysRotate({ config: configOf(given, "keys rotate"), step, id: given.get("id") });
  },
};

const inspect: Command = {
  words: ["inspect"],
  usage: "inspect TOKEN --config FILE [--state]",
  summary: "Open a sealed state with the keys of a configuration and print its claims as JSON.",
  details: [
    "Says whether a gateway with this configuration would refuse it now, and why. Not judged is what depends",
    "on the request that brings it, or on the store: caller, method, target, parameters, single use.",
  ],
  argument: {
    name: "TOKEN",
    text: "The state; - reads it from standard input, where no list of processes shows it.",
  },
  options: { config: CONFIG, state: { text: "Show the server's own state too, not only its length." } },
  exits: [
    ["ok", "the token would be taken now"],
    "usage",
    ["data", "the token would be refused now"],
    "input",
    "fault",
    "config",
  ],
  async run(given) {
    const module = await import("./inspect.ts");
    return module.inspect({
      token: given.get("TOKEN") ?? "",
      config: configOf(given, "inspect"),
      state: given.has("state"),
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

const init: Command = {
  words: ["init"],
  usage:
    "init --upstream URL [--issuer URL] [--for laptop|compose|sidecar] [--out FOLDER] [--listen HOST:PORT] [--public-url URL] [--upstream-ca FILE] [--upstream-token-file FILE | --upstream-token-env NAME]",
  summary: "Look at an MCP server and an issuer, and write a first configuration with its keys.",
  details: [
    "Lists what the server offers and writes it as an allow-list. laptop: one machine, without an issuer nobody is",
    "asked for a token. compose and sidecar need an issuer and get docker-compose.yml, or manifests for Kubernetes.",
    "Writes all files or none, and never over an existing one. Follows no redirects.",
  ],
  options: {
    upstream: { value: "URL", text: "The full endpoint of the MCP server, as it is reached from here." },
    issuer: { value: "URL", text: "The issuer of clients' tokens, exactly as it names itself." },
    for: { value: "FORM", text: "laptop, compose or sidecar. Default laptop." },
    out: { value: "FOLDER", text: "Where the files go; made if need be. Default sealgate." },
    listen: {
      value: "HOST:PORT",
      text: "Where clients connect. Default 127.0.0.1:8080 on a laptop, else 0.0.0.0:8080.",
    },
    "public-url": { value: "URL", text: "The origin clients see, such as https://mcp.example.com." },
    "upstream-ca": { value: "FILE", text: "The authority of the server's certificate, PEM." },
    "upstream-token-file": { value: "FILE", text: "The server's own token, for servers that ask for one." },
    "upstream-token-env": { value: "NAME", text: "The same in an environment variable." },
  },
  exits: [
    "ok",
    "usage",
    ["unavailable", "the server or the issuer cannot be used, nothing was written"],
    "fault",
    ["create", "a file exists already or cannot be written"],
    ["config", "what would be written has problems, nothing was written"],
  ],
  async run(given) {
    const [{ readInitOptions }, { init: run }] = await Promise.all([
      import("./init-options.ts"),
      import("./init.ts"),
    ]);
    return run(readInitOptions(given));
  },
};

const explain: Command = {
  words: ["explain"],
  usage:
    "explain --config FILE --principal WHO --call CALL [--name NAME] [--arguments JSON] [--route PATH] [--json]",
  summary: "Say which policy decides on a call, and why.",
  details: [
    "WHO is anonymous, issuer=URL,subject=NAME and of client, tenant, groups=a|b, scopes=a|b what there is, or JSON.",
    "CALL is a JSON-RPC message, @FILE or - with one, or a method such as tools/call. Connects to nothing; what",
    "operators set at run time (grants, revocations) is not looked at.",
  ],
  options: {
    config: CONFIG,
    principal: { value: "WHO", text: "The caller, as the gateway would see it after its token." },
    call: { value: "CALL", text: "The message, or the name of a method." },
    name: { value: "NAME", text: "With a method: the tool, prompt or uri." },
    arguments: { value: "JSON", text: "With a method: its arguments, as JSON, @FILE or -." },
    route: { value: "PATH", text: "Only this route. Default: all." },
    json: { text: "Print JSON." },
  },
  exits: [
    ["ok", "the call is allowed"],
    "usage",
    "input",
    "fault",
    ["denied", "the call is not allowed"],
    "config",
  ],
  async run(given) {
    const config = configOf(given, "explain");
    const principal = given.get("principal");
    const call = given.get("call");
    if (principal === undefined || call === undefined) {
      throw new UsageError("explain needs --principal WHO and --call CALL");
    }
    const module = await import("./explain.ts");
    return module.explain({
      config,
      principal,
      call,
      name: given.get("name"),
      arguments: given.get("arguments"),
      route: given.get("route"),
      json: given.has("json"),
    });
  },
};

function configOf(given: ReadonlyMap<string, string>, command: string): string {
  const config = given.get("config");
  if (config === undefined) throw new UsageError(`${command} needs --config FILE`);
  return config;
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  serve,
  init,
  check,
  schema,
  rules,
  keysNew,
  keysList,
  keysRotate,
  inspect,
  explain,
  ...OVERRIDE_COMMANDS,
  health,
  reach,
];
