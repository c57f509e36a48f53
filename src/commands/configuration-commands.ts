/** The commands that write, judge and read a configuration. Part of `commands.ts`. */
import { CONFIG, type Command, configOf } from "./command.ts";
import { UsageError } from "./usage-error.ts";

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

/** In the order of the help. */
export const CONFIGURATION_COMMANDS: readonly Command[] = [init, check, schema, rules, explain];
