/** All targets, in the order in which they run. */
import type { Target } from "../target.ts";
import { canonical } from "./canonical.ts";
import { claims } from "./claims.ts";
import { edits } from "./edits.ts";
import { envelope } from "./envelope.ts";
import { events } from "./events.ts";
import { framing } from "./framing.ts";
import { messages } from "./messages.ts";
import { mirror } from "./mirror.ts";
import { scanner } from "./scanner.ts";
import { tasks } from "./tasks.ts";

export const TARGETS: readonly Target[] = [
  scanner,
  edits,
  canonical,
  events,
  mirror,
  messages,
  tasks,
  envelope,
  claims,
  framing,
];
