/**
 * Settings under `approval` that contradict each other, or ask for what no question may ask for. Part of `policy-checks.ts`, pure
 * like it.
 */
import { formOf } from "../approval/fields.ts";
import { subjectOf } from "../approval/sentence.ts";
import { soleArgument } from "../approval/template.ts";
import { scan } from "../json/scan.ts";
import { asksForSecret, namesSecret } from "../mcp/secret-name.ts";
import { ANONYMOUS } from "../principal/principal.ts";
import type { ApprovalSettings } from "./approval-settings.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";
import type { Policy } from "./schema.ts";
import { printDuration, printSize } from "./units.ts";

/** Bytes that a typed value adds to what stands for it while it is measured. */
const TYPED_BYTES = 256;

/** All checks of one policy's `approval`. */
export function checkApproval(policy: Policy, path: readonly Step[], sections: Sound, report: Report): void {
  const { approval, effect } = policy;
  if (approval === undefined) return;
  const at = [...path, "approval"];
  if (effect !== "approve") {
    if (!report.lost([...path, "effect"]))
      report.problem(at, `goes with effect: approve and no other, not with ${effect}`);
    return;
  }
  // What a check rests on must be as it was written; a mistake elsewhere hides nothing.
  const known = (...names: readonly (keyof ApprovalSettings)[]): boolean =>
    names.every((name) => !report.lost([...at, name]));
  const { details, message, offer, fields } = approval;
  if (details === "hide" && message === undefined && known("message"))
    report.problem([...at, "details"], "hides the arguments, so a message has to say what is asked");
  if (offer !== "none" && known("fields") && !fields.some((field) => field.offer))
    report.warning([...at, "offer"], "offers nothing: no field has offer: true");
  if (known("fields", "offer")) checkFields(approval, at, report);
  if (!known("confirm", "remember", "always", "quorum")) return;
  checkRemember(approval, at, sections, report);
  checkQuorum(approval, at, sections, report);
}

function checkFields({ fields, offer }: ApprovalSettings, at: readonly Step[], report: Report): void {
  for (const [index, field] of fields.entries()) {
    const place = [...at, "fields", index];
    const { name, title = name, description = "", minLength, maxLength, options = [] } = field;
    const same = fields.findIndex((other) => other.name.toLowerCase() === name.toLowerCase());
    if (same < index) report.problem([...place, "name"], "is the name of a field above it");
    // What a server may not ask for in a form, the gateway may not either.
    if (namesSecret(name) || namesSecret(title) || asksForSecret(description))
      report.problem(place, "asks for a secret, which no form may do; whoever approves is known already");
    if (minLength > maxLength) report.problem([...place, "minLength"], "is above maxLength");
    if (new Set(options).size !== options.length)
      report.problem([...place, "options"], "holds an option twice");
    if (field.offer && offer === "none")
      report.problem([...place, "offer"], "offers it, but approval.offer says not how: header or meta");
  }
}

function checkRemember(
  { remember, always, quorum, confirm }: ApprovalSettings,
  at: readonly Step[],
  { authentication }: Sound,
  report: Report,
): void {
  if (remember === undefined) return;
  const place = [...at, "remember"];
  if (always) report.problem(place, "contradicts always: true");
  if (quorum !== undefined)
    report.problem(place, "contradicts quorum: nobody remembers what others approved");
  if (confirm !== undefined && soleArgument(confirm) !== undefined && remember.arguments === "any")
    report.problem([...place, "arguments"], "is any, while confirm asks to type an argument of each call");
  if (authentication?.mode === "anonymous")
    report.warning(place, "never remembers: who is anonymous cannot be told from others");
}

function checkQuorum(
  { quorum }: ApprovalSettings,
  at: readonly Step[],
  { authentication, envelope }: Sound,
  report: Report,
): void {
  if (quorum === undefined) return;
  const place = [...at, "quorum"];
  const { within = 0 } = quorum;
  if (envelope !== undefined && !report.lost(["envelope"]) && within > envelope.ttl) {
    const ttl = printDuration(envelope.ttl);
    report.problem([...place, "within"], `is above envelope.ttl (${ttl}), and the state expires with that`);
  }
  if (authentication?.mode === "anonymous")
    report.warning(place, "only operators can approve: who is anonymous cannot be told from others");
}

/** What all approve policies can ask for together has to fit into one form, which is sealed whole. */
export function checkForms({ authorization, envelope }: Sound, report: Report): void {
  if (authorization === undefined || envelope === undefined) return;
  if (report.lost(["authorization"]) || report.lost(["envelope"])) return;
  const policies = authorization.policies.filter(({ effect }) => effect === "approve");
  if (policies.length === 0) return;
  const doc = scan(Buffer.from("{}"), { bytes: 2, depth: 1 });
  const nobody = { tool: "", server: "", principal: ANONYMOUS };
  const { schema } = formOf(policies, subjectOf(nobody, { doc, node: undefined }, []));
  const typed = policies.filter(({ approval }) => approval?.confirm !== undefined).length;
  const bytes = Buffer.byteLength(JSON.stringify(schema)) + typed * TYPED_BYTES;
  const { maxSchemaBytes } = envelope;
  if (bytes > maxSchemaBytes) {
    const most = printSize(maxSchemaBytes);
    report.problem(
      ["authorization", "policies"],
      `approvals ask for ${bytes} bytes of form together, allowed are ${most} (envelope.maxSchemaBytes)`,
    );
  }
}
