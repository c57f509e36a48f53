/**
 * The response half of a modern request: each message of the server is judged (answer.ts) and delivered (deliver.ts); and the
 * answer of a run that is over, for an owner who asks again.
 */
import type { FastifyReply } from "fastify";
import { type Answer, type AnswerContext, judgeMessage, scanServer } from "./answer.ts";
import { auditChain } from "./audit/record.ts";
import type { Call } from "./call.ts";
import { checkHead, type Delivery, deliverJson, deliverStream } from "./deliver.ts";
import type { Claims } from "./envelope/format.ts";
import { Refusal } from "./errors.ts";
import type { Gateway } from "./opened-gateway.ts";
import { type KeptAnswer, keepResult } from "./round-trip/repeat.ts";
import { judgeAgain } from "./round-trip/result.ts";
import { printEvent } from "./sse.ts";
import type { UpstreamResponse } from "./upstream/dispatch.ts";

/** A message that answers the request. */
type Final = Extract<Answer, { readonly kind: "final" }>;

/** Judges what the server sends, and delivers what may leave. @throws Refusal while nothing has been written */
export async function answer(
  gateway: Gateway,
  call: Call,
  redeemed: Claims | undefined,
  response: UpstreamResponse,
  reply: FastifyReply,
): Promise<void> {
  const { journey } = call;
  const { limits } = gateway.config.server;
  const { httpStatus } = gateway.config.errors;
  const { roundTrip, authorizer } = gateway;
  const context: AnswerContext = { roundTrip, authorizer, limits, call, redeemed };
  const delivery: Delivery = { journey, reply, limits };
  const statusOf = ({ rpcCode }: Final): number =>
    rpcCode === undefined ? 200 : errorStatus(rpcCode, response.status, httpStatus);
  const take = (bytes: Buffer): ReturnType<typeof judgeMessage> => {
    const judged = judgeOrLearn(gateway, context, bytes);
    if (judged.kind === "final") {
      if (redeemed !== undefined) keep(gateway, call, redeemed, judged, statusOf(judged));
      journey.draft.outcome = judged.outcome;
      if (judged.hidden > 0) journey.draft.hidden = judged.hidden;
      const { rpcCode } = judged;
      if (rpcCode !== undefined && Number.isSafeInteger(rpcCode)) journey.draft.upstreamCode = rpcCode;
      if (judged.sealed !== undefined) {
        Object.assign(journey.draft, auditChain(judged.sealed), {
          asked: judged.sealed.asked.map((q) => q.kind),
        });
      }
    } else if (judged.kind === "dropped") {
      gateway.log.warn({ requestId: journey.requestId, cause: judged.detail }, "server notification dropped");
    }
    return judged;
  };
  switch (checkHead(response)) {
    case "json": {
      const judged = take(await response.collect(limits.body));
      if (judged.kind !== "final") throw new Refusal("upstream_fault", "no_answer");
      await deliverJson(delivery, { status: statusOf(judged), bytes: judged.bytes });
      journey.finish({});
      return;
    }
    case "stream": {
      // A stream that stays open for hours is on record when it opens.
      if (call.message.method === "subscriptions/listen") journey.finish({ outcome: "stream" });
      const refusal = await deliverStream(
        delivery,
        response,
        ({ data }) => {
          if (data.length === 0) return { write: undefined, final: false };
          const judged = take(data);
          return judged.kind === "dropped"
            ? { write: undefined, final: false }
            : { write: printEvent(judged.bytes), final: judged.kind === "final" };
        },
        false,
      );
      journey.finish(
        refusal === undefined ? {} : { outcome: "refused", code: refusal.code, cause: refusal.detail },
      );
      return;
    }
    case "empty":
      throw new Refusal("upstream_fault", "no_answer");
  }
}

/** Keeps the answer of a run for its owner's repeat, where that is on; the client does not wait for it. */
export function keep(
  { repeats, roundTrip, metrics }: Pick<Gateway, "repeats" | "roundTrip" | "metrics">,
  call: Call,
  redeemed: Claims,
  final: Pick<Final, "outcome" | "bytes" | "sealed">,
  status: number,
): void {
  if (repeats === undefined) return;
  const { outcome, bytes, sealed } = final;
  const asked = sealed?.asked.map(({ kind }) => kind) ?? [];
  void keepResult(repeats, roundTrip, call, redeemed, { status, outcome, asked, bytes }).then(
    metrics.result,
    () => metrics.result("not_kept"),
  );
}

/** Judges a message of the server; what a client lacks for it is recorded, and refused as it is. @throws Refusal */
function judgeOrLearn(
  { needs }: Gateway,
  context: AnswerContext,
  bytes: Buffer,
): ReturnType<typeof judgeMessage> {
  try {
    return judgeMessage(context, bytes);
  } catch (error) {
    if (error instanceof Refusal && error.code === "missing_capability") {
      const { route, draft } = context.call.journey;
      needs.note(route.config.path, draft.target?.name ?? "", error.data["requiredCapabilities"]);
    }
    throw error;
  }
}

/** The status that the specification gives an error; otherwise the server's own, where it is one for an error body. */
function errorStatus(code: number, upstream: number, httpStatus: "spec" | "ok"): number {
  if (httpStatus === "ok") return 200;
  if (code === -32601) return 404;
  if (code === -32020 || code === -32021 || code === -32022) return 400;
  return upstream < 300 ? 200 : upstream;
}

/**
 * Answers a repeat with what the run came to; the server hears nothing of it.
 * @throws Refusal for questions that may not be asked any more
 */
export async function repeat(
  gateway: Gateway,
  call: Call,
  again: KeptAnswer,
  reply: FastifyReply,
): Promise<void> {
  const { journey } = call;
  const { status, outcome, asked, bytes } = again;
  if (outcome === "input_required") {
    const doc = scanServer(bytes, gateway.config.server.limits);
    const result = doc.get(doc.root, "result");
    if (result !== undefined) judgeAgain(gateway.roundTrip, call, doc, result);
  }
  Object.assign(
    journey.draft,
    { state: "repeated", replay: "repeated", outcome },
    asked.length > 0 ? { asked } : {},
  );
  await deliverJson({ journey, reply, limits: gateway.config.server.limits }, { status, bytes });
  journey.finish({});
}
