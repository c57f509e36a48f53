/**
 * Whether a call has the user's consent, where policy asks for it. Judged behind everything that can refuse the call and right before its
 * state is redeemed; nothing has gone upstream by then. Decision 33.
 */
import { sameDigest } from "../binding.ts";
import type { Call } from "../call.ts";
import type { Approval } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import { capabilitiesFor } from "../mcp/capabilities.ts";
import { type Retry, rejectState } from "../round-trip/retry.ts";
import { type FilledField, readApprovalAnswer } from "./answer.ts";
import { type ApprovePolicies, MAX_POLICIES } from "./policy.ts";
import { type ApprovalQuestion, type ApprovePolicy, approvalQuestion } from "./question.ts";

/** What the stage works with. */
export interface Consents {
  readonly policies: ApprovePolicies;
  /** See `approvalQuestion`. */
  readonly code: (shown: string) => string;
}

/** What has been judged. */
export type Consent =
  /** No policy asks. */
  | { readonly kind: "free" }
  | { readonly kind: "ask"; readonly question: ApprovalQuestion }
  /** The call runs; `approval` is sealed into all that is asked in its chain from now on. */
  | {
      readonly kind: "given";
      readonly approval: Approval;
      readonly question: ApprovalQuestion;
      /** Set where this request brought the answer. */
      readonly filled: readonly FilledField[] | undefined;
    }
  | {
      readonly kind: "refused";
      readonly action: "decline" | "cancel";
      readonly question: ApprovalQuestion;
    };

/**
 * Judges a call that policy allows.
 * @param ids of the approve policies that match it (`Decision.approvals`)
 * @param retry what its state turned out to be
 * @throws Refusal `invalid_request_state` for a state whose consent is not that to what policy asks for now,
 *   `invalid_input_responses` for an answer that is neither yes nor no, `missing_capability`, `question_forbidden`
 */
export function judgeConsent(consents: Consents, call: Call, ids: readonly string[], retry: Retry): Consent {
  const { policies } = consents;
  const sealed = retry.kind === "retry" ? retry.claims.approval : undefined;
  if (ids.length === 0 && sealed === undefined) return { kind: "free" };
  const hints = call.target === undefined ? undefined : call.journey.route.seen.hintsOf(call.target.name);
  const demanded = policies.demanded(ids, hints);
  if (demanded.length === 0 && sealed === undefined) return { kind: "free" };
  if (retry.kind !== "retry") return ask(consents, call, demanded);
  const question = sealed === undefined ? undefined : shownBefore(consents, call, sealed, demanded);
  if (sealed === undefined || question === undefined) {
    // Where nothing is asked any more there is nothing to ask again: whoever calls starts over.
    if (demanded.length === 0) throw new Refusal("invalid_request_state", "approval");
    const again = rejectState(call, "approval");
    if (again.kind === "reprompt")
      Object.assign(call.journey.draft, { state: "reprompted", cause: "approval" });
    return ask(consents, call, demanded);
  }
  const approval: Approval = { ...sealed, given: true };
  if (sealed.given) return { kind: "given", approval, question, filled: undefined };
  const answer = readApprovalAnswer(call.doc, call.doc.get(call.params, "inputResponses"), question);
  switch (answer.kind) {
    case "accept":
      return { kind: "given", approval, question, filled: answer.fields };
    case "decline":
    case "cancel":
      return { kind: "refused", action: answer.kind, question };
    case "malformed":
      throw new Refusal("invalid_input_responses", answer.detail);
  }
}

/**
 * The question that was put, made anew; undefined unless it is the very same by now, and for all policies that ask now. It may be for
 * more: a replica that has not seen the tool's annotations asks where another does not.
 */
function shownBefore(
  consents: Consents,
  call: Call,
  sealed: Approval,
  demanded: readonly ApprovePolicy[],
): ApprovalQuestion | undefined {
  const policies = consents.policies.named(sealed.policies);
  if (policies === undefined || !demanded.every(({ id }) => sealed.policies.includes(id))) return undefined;
  const question = questionFor(consents, call, policies);
  return sameDigest(question.shown, sealed.shown) ? question : undefined;
}

function ask(consents: Consents, call: Call, demanded: readonly ApprovePolicy[]): Consent {
  // The question is the operator's own: `capability.allow` is about what servers ask, what the client declares is not.
  if (!call.declared.form) {
    const requiredCapabilities = capabilitiesFor(["form"]);
    throw new Refusal("missing_capability", "approval", { data: { requiredCapabilities } });
  }
  if (demanded.length > MAX_POLICIES) throw new Refusal("question_forbidden", "approval_policies");
  return { kind: "ask", question: questionFor(consents, call, demanded) };
}

/** @throws Refusal for a call that is about nothing, which cannot be asked about */
function questionFor(
  { code }: Consents,
  { journey, message, target, doc, params }: Call,
  policies: readonly ApprovePolicy[],
): ApprovalQuestion {
  if (target === undefined) throw new Refusal("internal", "approval_target");
  const { path, upstream } = journey.route.config;
  const where = { server: path, route: path, upstream: upstream.url };
  const { principal } = journey;
  return approvalQuestion(
    policies,
    { ...where, method: message.method, target, doc, params, principal },
    code,
  );
}
