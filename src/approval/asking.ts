/** The two ends of a question for consent: how it leaves, and what a no becomes. What is on record of either. */
import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { auditChain } from "../audit/record.ts";
import type { Call } from "../call.ts";
import { deliverJson } from "../deliver.ts";
import type { Claims } from "../envelope/format.ts";
import type { Refusal } from "../errors.ts";
import type { Gateway } from "../gateway.ts";
import { toolErrorBody } from "../http/respond.ts";
import { keep } from "../response.ts";
import { sealConsent } from "../round-trip/result.ts";
import { declined } from "../round-trip/retry.ts";
import type { Consent } from "./consent.ts";
import { APPROVAL_KEY, type ApprovalQuestion } from "./question.ts";

/** Answers a call with the question, sealed. The server hears nothing. @throws Refusal as `sealConsent` */
export async function askConsent(
  gateway: Gateway,
  call: Call,
  question: ApprovalQuestion,
  reply: FastifyReply,
): Promise<void> {
  const { journey, message } = call;
  if (journey.stopped !== undefined) throw journey.stopped;
  const { policies, shown, requestedSchema } = question;
  const { token, claims } = sealConsent(
    gateway.roundTrip,
    call,
    { policies, shown, given: false },
    { key: APPROVAL_KEY, kind: "form", schema: requestedSchema },
  );
  Object.assign(journey.draft, auditChain(claims), {
    outcome: "input_required",
    asked: ["form"],
    approval: auditQuestion(question),
  });
  gateway.metrics.approval(policies, "asked");
  const bytes = Buffer.from(askedBody(message.id, question, token));
  await deliverJson({ journey, reply, limits: gateway.config.server.limits }, { status: 200, bytes });
  journey.finish({});
}

/** The JSON-RPC message. @param id as the client spelled it */
function askedBody(id: string, { message, requestedSchema }: ApprovalQuestion, token: string): string {
  const params = `{"mode":"form","message":${JSON.stringify(message)},"requestedSchema":${requestedSchema}}`;
  const requests = `{${JSON.stringify(APPROVAL_KEY)}:{"method":"elicitation/create","params":${params}}}`;
  const result = `{"resultType":"input_required","inputRequests":${requests},"requestState":${JSON.stringify(token)}}`;
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** Takes down what the user was asked, and what this request brought as an answer. */
export function noteConsent(
  { metrics }: Gateway,
  call: Call,
  consent: Extract<Consent, { readonly kind: "given" | "refused" }>,
): void {
  const { draft } = call.journey;
  const action =
    consent.kind === "refused" ? consent.action : consent.filled === undefined ? undefined : "accept";
  const kept = consent.kind === "given" ? (consent.filled ?? []).filter(({ audit }) => audit) : [];
  draft.approval = {
    ...auditQuestion(consent.question),
    ...(action === undefined ? {} : { action }),
    ...(kept.length === 0 ? {} : { fields: Object.fromEntries(kept.map(({ name, text }) => [name, text])) }),
  };
  if (consent.kind === "given") call.consent = consent.approval;
  if (action === undefined) return;
  draft.answers = [action];
  metrics.approval(consent.question.policies, action);
}

/** The user's no, once its state is spent: nobody turns it into a yes. */
export function refuseDeclined(
  gateway: Gateway,
  call: Call,
  claims: Claims,
  action: "decline" | "cancel",
): Refusal {
  const refusal = declined(call, action);
  if (call.message.method === "tools/call") {
    const bytes = Buffer.from(toolErrorBody(call.message.id, refusal.code));
    keep(gateway, call, claims, { outcome: "tool_error", bytes, sealed: undefined }, 200);
  }
  return refusal;
}

function auditQuestion({ policies, message, requestedSchema }: ApprovalQuestion) {
  return { policies, message: digestOf(message), schema: digestOf(requestedSchema) };
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url");
