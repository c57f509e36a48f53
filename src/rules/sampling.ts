/** Rules of sampling and roots. */
import type { Rules } from "./rule.ts";

const PAGE = "client/sampling";
const ROOTS_PAGE = "client/roots";

export const SAMPLING = {
  "sampling/question-shape": {
    meaning: "A sampling question has messages of users and assistants, and maxTokens.",
    page: PAGE,
    level: "schema",
    side: "server",
    rows: [53],
    action: "refuse",
    core: "What is not read cannot be filtered.",
  },
  "sampling/undeclared-context": {
    meaning: "includeContext other than none is asked only of clients that declared sampling.context.",
    page: PAGE,
    level: "SHOULD",
    side: "server",
    rows: [52],
    action: "refuse",
    mode: "report",
  },
  "sampling/tool-blocks": {
    meaning: "Tool results stand alone in a user message, and answer every tool use at once.",
    page: PAGE,
    level: "MUST",
    side: "server",
    rows: [54, 55],
    action: "refuse",
    mode: "enforce",
  },
  "sampling/answer-shape": {
    meaning: "A sampling answer has role, content and model.",
    page: PAGE,
    level: "schema",
    side: "client",
    rows: [57],
    action: "refuse",
    core: "By these members readers tell the kinds of answers apart.",
  },
  "sampling/answer-size": {
    meaning: "The text of a sampling answer is not longer than a model writes: 512 KiB, images not counted.",
    page: PAGE,
    level: "MUST",
    side: "client",
    rows: [56],
    action: "refuse",
    mode: "enforce",
  },
} as const satisfies Rules;

export const ROOTS = {
  "roots/answer-shape": {
    meaning: "An answer to roots/list is a bounded list of roots.",
    page: ROOTS_PAGE,
    level: "schema",
    side: "client",
    rows: [],
    action: "refuse",
    core: "By these members readers tell the kinds of answers apart.",
  },
  "roots/file-uri": {
    meaning: "The uri of a root begins with file:// and names no other machine.",
    page: ROOTS_PAGE,
    level: "MUST",
    side: "client",
    rows: [60],
    action: "refuse",
    mode: "enforce",
  },
  "roots/traversal": {
    meaning: "The uri of a root climbs nowhere, in whatever spelling.",
    page: ROOTS_PAGE,
    level: "MUST",
    side: "client",
    rows: [61],
    action: "refuse",
    core: "A server that resolves it would leave the folder that was given to it.",
  },
} as const satisfies Rules;
