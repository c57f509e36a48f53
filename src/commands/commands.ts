/** All commands there are. */
import { APPROVAL_COMMANDS } from "./approval-commands.ts";
import { AUDIT_COMMANDS } from "./audit-commands.ts";
import type { Command } from "./command.ts";
import { CONFIGURATION_COMMANDS } from "./configuration-commands.ts";
import { GATEWAY_COMMANDS } from "./gateway-commands.ts";
import { KEY_COMMANDS } from "./key-commands.ts";
import { OVERRIDE_COMMANDS } from "./override-commands.ts";
import { REVIEW_COMMANDS } from "./review-commands.ts";

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...GATEWAY_COMMANDS,
  ...CONFIGURATION_COMMANDS,
  ...KEY_COMMANDS,
  ...OVERRIDE_COMMANDS,
  ...APPROVAL_COMMANDS,
  ...AUDIT_COMMANDS,
  ...REVIEW_COMMANDS,
];
