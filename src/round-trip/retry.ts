/**
 * Request step 7: a request that carries `requestState` or `inputResponses`.
 * Open → check binding → check answers here; the gateway has taken a place before and calls `redeem` last, right before sending.
 * That order is a security property: a stranger's or a malformed attempt never spends the owner's state.
 * Spec: basic/patterns/mrtr; docs/envelope.md, docs/redemption.md, docs/refusals.md.
 */
import { auditBrought, auditChain } from "../audit/record.ts";
import { checkBinding, requestIdDigest } from "../binding.ts";
import type { Ask, Call } from "../call.ts";
import { checkStillAllowed } from "../capability/check.ts";
import { type Claims, EnvelopeError } from "../envelope/format.ts";
import { openToken, readToken } from "../envelope/open.ts";
import { Refusal } from "../errors.ts";
import type { Journey } from "../journey.ts";
import { digestParams } from "../json/canonical.ts";
import { type Edit, editObject } from "../json/splice.ts";
import type { Sealing } from "../keyring.ts";
import { actionsIn, checkAnswers } from "../mcp/answers.ts";
import { MRTR_METHODS } from "../mcp/methods.ts";
import type { Overrides } from "../overrides/overrides.ts";
import type { Chain } from "../overrides/table.ts";
import { principalDigest } from "../principal/principal.ts";
import { type RedemptionStore, StoreUnavailable } from "../redemption/store.ts";
import { dropMembers, type Reprompt, refuseState, rejection, rejectState } from "./rejection.ts";

/** What opening and sealing need besides the call. */
export interface RoundTripContext extends Sealing {
  /** Milliseconds. */
  readonly ttl: number;
  readonly maxStateBytes: number;
  readonly maxSchemaBytes: number;
  /** What a state with all of that may come to, sealed. */
  readonly maxTokenBytes: number;
  /** Milliseconds. */
  readonly clockSkew: number;
  readonly store: RedemptionStore;
  /** What operators have revoked, granted and denied. */
  readonly overrides: Overrides;
}

/** What the request turned out to be, and the edits that make it fit for the upstream. */
export type Retry =
  | { readonly kind: "first"; readonly edits: readonly Edit[] }
  | Reprompt
  | {
      readonly kind: "retry";
      readonly edits: readonly Edit[];
      readonly claims: Claims;
      /** What the user did with each question that was answered; for audit. */
      readonly answers: readonly string[];
    };

/**
 * Opens and checks everything a retry brings; spends nothing.
 * @throws Refusal `invalid_request_state`, `invalid_input_responses`, `same_request_id`, `question_forbidden`
 */
export function openRetry(context: RoundTripContext, call: Call): Retry {
  const { doc, params } = call;
  // A client can strip a member anyway, so null means absent.
  const state = doc.present(params, "requestState");
  const answers = doc.present(params, "inputResponses");
  if (state === undefined && answers === undefined) {
    return { kind: "first", edits: dropMembers(call, ["requestState", "inputResponses"]) };
  }
  if (!MRTR_METHODS.has(call.message.method)) throw refuseState("unsupported_method");
  if (state === undefined) return answersAlone(call);
  let claims: Claims;
  try {
    const text = doc.text(state);
    if (text === undefined) throw new EnvelopeError("shape");
    const closed = readToken(context.keys.ring, text, context.maxTokenBytes);
    // Digested before the state is opened, so that the time of a refusal does not tell how far it got; and after what
    // stands in clear is seen to be right, so that a state which is none costs nothing.
    const request = presented(call);
    claims = openToken(closed, context.audience);
    // It is one of ours: audit names it, whosever attempt this is.
    Object.assign(call.journey.draft, auditBrought(claims));
    checkBinding(claims, request, context.now() / 1000, context.clockSkew / 1000);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    return rejectState(call, error.fault);
  }
  Object.assign(call.journey.draft, { state: "opened", ...auditChain(claims) });
  const rpcId = requestIdDigest(call.message.id);
  call.journey.draft.rpcId = rpcId;
  if (rpcId === claims.requestId) {
    const refuse = (): Refusal => new Refusal("same_request_id", "same_request_id");
    call.journey.judge([{ rule: "mrtr/same-request-id", detail: "same_request_id" }], refuse);
  }
  // The gateway's own question: its answer is for the gateway, which judges it (approval/consent.ts), and the server gets the first call.
  if (claims.approval?.given === false)
    return {
      kind: "retry",
      edits: dropMembers(call, ["requestState", "inputResponses"]),
      claims,
      answers: [],
    };
  checkStillAllowed(claims.asked, call.allow());
  const { edits, findings } =
    answers === undefined ? { edits: [], findings: [] } : checkAnswers(doc, answers, claims.asked);
  call.journey.judge(findings, ({ detail }) => new Refusal("invalid_input_responses", detail));
  if (claims.asked.some(({ key }) => doc.get(answers, key) === undefined)) {
    const refuse = (): Refusal => new Refusal("invalid_input_responses", "answers_missing");
    call.journey.judge([{ rule: "mrtr/answers-missing", detail: "answers_missing" }], refuse);
  }
  const stateEdits =
    params === undefined
      ? []
      : editObject(
          doc,
          params,
          claims.state === undefined
            ? {
                remove: new Set(
                  answers === undefined ? ["requestState", "inputResponses"] : ["requestState"],
                ),
              }
            : {
                set: { requestState: JSON.stringify(claims.state) },
                remove: new Set(answers === undefined ? ["inputResponses"] : []),
              },
        );
  return {
    kind: "retry",
    edits: [...edits, ...stateEdits],
    claims,
    answers: answers === undefined ? [] : actionsIn(doc, answers, claims.asked),
  };
}

/**
 * Spends the state, once across all replicas.
 * @returns gives the state back; to be called only if the upstream surely got nothing
 * @throws Refusal `already_redeemed`, `outcome_unknown`, `invalid_request_state`, `store_unavailable`
 */
export async function redeem(
  context: RoundTripContext,
  call: Call,
  claims: Claims,
): Promise<() => Promise<void>> {
  // Last of all but the redemption: who is not the state's owner does not learn that it is revoked.
  if (isRevoked(context, call, claims)) throw rejection(call, "revoked");
  const redemption = await context.store.redeem(claims).catch((error: unknown) => {
    if (error instanceof StoreUnavailable)
      throw new Refusal("store_unavailable", error.reason, { cause: error });
    throw error;
  });
  switch (redemption.outcome) {
    case "redeemed":
      if (isRevoked(context, call, claims)) {
        // Revoked while the store was waited for; the server has got nothing.
        await context.store.release(claims, redemption.attempt);
        throw rejection(call, "revoked");
      }
      return () => context.store.release(claims, redemption.attempt);
    case "already_redeemed":
      throw new Refusal("already_redeemed", "already_redeemed");
    case "epoch_mismatch":
      throw new Refusal("outcome_unknown", "epoch_mismatch");
    case "expired":
      // By the store's clock, which is the one that counts.
      throw rejection(call, "expired");
  }
}

/** What a call that begins a chain is compared with: its birth when it came, and the id of none. */
export const begun = ({ birth }: Call): Chain => ({ chain: "", chainIat: birth });

/**
 * Whether operators have revoked a chain or a task, which belongs to this call.
 * @throws Refusal `store_unavailable` while nobody can know
 */
export function isRevoked(
  { overrides }: RoundTripContext,
  { journey }: Pick<Call, "journey">,
  chain: Chain,
): boolean {
  if (!overrides.known()) throw new Refusal("store_unavailable", "overrides_never_read");
  return overrides.isRevoked(chain, journey.principal, journey.route.config.path);
}

/** What a server may ask now for a call of `tool`: policy, and what operators have granted and denied since. */
export function allowedNow(
  { overrides }: RoundTripContext,
  { route, principal }: Journey,
  tool: string | undefined,
): ReadonlySet<Ask> {
  return overrides.asks(route.allowedAsks(tool), { principal, route: route.config.path, tool });
}

/** What this call would be sealed as; compared with the claims, and noted for audit as far as it is shown there. */
export function presented(call: Call): Parameters<typeof checkBinding>[1] {
  const { journey } = call;
  const { path, upstream, roundTrip } = journey.route.config;
  const params = digestParams(call.doc, call.params);
  const { maxRounds: roundLimit, maxAge: ageLimitMs } = roundTrip;
  Object.assign(journey.draft, { params, roundLimit, ageLimitMs });
  return {
    route: path,
    upstream: upstream.url,
    principal: principalDigest(journey.principal),
    method: call.message.method,
    target: call.target?.name ?? "",
    params,
    version: call.version,
  };
}

/** Answers to questions that no sealed state says were asked. */
function answersAlone(call: Call): Retry {
  switch (call.journey.route.config.roundTrip.answersWithoutState) {
    case "refuse":
      return rejectState(call, "absent");
    case "drop":
      return { kind: "first", edits: dropMembers(call, ["requestState", "inputResponses"]) };
    case "forward":
      return { kind: "first", edits: dropMembers(call, ["requestState"]) };
  }
}
