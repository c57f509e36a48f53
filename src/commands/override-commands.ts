/** The commands that set what all replicas share: revocations, grants and denials. Part of `commands.ts`. */
import type { Command } from "./command.ts";

/** How a command gets to what replicas share. */
export const WHERE = {
  config: { value: "FILE", text: "The configuration; its Redis is told, gateways need not run." },
  admin: {
    value: "URL",
    text: "Instead: the admin listener of a gateway; the only way with the memory store.",
  },
  "token-file": { value: "FILE", text: "With --admin: a file with the token of admin.token." },
  json: { text: "Print JSON." },
} as const;

const WHO = {
  principal: { value: "SUBJECT", text: "A caller, by the subject of its tokens." },
  issuer: {
    value: "ISSUER",
    text: "With --principal: who vouches. Default: the only issuer of the configuration.",
  },
  client: { value: "ID", text: "With --principal: only in this client." },
  tenant: { value: "ID", text: "With --principal: only in this tenant." },
} as const;

/** What is said beside. */
export const SAID = {
  reason: { value: "TEXT", text: "Why, for whoever lists it; up to 256 characters." },
  by: { value: "NAME", text: "Who; up to 64 characters. Default: the user of the system." },
} as const;

/** `WHERE` in a usage. */
export const PLACE = "(--config FILE | --admin URL --token-file FILE)";
const WHOSE = "--principal SUBJECT [--issuer ISSUER] [--client ID] [--tenant ID]";

/** Exit codes. @param none what it means that there is nothing to take back, where something is taken back */
export const exitsOf = (none?: string): Command["exits"] => [
  "ok",
  "usage",
  ...(none === undefined ? [] : [["data", none] as const]),
  "input",
  ["unavailable", "Redis or the gateway cannot be used, or did not do it"],
  "fault",
  "config",
];

const revoke: Command = {
  words: ["revoke"],
  usage: `revoke ${PLACE} (--chain ID | ${WHOSE} | --route PATH | --list | --remove ID) [--reason TEXT] [--by NAME] [--json]`,
  summary: "Make open rounds useless on all replicas, within a second.",
  details: [
    "What is revoked are the rounds that were begun before: new calls are asked again, and go on. A caller who",
    "shall not come back needs a policy, or an issuer that ends its tokens.",
  ],
  options: {
    ...WHERE,
    chain: { value: "ID", text: "One call with its rounds: chain in audit records." },
    ...WHO,
    route: { value: "PATH", text: "Every call of a route." },
    list: { text: "List what is revoked." },
    remove: { value: "ID", text: "Take a revocation back." },
    ...SAID,
  },
  exits: exitsOf("with --remove: there is no such entry"),
  async run(given) {
    const module = await import("./revoke.ts");
    return module.revoke(given);
  },
};

function grantsSet(effect: "allow" | "deny"): Command {
  const allows = effect === "allow";
  return {
    words: ["grants", effect],
    usage: `grants ${effect} ${PLACE} [${WHOSE}] [--group NAME] [--route PATH] [--tool PATTERN] ${allows ? "--capability LIST" : "[--capability LIST]"} [--ttl TIME] [--reason TEXT] [--by NAME] [--json]`,
    summary: allows
      ? "Let servers ask what the configuration does not allow, for a time."
      : "Forbid questions on all replicas, within a second; a denial wins over everything.",
    details: [
      "All selectors that are given have to fit. capability is one or more of elicitation.form, elicitation.url,",
      "sampling and roots, with commas.",
    ],
    options: {
      ...WHERE,
      ...WHO,
      group: { value: "NAME", text: "Callers in this group." },
      route: { value: "PATH", text: "Calls of this route." },
      tool: {
        value: "PATTERN",
        text: "Calls of tools whose name fits; * is any run of characters, ? is one.",
      },
      capability: { value: "LIST", text: `Kinds of question.${allows ? "" : " Default: all of them."}` },
      ttl: {
        value: "TIME",
        text: `How long it holds, such as 30m. Default ${allows ? "1h" : "168h"}, at most 2160h.`,
      },
      ...SAID,
    },
    exits: exitsOf(),
    async run(given) {
      const module = await import("./grants.ts");
      return module.grantsSet(effect, given);
    },
  };
}

const grantsList: Command = {
  words: ["grants", "list"],
  usage: `grants list ${PLACE} [--json]`,
  summary: "List grants and denials that are in force.",
  details: [],
  options: WHERE,
  exits: exitsOf(),
  async run(given) {
    const module = await import("./grants.ts");
    return module.grantsList(given);
  },
};

const grantsRemove: Command = {
  words: ["grants", "remove"],
  usage: `grants remove ID ${PLACE} [--by NAME] [--json]`,
  summary: "Take a grant or a denial back.",
  details: [],
  argument: { name: "ID", text: "The id, as grants list shows it." },
  options: { ...WHERE, by: SAID.by },
  exits: exitsOf("there is no such entry"),
  async run(given) {
    const module = await import("./grants.ts");
    return module.grantsRemove(given);
  },
};

/** In the order of the help. */
export const OVERRIDE_COMMANDS: readonly Command[] = [
  revoke,
  grantsSet("allow"),
  grantsSet("deny"),
  grantsList,
  grantsRemove,
];
