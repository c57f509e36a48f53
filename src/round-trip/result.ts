/**
 * Response steps 3 and 4: an `input_required` result leaves only with questions the client may be asked and a sealed state.
 * Spec: basic/patterns/mrtr; docs/envelope.md.
 */
import { auditQuestions } from "../audit/questions.ts";
import { requestIdDigest } from "../binding.ts";
import type { Call } from "../call.ts";
import { checkQuestions } from "../capability/check.ts";
import type { Approval, Asked, Claims, Sealed } from "../envelope/format.ts";
import { seal } from "../envelope/seal.ts";
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject } from "../json/splice.ts";
import { MRTR_METHODS } from "../mcp/methods.ts";
import { questionFindings } from "../mcp/question-findings.ts";
import { parseQuestions, type Question } from "../mcp/questions.ts";
import { stateFindings } from "../mcp/state-findings.ts";
import { begun, isRevoked, presented, type RoundTripContext } from "./retry.ts";

/** A sealed round: the edits to the result, and what audit says of it. */
export interface SealedRound {
  readonly edits: readonly Edit[];
  readonly claims: Claims;
}

/**
 * Checks the questions of an `input_required` result and seals its state.
 * @param before the claims of the state that this request redeemed, if it was a retry
 * @throws Refusal `upstream_fault`, `missing_capability`, `question_forbidden`, `round_limit`, `open_rounds_limited`, `store_unavailable`, and
 *   `invalid_request_state` for a chain, a caller or a route that was revoked while the server worked on it
 */
export function sealRound(
  context: RoundTripContext,
  call: Call,
  before: Claims | undefined,
  doc: JsonText,
  result: Node,
): SealedRound {
  if (!MRTR_METHODS.has(call.message.method)) throw new Refusal("upstream_fault", "input_required_method");
  if (isRevoked(context, call, before ?? begun(call))) throw new Refusal("invalid_request_state", "revoked");
  const state = readState(doc, result, context.maxStateBytes);
  const requests = doc.get(result, "inputRequests");
  const questions = askedIn(context, doc, result);
  if (questions.length === 0 && state === undefined) {
    const refuse = (): Refusal => new Refusal("upstream_fault", "nothing_asked");
    call.journey.judge([{ rule: "mrtr/nothing-asked", detail: "nothing_asked" }], refuse);
  }
  checkQuestions(questions, call.declared, call.allow());
  if (requests !== undefined) judgeQuestions(call, doc, requests);
  if (state !== undefined) judgeState(call, state);
  const claims = nextClaims(context, call, before, questions.map(asAsked), state);
  const token = seal(context.keys.ring, context.audience, claims, context.random);
  if (token.length > context.maxTokenBytes) throw new Refusal("upstream_fault", "state_too_large");
  // Before the user is asked, as all limits on rounds.
  call.journey.allowance?.openRound(claims, before === undefined);
  call.journey.draft.questions = auditQuestions(doc, questions);
  const remove = new Set(["ttlMs", "cacheScope"]);
  if (requests !== undefined && doc.kind(requests) === "null") remove.add("inputRequests");
  return { edits: editObject(doc, result, { set: { requestState: JSON.stringify(token) }, remove }), claims };
}

/**
 * Seals the gateway's own question for consent, which begins a chain. No server has been asked anything.
 * @throws Refusal `round_limit`, `open_rounds_limited`, `store_unavailable`, `invalid_request_state` for a caller or a route that is
 *   revoked, and `question_forbidden` for a question that no answer could bring back
 */
export function sealConsent(
  context: RoundTripContext,
  call: Call,
  approval: Approval,
  question: Extract<Asked, { readonly kind: "form" }>,
): { readonly token: Sealed; readonly claims: Claims } {
  if (isRevoked(context, call, begun(call))) throw new Refusal("invalid_request_state", "revoked");
  const claims = { ...nextClaims(context, call, undefined, [question], undefined), approval };
  const token = seal(context.keys.ring, context.audience, claims, context.random);
  if (token.length > context.maxTokenBytes) throw new Refusal("question_forbidden", "approval_too_large");
  call.journey.allowance?.openRound(claims, true);
  return { token, claims };
}

/**
 * Judges the questions of an answer that left before, and is to leave again: what may be asked can have changed since.
 * @throws Refusal as `sealRound`
 */
export function judgeAgain(context: RoundTripContext, call: Call, doc: JsonText, result: Node): void {
  checkQuestions(askedIn(context, doc, result), call.declared, call.allow());
  const requests = doc.get(result, "inputRequests");
  if (requests !== undefined) judgeQuestions(call, doc, requests);
}

/** Absent and null are none. @throws Refusal `upstream_fault` */
function askedIn({ maxSchemaBytes }: RoundTripContext, doc: JsonText, result: Node): Question[] {
  const requests = doc.present(result, "inputRequests");
  return requests === undefined ? [] : parseQuestions(doc, requests, maxSchemaBytes);
}

/** The rules that questions of the right shape can still break. @throws Refusal `question_forbidden` */
export function judgeQuestions(call: Call, doc: JsonText, inputRequests: Node): void {
  const { journey, declared } = call;
  const findings = questionFindings(doc, inputRequests, declared, journey.route.addresses);
  journey.judge(
    findings,
    ({ rule, detail, data }) => new Refusal("question_forbidden", detail, { data: { rule, ...data } }),
  );
}

/** What the server's own state holds before it is sealed: said by kind and size. @throws Refusal `upstream_fault` */
function judgeState({ journey }: Call, state: string): void {
  const { modes } = journey;
  if (modes["mrtr/state-credentials"] === "off" && modes["mrtr/state-personal-data"] === "off") return;
  journey.judge(stateFindings(state), ({ detail }) => new Refusal("upstream_fault", detail));
}

/** The upstream's state, or undefined where it sent none. Null counts as none, the empty string as a state. */
function readState(doc: JsonText, result: Node, maxBytes: number): string | undefined {
  const node = doc.present(result, "requestState");
  if (node === undefined) return undefined;
  const state = doc.text(node);
  if (state === undefined) throw new Refusal("upstream_fault", "state_shape");
  if (Buffer.byteLength(state) > maxBytes) throw new Refusal("upstream_fault", "state_too_large");
  return state;
}

function nextClaims(
  context: RoundTripContext,
  call: Call,
  before: Claims | undefined,
  asked: readonly Asked[],
  state: string | undefined,
): Claims {
  const { maxRounds, maxAge } = call.journey.route.config.roundTrip;
  const iat = Math.floor(context.now() / 1000);
  const round = (before?.round ?? 0) + 1;
  const chainIat = before?.chainIat ?? birth(context, call, iat);
  const exp = Math.min(iat + Math.floor(context.ttl / 1000), chainIat + Math.floor(maxAge / 1000));
  // The user is not asked for an answer that could not be redeemed.
  if (round > maxRounds || exp <= iat) {
    throw new Refusal("round_limit", round > maxRounds ? "max_rounds" : "max_age");
  }
  // The state comes before the epoch: where states are spread over servers, it decides on the server.
  const jti = context.random(16).toString("base64url");
  const epoch = context.store.epoch(jti);
  if (epoch === undefined) throw new Refusal("store_unavailable", "epoch_never_read");
  const requestId = requestIdDigest(call.message.id);
  call.journey.draft.rpcId = requestId;
  return {
    jti,
    iat,
    exp,
    round,
    chain: before?.chain ?? jti,
    chainIat,
    ...presented(call),
    requestId,
    asked,
    epoch,
    ...(call.consent === undefined ? {} : { approval: call.consent }),
    ...(state === undefined ? {} : { state }),
  };
}

/**
 * When a new chain is born, in unix seconds: now; but later than every revocation that is known here, which it is in truth,
 * whatever the clocks of gateways and store say.
 * @throws Refusal `store_unavailable` while nobody can know of revocations
 */
export function birth({ overrides }: RoundTripContext, { journey }: Call, iat: number): number {
  if (!overrides.known()) throw new Refusal("store_unavailable", "overrides_never_read");
  return Math.max(iat, overrides.firstBirth(journey.principal, journey.route.config.path));
}

function asAsked(question: Question): Asked {
  return question.kind === "form"
    ? { key: question.key, kind: "form", schema: question.schema }
    : { key: question.key, kind: question.kind };
}
