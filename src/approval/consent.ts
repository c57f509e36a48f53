/**
 * Whether a call has the user's consent, where policy asks for it. Judged behind everything that can refuse the call and right before its
 * state is redeemed; nothing has gone upstream by then. Decision 33.
 */
import { sameDigest } from "../binding.ts";
import type { Call } from "../call.ts";
import type { Approval, Claims } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import { capabilitiesFor } from "../mcp/capabilities.ts";
import { rejection, rejectState } from "../round-trip/rejection.ts";
import { isRevoked, type Retry, type RoundTripContext } from "../round-trip/retry.ts";
import { type FilledField, readApprovalAnswer } from "./answer.ts";
import type { Approvals, Approver, Recalled } from "./approvals.ts";
import { type ApprovePolicies, MAX_POLICIES } from "./approve-policies.ts";
import type { ApprovePolicy } from "./approve-policy.ts";
import { keptOf, noteQuestion } from "./noted.ts";
import { type ApprovalCall, type ApprovalQuestion, approvalQuestion, waitingIdOf } from "./question.ts";

/** What the stage works with. */
export interface Consents {
  readonly policies: ApprovePolicies;
  readonly approvals: Approvals;
}

/** A question with what it is about. */
export interface Consulted {
  readonly policies: readonly ApprovePolicy[];
  readonly subject: ApprovalCall;
  readonly question: ApprovalQuestion;
}

/** What has been judged. */
export type Consent =
  /** No policy asks. */
  | { readonly kind: "free" }
  | ({ readonly kind: "ask" } & Consulted)
  /** The call runs; `approval` is sealed into all that is asked in its chain from now on. */
  | ({
      readonly kind: "given";
      readonly approval: Approval;
      /** How, unless it was in an earlier round. */
      readonly by?:
        | {
            readonly filled: readonly FilledField[];
            readonly others: readonly Approver[];
            readonly claims: Claims;
          }
        | { readonly recalled: Recalled };
    } & Consulted)
  /** It does not run, and the state is spent: the user's own no, or that of another who was needed. */
  | ({
      readonly kind: "refused";
      readonly cause: "decline" | "cancel" | "denied";
      /** Whose no it is that another has said. */
      readonly deniedBy?: Approver;
      readonly claims: Claims;
    } & Consulted)
  /** The answer to a call that is somebody else's. This one does not run, and the state is spent. */
  | ({
      readonly kind: "vote";
      readonly id: string;
      readonly approves: boolean;
      readonly claims: Claims;
    } & Consulted);

const FREE: Consent = { kind: "free" };

/**
 * Judges a call that policy allows, or one that is hidden and must be asked about like an unknown one; at once, where nobody is asked.
 * @param asked the ids of the approve policies that match it (`Decision.approvals`); and whether it is hidden, so that nothing is known of it
 * @param retry what its state turned out to be
 * @throws Refusal `invalid_request_state` for a state whose consent is not that to what policy asks for now,
 *   `invalid_input_responses` for an answer that is neither yes nor no, `missing_capability`, `question_forbidden`,
 *   `approval_pending`, `store_unavailable`, `too_many_requests`
 */
export function judgeConsent(
  context: RoundTripContext,
  consents: Consents,
  call: Call,
  { ids, hidden }: { readonly ids: readonly string[]; readonly hidden: boolean },
  retry: Retry,
): Consent | Promise<Consent> {
  const sealed = retry.kind === "retry" ? retry.claims.approval : undefined;
  if (ids.length === 0 && sealed === undefined) return FREE;
  const hints =
    call.target === undefined || hidden ? undefined : call.journey.route.seen.hintsOf(call.target.name);
  const demanded = consents.policies.demanded(ids, hints);
  if (demanded.length === 0 && sealed === undefined) return FREE;
  const asked: Asked = { demanded, hidden };
  return retry.kind === "retry"
    ? judgeRetry(context, consents, call, asked, retry.claims)
    : first(context, consents, call, asked);
}

/** What policy makes of a call: who asks, and whether it is hidden from its caller. */
interface Asked {
  readonly demanded: readonly ApprovePolicy[];
  readonly hidden: boolean;
}

async function judgeRetry(
  context: RoundTripContext,
  consents: Consents,
  call: Call,
  asked: Asked,
  claims: Claims,
): Promise<Consent> {
  const { approval: sealed } = claims;
  const shown = sealed && (await shownBefore(consents, call, claims, sealed, asked));
  if (sealed !== undefined && shown !== undefined) {
    if (sealed.given) return { kind: "given", approval: sealed, ...shown };
    // Asked again when it is redeemed. But nothing waits for others that could not run.
    if (consents.approvals.needsOthers(shown.policies) && isRevoked(context, call, claims))
      throw rejection(call, "revoked");
    return answered(consents, call, claims, { ...sealed, given: true }, shown);
  }
  // Where nothing is asked any more there is nothing to ask again: whoever calls starts over.
  if (asked.demanded.length === 0) throw rejection(call, "approval");
  // Throws, unless bad states are asked about again on this route.
  rejectState(call, "approval");
  Object.assign(call.journey.draft, { state: "reprompted", cause: "approval" });
  return first(context, consents, call, asked);
}

/** A call without a state: consent that was given before, somebody else's same call that waits for this caller, or the question. */
async function first(
  context: RoundTripContext,
  { approvals }: Consents,
  call: Call,
  { demanded: policies, hidden }: Asked,
): Promise<Consent> {
  if (policies.length > MAX_POLICIES) throw new Refusal("question_forbidden", "approval_policies");
  const subject = subjectOf(call, hidden);
  const recalled = await approvals.recall(policies, subject);
  if (recalled !== undefined) {
    const question = approvalQuestion(policies, subject, codeOf(approvals));
    const approval: Approval = { policies: question.policies, shown: question.shown, given: true };
    if (!recalled.chains.some((chain) => isRevoked(context, call, chain)))
      return { kind: "given", approval, by: { recalled }, policies, subject, question };
  }
  // The question is the operator's own: `capability.allow` is about what servers ask, what the client declares is not.
  if (!call.declared.form) {
    const requiredCapabilities = capabilitiesFor(["form"]);
    throw new Refusal("missing_capability", "approval", { data: { requiredCapabilities } });
  }
  const waiting = approvals.needsOthers(policies) ? await approvals.waitingFor(policies, subject) : undefined;
  return {
    kind: "ask",
    policies,
    subject,
    question: approvalQuestion(policies, subject, codeOf(approvals), waiting),
  };
}

/**
 * The question that was put, made anew; undefined unless it is the very same by now, and for all policies that ask now. It may be for
 * more: a replica that has not seen the tool's annotations asks where another does not.
 */
async function shownBefore(
  { policies: known, approvals }: Consents,
  call: Call,
  { asked }: Claims,
  sealed: Approval,
  { demanded, hidden }: Asked,
): Promise<Consulted | undefined> {
  const policies = known.named(sealed.policies);
  if (policies === undefined || !demanded.every(({ id }) => sealed.policies.includes(id))) return undefined;
  const subject = subjectOf(call, hidden);
  const id = sealed.given ? undefined : waitingIdOf(asked[0]?.key ?? "");
  const waiting = id === undefined ? undefined : await approvals.waiting(id, policies, subject);
  if (id !== undefined && waiting === undefined) return undefined;
  const question = approvalQuestion(policies, subject, codeOf(approvals), waiting);
  return sameDigest(question.shown, sealed.shown) ? { policies, subject, question } : undefined;
}

/** What the user said to the question. */
async function answered(
  { approvals }: Consents,
  call: Call,
  claims: Claims,
  approval: Approval,
  shown: Consulted,
): Promise<Consent> {
  const { policies, subject, question } = shown;
  const answer = readApprovalAnswer(call.doc, call.doc.get(call.params, "inputResponses"), question);
  if (answer.kind === "malformed") {
    noteQuestion(call, question);
    const { detail, field } = answer;
    throw new Refusal("invalid_input_responses", detail, { data: field === undefined ? {} : { field } });
  }
  const id = waitingIdOf(question.key);
  // Who only closes the question says neither.
  if (id !== undefined && answer.kind !== "cancel")
    return { kind: "vote", id, approves: answer.kind === "accept", claims, ...shown };
  if (answer.kind !== "accept") {
    if (id === undefined && answer.kind === "decline" && approvals.needsOthers(policies))
      await approvals.withdraw(subject, question);
    return { kind: "refused", cause: answer.kind, claims, ...shown };
  }
  const given = { kind: "given", approval, ...shown } as const;
  if (!approvals.needsOthers(policies))
    return { ...given, by: { filled: answer.fields, others: [], claims } };
  const { chain, chainIat, jti, exp } = claims;
  noteQuestion(call, question, { action: "accept", ...keptOf(answer.fields) });
  const standing = await approvals.standing(policies, subject, question, { chain, chainIat, jti, exp });
  switch (standing.outcome) {
    case "met":
      return { ...given, by: { filled: answer.fields, others: standing.approvers, claims } };
    case "denied":
      return { kind: "refused", cause: "denied", deniedBy: standing.by, claims, ...shown };
    case "expired":
      throw rejection(call, "expired");
    case "full":
      throw new Refusal("approvals_limited", "others");
    case "waiting":
      throw new Refusal("approval_pending", "others", {
        data: { approval: standing.id, missing: standing.missing },
        headers: { "retry-after": String(Math.max(1, Math.ceil(standing.retryAfterMs / 1_000))) },
      });
  }
}

const codeOf =
  (approvals: Approvals) =>
  (matter: string): string =>
    approvals.code(matter);

function subjectOf({ journey, message, target, doc, params }: Call, hidden: boolean): ApprovalCall {
  // Only what names a tool, a prompt or a resource is ever asked about.
  if (target === undefined) throw new Refusal("internal", "approval_target");
  const { path, upstream } = journey.route.config;
  const { principal } = journey;
  const { method } = message;
  const { url } = upstream;
  return { server: path, route: path, upstream: url, method, target, hidden, doc, params, principal };
}
