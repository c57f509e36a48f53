/** The command about approvals. Part of `commands.ts`. */
import type { Command } from "./command.ts";
import { exitsOf, PLACE, SAID, WHERE } from "./override-commands.ts";

const approve: Command = {
  words: ["approve"],
  usage: `approve ${PLACE} (--list | --show ID | --yes ID | --no ID | --remembered | --forget ID) [--by NAME] [--json]`,
  summary: "Approve or deny a call that waits for others, or end an approval that is remembered.",
  details: [
    "Policies with approval.quorum want more people than the caller. All operators together count as one of them:",
    "there is one token for them all. Look at a call with --show before you say yes to it.",
  ],
  options: {
    ...WHERE,
    list: { text: "List the calls that wait." },
    show: { value: "ID", text: "Show what people are shown of one." },
    yes: { value: "ID", text: "Approve it." },
    no: { value: "ID", text: "Deny it." },
    remembered: { text: "List the approvals that are remembered." },
    forget: { value: "ID", text: "End one: its caller is asked again." },
    by: SAID.by,
  },
  exits: exitsOf("there is no such entry"),
  async run(given) {
    const module = await import("./approve.ts");
    return module.approve(given);
  },
};

/** In the order of the help. */
export const APPROVAL_COMMANDS: readonly Command[] = [approve];
