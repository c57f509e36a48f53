/**
 * A wire that sends nothing: every request is handed to whoever wants to print it, and answered by a model of a server that asks once,
 * takes a state it gave out with an acceptance, and refuses the rest. What a real server answers may lead to fewer or more requests,
 * never to others than the plan allows: those are judged before any wire.
 */
import { MODERN_VERSION } from "../mcp/era.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import type { Exchange, Received } from "./exchange.ts";
import type { Clock } from "./pace.ts";
import { targetMember } from "./permits.ts";
import type { Plan, PlannedCall } from "./plan.ts";
import type { Wire } from "./wire.ts";

const HEAD = { status: 200, headers: {} };

/** @param plan whose answers tell what is asked */
export function openDryWire(plan: Plan, clock: Clock, onRequest: (exchange: Exchange) => void): Wire {
  const exchanges: Exchange[] = [];
  const questions = new Map(plan.calls.map(({ target, answers }) => [target, questionsFor(answers)]));
  return {
    async send({ label, caller, message, headers, cutAfterMs }) {
      const number = exchanges.length + 1;
      const received: Received =
        cutAfterMs === undefined
          ? reply(message, number, questions)
          : {
              kind: "none",
              why: "cut",
              status: undefined,
              headers: {},
              words: "the reviewer cut the connection",
            };
      const exchange = {
        number,
        label,
        sent: { caller, headers, message },
        received,
        at: clock.now(),
        ms: 0,
      };
      exchanges.push(exchange);
      onRequest(exchange);
      return exchange;
    },
    exchanges,
    close: async () => undefined,
  };
}

/** A form for each planned answer, of the fields that stand there. */
function questionsFor(answers: PlannedCall["answers"]): Json {
  const keys = Object.keys(answers).filter((key) => key !== "*");
  return Object.fromEntries(
    (keys.length === 0 ? ["question"] : keys).map((key) => {
      const content = answers[key]?.content ?? answers["*"]?.content ?? { ok: true };
      const fields = Object.entries(content).map(([name, value]) => [name, fieldFor(value)] as const);
      const requestedSchema = {
        type: "object",
        properties: Object.fromEntries(fields),
        required: Object.keys(content),
      };
      const params = { message: "(a question)", requestedSchema };
      return [key, { method: "elicitation/create", params }];
    }),
  );
}

function fieldFor(value: unknown): Json {
  if (Array.isArray(value)) return { type: "array", items: { type: "string", enum: value as unknown[] } };
  return { type: typeof value };
}

function reply(message: Json, number: number, questions: ReadonlyMap<string, Json>): Received {
  const method = String(own(message, "method"));
  const params = own(message, "params");
  const held = isObject(params) ? params : {};
  const result = (given: Json): Received => ({
    kind: "result",
    ...HEAD,
    resultType: String(own(given, "resultType") ?? "complete"),
    result: given,
  });
  const member = targetMember(method);
  if (method === "server/discover") return result({ supportedVersions: [MODERN_VERSION], capabilities: {} });
  if (member === undefined) return result({});
  const asked = questions.get(String(own(held, member)));
  const [state, answers] = [own(held, "requestState"), own(held, "inputResponses")];
  if (asked === undefined) return result({ content: [] });
  if (state === undefined && answers === undefined)
    return result({
      resultType: "input_required",
      inputRequests: asked,
      requestState: `state of a dry run ${number}`,
    });
  if (typeof state === "string" && state.startsWith("state of a dry run ") && isObject(answers))
    return result({ content: [] });
  return { kind: "error", status: 400, headers: {}, code: -32_602, message: "(refused)", data: undefined };
}
