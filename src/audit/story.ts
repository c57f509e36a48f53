/** The records of one chain as people read them. All texts in records are shown as text only: a terminal obeys what is not printable. Pure. */
import type { ReadRecord } from "./lines.ts";
import type { AuditRecord } from "./record.ts";

type Known = NonNullable<ReadRecord["record"]>;
type Audit = Extract<Known, { readonly type: "audit" }>;

/**
 * Tells a chain, oldest record first.
 * @param records at least one, in any order; undefined for those that this version cannot read
 * @param more records that were found beside them and are not among them
 */
export function storyOf(chain: string, records: readonly ReadRecord["record"][], more: number): string {
  const known = records.filter((record) => record !== undefined);
  const sorted = known.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  const unread = records.length - known.length;
  const lines = [...headOf(chain, sorted), ""];
  let before: number | undefined;
  for (const record of sorted) {
    const at = Date.parse(record.time);
    const gap = before === undefined ? "" : `  (${duration(at - before)} later)`;
    lines.push(`${record.time}${gap}`, ...bodyOf(record, chain).map((line) => `  ${line}`), "");
    before = at;
  }
  if (unread > 0)
    lines.push(`${unread} more of other versions, which cannot be read here; --json prints them.`);
  if (more > 0) lines.push(`${more} more were found and are not told; --json prints them.`);
  return `${lines.join("\n").trimEnd()}\n`;
}

function headOf(chain: string, records: readonly Known[]): string[] {
  const audits = records.filter((record): record is Audit => record.type === "audit");
  const own = audits.filter((record) => record.chain === chain);
  const first = own[0] ?? audits[0];
  const rounds = own.reduce((most, { round = 0 }) => Math.max(most, round), 0);
  const refused = audits.filter(({ outcome }) => outcome === "refused").length;
  const [from, to] = [records[0], records.at(-1)];
  const span = from === undefined || to === undefined ? 0 : Date.parse(to.time) - Date.parse(from.time);
  return [
    `Chain ${chain}`,
    ...(first === undefined ? [] : [`${callOf(first)} on ${show(first.route)}`]),
    `${count(records.length, "record")}, ${count(rounds, "round")}, ${count(refused, "refusal")}, ${duration(span)} in all`,
  ];
}

function bodyOf(record: Known, chain: string): string[] {
  return record.type === "admin" ? deedOf(record) : decisionOf(record, chain);
}

function decisionOf(record: Audit, chain: string): string[] {
  const { requestId, cause, code, brought, jti, round } = record;
  const sealed = jti !== undefined && jti !== brought?.jti && record.outcome === "input_required";
  return [
    `${whoOf(record)}: ${callOf(record)}`,
    ...detail(
      "request",
      `${requestId}${record.version === undefined ? "" : `, protocol ${show(record.version)}`}`,
    ),
    ...detail("client", clientOf(record)),
    ...detail("policy", policyOf(record)),
    ...(brought === undefined
      ? []
      : [`brings the state of round ${brought.round} (${brought.jti})${strange(brought.chain, chain)}`]),
    ...answersOf(record),
    ...rulesOf(record),
    ...(record.replay === undefined ? [] : [REPLAYS[record.replay]]),
    ...(code === undefined ? [] : [`refused: ${code}; true cause: ${show(cause ?? "unknown")}`]),
    ...(code === undefined && cause !== undefined ? [`cause: ${show(cause)}`] : []),
    ...(record.state === "reprompted" ? ["the state was refused, and the call went on as a fresh one"] : []),
    ...upstreamOf(record),
    ...askedOf(record),
    ...(sealed ? [`sealed as round ${round ?? "?"}${limitsOf(record)} (${jti})`] : []),
    ...(record.cut === true ? ["lists of this record were left out, it was too long for Redis"] : []),
    `ended: ${OUTCOMES[record.outcome]} after ${duration(record.latencyMs)}`,
  ];
}

const strange = (chain: string, wanted: string): string => (chain === wanted ? "" : `, of chain ${chain}`);

function whoOf({ principal, authenticatedBy, confirmedBy, address }: Audit): string {
  const from = address === undefined ? "" : ` from ${show(address)}`;
  if (principal === undefined) return `somebody unknown${from}`;
  if (principal.anonymous) return `anonymous${from}`;
  const { subject, issuer, client, tenant } = principal;
  const parts = [
    ...(client === undefined ? [] : [`client ${show(client)}`]),
    ...(tenant === undefined ? [] : [`tenant ${show(tenant)}`]),
    ...(authenticatedBy === undefined
      ? []
      : [`known by ${authenticatedBy}${(confirmedBy ?? []).map((by) => ` and ${by}`).join("")}`]),
  ];
  return `${show(subject ?? "?")} of ${show(issuer ?? "?")}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}${from}`;
}

function callOf({ method, target }: Pick<Audit, "method" | "target">): string {
  const what = target === undefined ? "" : ` ${target.kind} ${show(target.name)}`;
  return `${show(method ?? "no method")}${what}`;
}

function clientOf({ client, declared }: Audit): string | undefined {
  const says =
    client === undefined
      ? []
      : [`calls itself ${show(client.name ?? "?")} ${show(client.version ?? "")}`.trim()];
  const can = declared === undefined ? [] : [`can be asked: ${declared.join(", ")}`];
  const all = [...says, ...can];
  return all.length === 0 ? undefined : all.join("; ");
}

function policyOf({ policy, sensitivity, params }: Audit): string | undefined {
  const all = [
    ...(policy === undefined ? [] : [show(policy)]),
    ...(sensitivity === undefined ? [] : [`data ${sensitivity.join(", ")}`]),
    ...(params === undefined ? [] : [`parameters ${params}`]),
  ];
  return all.length === 0 ? undefined : all.join("; ");
}

function answersOf({ answers, approval }: Audit): string[] {
  const { action, fields, others, deniedBy, remembered, waiting, policies = [], code = "" } = approval ?? {};
  const of = `policy ${policies.map(show).join(", ")}, code ${show(code)}`;
  return [
    ...(action === undefined && answers !== undefined ? [`answers: ${answers.join(", ") || "none"}`] : []),
    ...(action === undefined ? [] : [`approval (${of}): ${action}`]),
    ...(waiting === undefined ? [] : [`for somebody else's call ${waiting}`]),
    ...Object.entries(fields ?? {}).map(([name, value]) => `filled in ${show(name)}: ${show(value)}`),
    ...(others ?? []).map((by) => `also approved by ${approverOf(by)}`),
    ...(deniedBy === undefined ? [] : [`denied by ${approverOf(deniedBy)}`]),
    ...(remembered === undefined
      ? []
      : [`runs on the approval that was given in chain ${remembered} (${of})`]),
  ];
}

type Approver = NonNullable<NonNullable<Audit["approval"]>["deniedBy"]>;

const approverOf = (by: Approver): string =>
  "operator" in by ? `operator ${show(by.operator)}` : `${show(by.subject)} of ${show(by.issuer)}`;

const rulesOf = ({ rules = [] }: Audit): string[] =>
  rules.map(
    ({ id, mode, detail: how }) =>
      `breaks rule ${show(id)} (${show(how)}): ${mode === "enforce" ? "enforced" : "reported only"}`,
  );

function upstreamOf({ upstreamStatus, upstreamCode, credential, state }: Audit): string[] {
  if (state === "released") return ["the server got nothing, the state was given back"];
  if (upstreamStatus === undefined) return [];
  const by = credential === undefined ? "" : `, credential ${credential}`;
  const error = upstreamCode === undefined ? "" : `, error ${upstreamCode}`;
  return [`the server answered: HTTP ${upstreamStatus}${error}${by}`];
}

function askedOf({ questions, asked = [], approval, outcome }: Audit): string[] {
  if (questions === undefined) return asked.length === 0 ? [] : [`asked once more: ${asked.join(", ")}`];
  const own =
    outcome === "input_required" &&
    approval !== undefined &&
    approval.action === undefined &&
    approval.remembered === undefined;
  return questions.flatMap(({ kind, ...digests }) => [
    own && digests.message === approval?.message
      ? `the gateway asks for approval by ${kind} (policy ${approval.policies.map(show).join(", ")}, code ${show(approval.code)})`
      : `the server asks by ${kind}`,
    ...Object.entries(digests).map(([name, digest]) => `  ${name} ${digest}`),
  ]);
}

function limitsOf({ roundLimit, ageLimitMs }: Audit): string {
  if (roundLimit === undefined || ageLimitMs === undefined) return "";
  return ` of at most ${roundLimit}, for ${duration(ageLimitMs)}`;
}

function deedOf({
  action,
  outcome,
  cause,
  entry,
  address,
  requestId,
}: Extract<Known, { readonly type: "admin" }>): string[] {
  const by = typeof entry?.by === "string" ? `, by ${show(entry.by)}` : "";
  const reason = typeof entry?.reason === "string" ? `, reason ${show(entry.reason)}` : "";
  return [
    `operator${by}${address === undefined ? "" : ` from ${show(address)}`}: ${action}${reason}`,
    ...detail("request", requestId),
    `ended: ${outcome}${cause === undefined ? "" : `, cause ${cause}`}`,
  ];
}

const detail = (name: string, text: string | undefined): string[] =>
  text === undefined ? [] : [`${name}: ${text}`];

const REPLAYS: Readonly<Record<NonNullable<AuditRecord["replay"]>, string>> = {
  first_use: "first use of this state: spent",
  already_redeemed: "used before: nothing runs a second time",
  repeated: "used before by the same retry: the answer of that run was returned",
  other_epoch: "older than the store: whether it was used before is not known",
  expired: "expired by the store's clock",
  store_unavailable: "the store could not be asked",
  revoked: "revoked",
};

const OUTCOMES: Readonly<Record<AuditRecord["outcome"], string>> = {
  preflight: "answered without a call",
  complete: "complete",
  tool_error: "the tool failed (isError)",
  input_required: "the user is asked",
  task: "a task goes on",
  error: "an error of the server",
  accepted: "accepted",
  stream: "a stream was opened",
  refused: "refused",
  cancelled: "the client left",
};

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1_000);
  if (minutes < 60) return `${minutes} min${seconds === 0 ? "" : ` ${seconds} s`}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const show = (text: string): string =>
  text.replace(
    UNSEEN,
    (character) => `{U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}}`,
  );
