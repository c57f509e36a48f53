/** The two ends of a question for consent: how it leaves, and what comes of an answer that lets nothing run. What is on record of either. */
import type { FastifyReply } from "fastify";
import { auditForm } from "../audit/questions.ts";
import { auditChain } from "../audit/record.ts";
import type { Call } from "../call.ts";
import { deliverJson } from "../deliver.ts";
import type { Claims } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import { toolErrorBody } from "../http/respond.ts";
import type { Gateway } from "../opened-gateway.ts";
import { keep } from "../response.ts";
import { ToolErrorRejection } from "../round-trip/rejection.ts";
import { sealConsent } from "../round-trip/result.ts";
import type { Consent } from "./consent.ts";
import { keptOf, noteQuestion } from "./noted.ts";
import type { ApprovalQuestion } from "./question.ts";

type Asking = Extract<Consent, { readonly kind: "ask" }>;
/** A consent on which nothing is asked: the call runs, or it does not. */
export type Judged = Exclude<Consent, Asking | { readonly kind: "free" }>;

/** Answers a call with the question, sealed. The server hears nothing. @throws Refusal as `sealConsent` */
export async function askConsent(
  gateway: Gateway,
  call: Call,
  { question }: Asking,
  reply: FastifyReply,
): Promise<void> {
  const { journey, message } = call;
  if (journey.stopped !== undefined) throw journey.stopped;
  const { key, policies, shown, requestedSchema } = question;
  const { token, claims } = sealConsent(
    gateway.roundTrip,
    call,
    { policies, shown, given: false },
    { key, kind: "form", schema: requestedSchema },
  );
  Object.assign(journey.draft, auditChain(claims), {
    outcome: "input_required",
    asked: ["form"],
    questions: [auditForm(question)],
  });
  noteQuestion(call, question);
  gateway.metrics.approval(policies, "asked");
  const bytes = Buffer.from(askedBody(message.id, question, token));
  await deliverJson({ journey, reply, limits: gateway.config.server.limits }, { status: 200, bytes });
  journey.finish({});
}

/** The JSON-RPC message. @param id as the client spelled it */
function askedBody(id: string, { key, message, requestedSchema }: ApprovalQuestion, token: string): string {
  const params = `{"mode":"form","message":${JSON.stringify(message)},"requestedSchema":${requestedSchema}}`;
  const requests = `{${JSON.stringify(key)}:{"method":"elicitation/create","params":${params}}}`;
  const result = `{"resultType":"input_required","inputRequests":${requests},"requestState":${JSON.stringify(token)}}`;
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** Records what the user was asked and has said, and lets the call run on it if it is to run. */
export function noteConsent(call: Call, consent: Judged): void {
  const action = actionOf(consent);
  const given = consent.kind === "given" ? consent.by : undefined;
  const answer = given !== undefined && "filled" in given ? given : undefined;
  noteQuestion(call, consent.question, {
    ...(action === undefined ? {} : { action }),
    ...keptOf(answer?.filled ?? []),
    ...(answer === undefined || answer.others.length === 0 ? {} : { others: answer.others }),
    ...(given !== undefined && "recalled" in given ? { remembered: given.recalled.chain } : {}),
    ...(consent.kind === "refused" && consent.deniedBy !== undefined ? { deniedBy: consent.deniedBy } : {}),
    ...(consent.kind === "vote" ? { waiting: consent.id } : {}),
  });
  if (consent.kind === "given") call.consent = consent.approval;
}

/** Counts an answer, once its state is spent: repeats of it are none; and a call that runs on an earlier one. */
export function countConsent({ metrics }: Gateway, consent: Judged): void {
  const recalled = consent.kind === "given" && consent.by !== undefined && "recalled" in consent.by;
  const outcome = recalled ? "remembered" : actionOf(consent);
  if (outcome !== undefined) metrics.approval(consent.question.policies, outcome);
}

/** Whether it is a question, or an answer that this request brought: what an unknown name comes to before it is sent. */
export const isAnswered = (consent: Consent): boolean =>
  consent.kind === "ask" || (consent.kind !== "free" && actionOf(consent) !== undefined);

/** What the user did; undefined where this request brought no answer. */
function actionOf(consent: Judged): "accept" | "decline" | "cancel" | undefined {
  switch (consent.kind) {
    case "given":
      return consent.by !== undefined && "filled" in consent.by ? "accept" : undefined;
    case "refused":
      return consent.cause === "denied" ? "accept" : consent.cause;
    case "vote":
      return consent.approves ? "accept" : "decline";
  }
}

/**
 * What a call comes to that does not run, once its state is spent: nobody turns a no into a yes. To the model where there is one, with
 * the answer kept for a repeat.
 * @param release gives the state back, for an answer that could not be recorded
 * @throws Refusal `store_unavailable`, where somebody else's call waits in the store
 */
export async function refuseConsent(
  gateway: Gateway,
  call: Call,
  consent: Exclude<Judged, { readonly kind: "given" }>,
  release: () => Promise<void>,
): Promise<Refusal> {
  const { claims } = consent;
  if (consent.kind === "refused") {
    countConsent(gateway, consent);
    return told(gateway, call, claims, "approval_declined", consent.cause);
  }
  const { id, approves, policies, subject } = consent;
  let vote: string;
  try {
    vote = await gateway.consents.approvals.vote(id, policies, subject, approves, claims);
  } catch (error) {
    await release();
    call.journey.draft.state = "released";
    throw error;
  }
  countConsent(gateway, consent);
  return told(gateway, call, claims, "approval_recorded", vote);
}

/** Remembers an approval whose call was sent on, where policy lets it; nobody waits for it. */
export function rememberConsent({ consents, log }: Gateway, consent: Consent): void {
  if (consent.kind !== "given" || consent.by === undefined || !("filled" in consent.by)) return;
  const { chain, chainIat, jti, exp } = consent.by.claims;
  consents.approvals
    .remember(consent.policies, consent.subject, { chain, chainIat, jti, exp })
    .catch(() => log.warn({ policies: consent.question.policies }, "an approval was not remembered"));
}

function told(
  gateway: Gateway,
  call: Call,
  claims: Claims,
  code: "approval_declined" | "approval_recorded",
  cause: string,
): Refusal {
  if (call.message.method !== "tools/call") return new Refusal(code, cause);
  const bytes = Buffer.from(toolErrorBody(call.message.id, code));
  keep(gateway, call, claims, { outcome: "tool_error", bytes, sealed: undefined }, 200);
  return new ToolErrorRejection(code, cause);
}
