/**
 * Rules of a modern message that are judged once it is known what it is and whom it concerns: its headers and its `_meta`.
 * All of them can be switched; what the gateway rests on is checked where it is read.
 */
import { Refusal } from "./errors.ts";
import type { Headers } from "./headers.ts";
import type { Journey } from "./journey.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { capabilitiesOf } from "./mcp/capabilities.ts";
import type { NotificationMessage, RequestMessage } from "./mcp/message.ts";
import { isHeaderText } from "./mcp/mirrored-headers.ts";
import { isPlainInteger } from "./mcp/number.ts";
import { paramFindings } from "./mcp/param-headers.ts";
import type { Versions } from "./seen-lists.ts";

/**
 * Judges headers and `_meta`; allocates nothing where all is in order.
 * @throws Refusal `header_mismatch`, `invalid_params`
 */
export function judgeRequest(
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): void {
  if (hasForeignCharacters(journey.headers)) {
    journey.judge([{ rule: "http/header-characters", detail: "characters" }], refuseHeader);
  }
  const token = doc.get(message.meta, "progressToken");
  if (token !== undefined && !isToken(doc, token)) {
    journey.judge([{ rule: "protocol/progress-token", detail: "progress_token" }], refuseParams);
  }
  if (declaresNoMode(doc, message.meta)) {
    journey.judge([{ rule: "protocol/no-elicitation-mode", detail: "elicitation_mode" }], refuseParams);
  }
}

/**
 * Judges the `Mcp-Param-*` headers of a `tools/call`. Only for a call that policy lets pass: of an unknown name nothing is known
 * either, so of a hidden one nothing may be seen.
 * @param versions what the server's list said of the tool when it was last seen here; undefined where nothing was
 * @throws Refusal `header_mismatch`
 */
export function judgeParams(
  journey: Journey,
  doc: JsonText,
  params: Node | undefined,
  versions: Versions | undefined,
): void {
  if (versions === undefined) return;
  const args = doc.get(params, "arguments");
  const findings = paramFindings(doc, args, journey.headers, versions);
  if (findings.length > 0) journey.judge(findings, refuseHeader);
}

const refuseHeader = (finding: { readonly detail: string; readonly data?: object }): Refusal =>
  new Refusal("header_mismatch", finding.detail, { data: { ...finding.data } });

const refuseParams = ({ detail }: { readonly detail: string }): Refusal =>
  new Refusal("invalid_params", detail);

function hasForeignCharacters(headers: Headers): boolean {
  for (const [name, value] of headers) if (name.startsWith("mcp-") && !isHeaderText(value)) return true;
  return false;
}

function isToken(doc: JsonText, token: Node): boolean {
  if (doc.kind(token) === "string") return doc.wellFormed(token);
  return doc.kind(token) === "number" && isPlainInteger(doc.raw(token));
}

/** `elicitation: {}` means form; with members, one of them has to be a mode. */
function declaresNoMode(doc: JsonText, meta: Node | undefined): boolean {
  const elicitation = doc.get(capabilitiesOf(doc, meta), "elicitation");
  if (elicitation === undefined || doc.count(elicitation) === 0) return false;
  return doc.get(elicitation, "form") === undefined && doc.get(elicitation, "url") === undefined;
}
