/** The commands about keys and what they have sealed. Part of `commands.ts`. */
import { CONFIG, type Command, configOf } from "./command.ts";
import { UsageError } from "./usage-error.ts";

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
      text: "The key. Default: key- and today's date to add; the only other key to promote or remove.",
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
    "on the request that brings it (caller, method, target, parameters), or on the store, which is not asked: whether",
    "it was redeemed or revoked. The output lists that as notLookedAt.",
  ],
  argument: {
    name: "TOKEN",
    text: "The state; - reads it from standard input, where no list of processes shows it.",
  },
  options: { config: CONFIG, state: { text: "Show the server's own state too, not only its length." } },
  exits: [
    ["ok", "nothing that is looked at speaks against the token"],
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

/** In the order of the help. */
export const KEY_COMMANDS: readonly Command[] = [keysNew, keysList, keysRotate, inspect];
