/** `sealgate approve`: calls that wait for others, a yes or no to one of them, and approvals that are remembered. */
import type { ShownApproval } from "../approval/presented.ts";
import { quote } from "../approval/visible.ts";
import { withApprovals } from "./approval-access.ts";
import { EXIT } from "./exit.ts";
import { type Given, whoami } from "./override-access.ts";
import { clean, jsonOf } from "./override-lines.ts";
import { tableLines } from "./text-table.ts";
import { UsageError } from "./usage-error.ts";

const DONE = { approve: "approved", deny: "denied", forget: "forgotten" } as const;
const WIDEST = 60;

/**
 * Lists, shows or decides, by what is given.
 * @returns the exit code
 */
export async function approve(given: Given): Promise<number> {
  const chosen = ["list", "remembered", "show", "yes", "no", "forget"].filter((name) => given.has(name));
  const [only] = chosen;
  if (only === undefined || chosen.length !== 1)
    throw new UsageError(
      `exactly one of --list, --remembered, --show, --yes, --no and --forget is needed, found ${only === undefined ? "none" : chosen.map((name) => `--${name}`).join(" and ")}`,
    );
  const by = whoami(given);
  if (!/^\P{C}{1,64}$/u.test(by)) throw new UsageError("--by is no name of 1 to 64 printable characters");
  const json = given.has("json");
  const id = given.get(only) ?? "";
  return await withApprovals(given, async (access) => {
    if (only === "list" || only === "remembered") {
      const entries = await access.list(only === "list" ? "waiting" : "remembered");
      printAll(entries, json, only === "list" ? "no call waits for others" : "no approval is remembered");
      return EXIT.ok[0];
    }
    if (only === "show") {
      const entry = (await access.list("waiting")).find((one) => one.id === id);
      if (entry === undefined) return missing();
      process.stdout.write(json ? jsonOf(entry) : textOf(entry));
      return EXIT.ok[0];
    }
    const decision = only === "yes" ? "approve" : only === "no" ? "deny" : "forget";
    const entry = await access.decide(id, decision, by);
    if (entry === undefined) return missing();
    process.stdout.write(
      json
        ? jsonOf(entry)
        : `${DONE[decision]} ${entry.id}: ${whatOf(entry)}\n${only === "yes" ? outcomeOf(entry) : ""}`,
    );
    return EXIT.ok[0];
  });
}

function missing(): number {
  process.stderr.write("sealgate: there is no entry with this id in force\n");
  return EXIT.data[0];
}

function printAll(entries: readonly ShownApproval[], json: boolean, none: string): void {
  if (json) return void process.stdout.write(jsonOf(entries));
  if (entries.length === 0) return void process.stderr.write(`${none}\n`);
  const rows = entries.map((entry) => {
    const { id, until, code = "", policies, missing = "" } = entry;
    return [id, clean(code), whatOf(entry), clean(policies.join(", ")), String(missing), until];
  });
  const head = ["id", "code", "what", "policies", "missing", "until"];
  process.stdout.write(`${tableLines([head, ...rows], WIDEST).join("\n")}\n`);
}

/** What people are shown, as it is, and who has approved it so far. */
function textOf(entry: ShownApproval): string {
  const { message = "", approvedBy = [], missing, until } = entry;
  const by = approvedBy.map(approverOf);
  const lines = [
    ...message.split("\n").map(clean),
    `Asked for by: ${whoOf(entry.principal)}`,
    `Approved so far by: ${by.length === 0 ? "nobody else" : by.join(", ")}`,
    ...(missing === undefined ? [] : [`Missing: ${missing === 0 ? "nobody" : `${missing} more`}`]),
    `Until: ${until}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** What a yes comes to. Gateways of other releases do not say. */
function outcomeOf({ approvedBy = [], missing, counts }: ShownApproval): string {
  const operator = approvedBy.find((one) => "operator" in one);
  const lines = [
    ...(counts !== false
      ? []
      : operator === undefined
        ? ["this adds nothing: enough others have approved it before"]
        : [
            `this adds nothing: all operators count as one person, and ${approverOf(operator)} has approved it before`,
          ]),
    ...(missing === undefined
      ? []
      : missing === 0
        ? ["nobody is missing: the call runs once its caller sends it again"]
        : [`still missing: ${missing} more, none of them an operator`]),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

const approverOf = (one: NonNullable<ShownApproval["approvedBy"]>[number]): string =>
  "operator" in one ? `operator ${show(one.operator)}` : whoOf(one);

function whatOf({ kind, target, route, principal, arguments: which }: ShownApproval): string {
  const more = which === undefined ? "" : `, ${which} arguments`;
  return `${kind} ${show(target)} on ${show(route)} for ${whoOf(principal)}${more}`;
}

const whoOf = ({ issuer, subject }: ShownApproval["principal"]): string =>
  `${show(subject)} of ${show(issuer)}`;

/** Callers choose these; a terminal shows them as a question does, but for links. */
const show = (text: string): string => quote(text, 60, "amid", "terminal").text;
