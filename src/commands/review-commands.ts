/** The commands of the reviewer. Part of `commands.ts`. */
import type { Command } from "./command.ts";

const review: Command = {
  words: ["review"],
  usage:
    "review (--plan FILE | --url URL [--allow read-only|NAME,NAME…] [--effect-probe NAME] [--token-file FILE | --token-env NAME] [--second-token-file FILE | --second-token-env NAME] [--ca FILE]) [--remote] [--rate N] [--wait DURATION] [--timeout DURATION] [--dry-run] [--show-arguments] [--json FILE] [--junit FILE] [--sarif FILE] [--html FILE]",
  shortUsage: "review (--plan FILE | --url URL) [OPTIONS]",
  summary: "Review the multi round-trips of an MCP server from outside, by trying what breaks them.",
  details: [
    "Works on any MCP endpoint of revision 2026-07-28, with or without Sealgate in front. Calls nothing but what the plan",
    "names, or --allow; without either it lists what the server has and ends. Endpoints on other machines need --remote,",
    "and the leave of their owner. docs/review.md says what is tried and how a plan is written. A report file that exists",
    "is never overwritten. Tokens, states, answers and arguments are in no report.",
  ],
  options: {
    plan: { value: "FILE", text: "What may be called, by whom, and how questions are answered. YAML." },
    url: { value: "URL", text: "The endpoint, where there is no plan." },
    allow: {
      value: "WHAT",
      text: "read-only: tools that say they only read; or names of tools, prompts and resources, with commas.",
    },
    "effect-probe": { value: "NAME", text: "A read-only tool whose result shows what calls have done." },
    "token-file": { value: "FILE", text: "The bearer token of the first principal." },
    "token-env": { value: "NAME", text: "The same in an environment variable." },
    "second-token-file": { value: "FILE", text: "The token of another principal." },
    "second-token-env": { value: "NAME", text: "The same in an environment variable." },
    ca: { value: "FILE", text: "The authority of the server's certificate, PEM." },
    remote: { text: "The endpoint may be on another machine." },
    rate: { value: "N", text: "Requests in a second, at most. Default 10, or as the plan says." },
    wait: {
      value: "DURATION",
      text: "How long to wait for a state to expire, such as 5m. Default not at all.",
    },
    timeout: {
      value: "DURATION",
      text: "How long to wait for one answer. Default 30s, or as the plan says.",
    },
    "dry-run": { text: "Print the requests that would be sent, and send none." },
    "show-arguments": { text: "Leave the arguments of calls in the reports." },
    json: { value: "FILE", text: "Write the whole record, by the schema of `sealgate review schema`." },
    junit: { value: "FILE", text: "Write it as JUnit XML." },
    sarif: { value: "FILE", text: "Write it as SARIF." },
    html: { value: "FILE", text: "Write it as one HTML page with sequence diagrams." },
  },
  exits: [
    ["ok", "no check failed and none is inconclusive"],
    "failed",
    "undecided",
    "usage",
    ["input", "the plan cannot be read"],
    ["unavailable", "the endpoint cannot be used"],
    "fault",
    ["create", "a report exists already or cannot be written"],
    ["config", "the plan has problems, all of them printed"],
  ],
  async run(given) {
    const [{ readReviewOptions }, { review: run }] = await Promise.all([
      import("./review-options.ts"),
      import("./review.ts"),
    ]);
    return run(await readReviewOptions(given, process.env));
  },
};

const schema: Command = {
  words: ["review", "schema"],
  usage: "review schema",
  summary: "Print the JSON Schema of the record that a review writes.",
  details: ["Draft 2020-12, for tools that read --json."],
  options: {},
  exits: ["ok", "usage", "fault"],
  async run() {
    const { reviewSchemaText } = await import("../review/report/json.ts");
    process.stdout.write(reviewSchemaText());
    return 0;
  },
};

/** In the order of the help; longer words first, since the first that fits counts. */
export const REVIEW_COMMANDS: readonly Command[] = [schema, review];
