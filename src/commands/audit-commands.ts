/** The commands about audit records. Part of `commands.ts`. */
import type { Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

const show: Command = {
  words: ["audit", "show"],
  usage: "audit show --chain ID [--file FILE | --config FILE] [--json]",
  summary: "Tell the story of one call with all its rounds, from audit records.",
  details: [
    "Reads standard input, a file, or with --config the stream that records go to in Redis. Who asked, what was asked (by",
    "kind and digest), who approved, what was answered, what ran, and every attempt on it that was refused, with its",
    "cause. Lines that are no records are passed over. Records of several gateways are put in order by their times.",
  ],
  options: {
    chain: { value: "ID", text: "The call: chain in audit records." },
    file: { value: "FILE", text: "A file of records, or - for standard input, which is the default." },
    config: {
      value: "FILE",
      text: "A configuration with an audit sink of type redis; it is read from there.",
    },
    json: { text: "Print the records themselves, a line each, as they were found." },
  },
  exits: [
    "ok",
    "usage",
    ["data", "there is no record of this chain"],
    ["input", "the file cannot be read"],
    ["unavailable", "Redis cannot be used"],
    "fault",
    "config",
  ],
  async run(given) {
    const chain = given.get("chain");
    if (chain === undefined) throw new UsageError("audit show needs --chain ID");
    if (!/^[A-Za-z0-9_-]{22}$/.test(chain))
      throw new UsageError("--chain is no id of a chain: 22 characters of base64url");
    if (given.has("file") && given.has("config"))
      throw new UsageError("--file and --config do not go together");
    const module = await import("./audit-show.ts");
    return module.auditShow({
      chain,
      file: given.get("file"),
      config: given.get("config"),
      json: given.has("json"),
    });
  },
};

const schema: Command = {
  words: ["audit", "schema"],
  usage: "audit schema [--markdown]",
  summary: "Print the JSON Schema of audit records.",
  details: [
    "Draft 2020-12, for one line of a sink: of both kinds of record. --markdown prints the tables of docs/audit.md.",
  ],
  options: { markdown: { text: "Print the members as tables." } },
  exits: ["ok", "usage", "fault"],
  async run(given) {
    const module = await import("../audit/published.ts");
    const { audit, admin } = module.memberTables();
    process.stdout.write(given.has("markdown") ? `${audit}\n\n${admin}\n` : module.auditSchemaText());
    return 0;
  },
};

/** In the order of the help. */
export const AUDIT_COMMANDS: readonly Command[] = [show, schema];
