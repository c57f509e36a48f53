/** `authorization.policies[].approval`: how a call that a policy matches is asked about, and what an answer is good for. */
import * as z from "zod";
import { PLACEHOLDERS, parseTemplate, soleArgument, type Template } from "../approval/template.ts";
import { isTypable, isVisible } from "../approval/visible.ts";
import { linkIn } from "../mcp/links.ts";
import { duration, field, flag, glob, list, some, whole } from "./fields.ts";

const HOUR = 60 * 60_000;

/** Bounds of what one policy can ask for; all of it is sealed. */
const MOST_FIELDS = 8;
const MOST_OPTIONS = 32;

/** A text for people, in one line, in which nothing is a link. */
function said(what: string, max: number) {
  return field<string>(
    `${what}: one line of 1 to ${max} visible characters, without links`,
    (text, refuse) => {
      if (text.length === 0 || text.length > max) return refuse(`is empty or longer than ${max} characters`);
      if (!isVisible(text)) return refuse("holds characters that cannot be seen");
      return linkIn(text) === undefined ? text : refuse("holds a link");
    },
  );
}

const message = field<Template>(
  `one line of 1 to 512 visible characters, without links; values are ${PLACEHOLDERS}`,
  (text, refuse) => {
    if (text.length === 0 || text.length > 512) return refuse("is empty or longer than 512 characters");
    const read = parseTemplate(text);
    if ("wrong" in read) return refuse(read.wrong, read.allowed);
    const written = read.parts.map((part) => (typeof part === "string" ? part : "x")).join("");
    if (!isVisible(written)) return refuse("holds characters that cannot be seen");
    // Values are shown so that they are none, but a text around them must not make one.
    return linkIn(written) === undefined ? read : refuse("holds a link");
  },
);

const confirm = field<Template>(
  "what has to be typed: 1 to 64 visible characters, or the value of one argument, {arguments.NAME}",
  (text, refuse) => {
    const read = parseTemplate(text);
    if ("wrong" in read) return refuse(read.wrong, read.allowed);
    if (soleArgument(read) !== undefined) return read;
    if (read.parts.some((part) => typeof part !== "string")) return refuse("mixes text and values");
    return isTypable(read.parts.join("")) ? read : refuse("is not a text that can be typed");
  },
);

/** Names that are ours in the form, or no name at all to some reader. */
const fieldName = field<string>(
  "a name of 1 to 32 letters, digits and _, that begins with a letter and is not confirm",
  (text, refuse) => {
    if (!/^[A-Za-z][A-Za-z0-9_]{0,31}$/.test(text)) return refuse("is not a name");
    return /^confirm(_[0-9]+)?$/i.test(text) ? refuse("is the name of the typed confirmation") : text;
  },
);

/** One field that the user fills. */
const approvalField = z.strictObject({
  name: fieldName.describe("Its name: in the form, in audit records, and in what is offered to the server."),
  title: said("a title", 64).exactOptional().describe("What people read. Default: the name."),
  description: said("a description", 256).exactOptional().describe("What people read below."),
  minLength: whole(0, 1_000).default(1).describe("Least characters of a text."),
  maxLength: whole(1, 1_000).default(500).describe("Most characters of a text."),
  options: some(said("an option", 64))
    .max(MOST_OPTIONS, { error: `at most ${MOST_OPTIONS} options` })
    .exactOptional()
    .describe("Instead of a text: one of these."),
  required: flag().default(true).describe("Whether nobody approves without it."),
  audit: flag().default(false).describe("Write what was filled in into the audit record."),
  offer: flag().default(false).describe("Tell it to the server, the way that approval.offer says."),
});

const remember = z
  .union(
    [
      duration(1_000, 24 * HOUR).transform((time) => ({ for: time, arguments: "same" as const })),
      z.strictObject({
        for: duration(1_000, 24 * HOUR).describe("How long."),
        arguments: z
          .enum(["same", "any"])
          .default("same")
          .describe("Whether it holds for the same arguments only, or for all that the policy matches."),
      }),
    ],
    { error: "a duration such as 15m, or { for: 15m, arguments: same | any }" },
  )
  .describe(
    "How long an approval holds for more calls of the same tool by the same caller. Default: for one call.",
  );

const approver = z.strictObject({
  issuers: some(glob()).exactOptional().describe("Patterns of issuers."),
  subjects: some(glob()).exactOptional().describe("Patterns of subjects."),
  groups: some(glob()).exactOptional().describe("Patterns of groups; one of the approver's must match."),
  scopes: some(glob()).exactOptional().describe("Patterns of scopes; one of the approver's must match."),
  clients: some(glob()).exactOptional().describe("Patterns of clients."),
});

const quorum = z.strictObject({
  principals: whole(2, 5)
    .default(2)
    .describe("How many different people must approve, the caller among them."),
  from: approver
    .exactOptional()
    .describe("Who may approve for somebody else. Default: everybody whom policies allow the same call."),
  within: duration(1_000, 24 * HOUR)
    .exactOptional()
    .describe("How long the others have. Default, and at most: as long as the state lives (envelope.ttl)."),
});

/** See the file's header. */
export const approval = z.strictObject({
  message: message
    .exactOptional()
    .describe("What is asked, in a sentence. Server, tool and arguments are shown below in any case."),
  details: z
    .enum(["show", "hide"])
    .default("show")
    .describe(
      "Whether arguments are listed. hide needs a message; server, tool and a code are always shown.",
    ),
  mask: z
    .enum(["secrets", "all", "none"])
    .default("secrets")
    .describe("Which values are hidden: those that look like secrets, all, or none."),
  fields: list(approvalField)
    .max(MOST_FIELDS, { error: `at most ${MOST_FIELDS} fields` })
    .default([])
    .describe("What the user has to fill in."),
  confirm: confirm
    .exactOptional()
    .describe("What the user has to type, exactly: a word, or an argument's value as {arguments.NAME}."),
  remember: remember.exactOptional(),
  always: flag()
    .default(false)
    .describe("Ask every time, also where another policy that matches would remember."),
  quorum: quorum.exactOptional().describe("Others who have to approve the same call before it runs."),
  offer: z
    .enum(["none", "header", "meta"])
    .default("none")
    .describe(
      "How fields with offer are told to the server: not at all, as headers Sealgate-Approval-NAME, or as a member of _meta.",
    ),
});

/** Settings of one approval, read. */
export type ApprovalSettings = z.output<typeof approval>;
/** One field, read. */
export type ApprovalField = z.output<typeof approvalField>;
