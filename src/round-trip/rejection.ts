/**
 * What becomes of a state that is not good here, by the route's channel (`roundTrip.rejection`): one frozen error, a tool result, or
 * the call begun anew. docs/refusals.md, "Channels".
 */
import type { Call } from "../call.ts";
import type { EnvelopeFault } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import { type Edit, editObject } from "../json/splice.ts";
import { agreesToAll } from "../mcp/answers.ts";

/** A refusal that a caller of a tool gets as a result: a bad state with `rejection: tool-error`, and the user's no. */
export class ToolErrorRejection extends Refusal {}

/** A bad state under `rejection: reprompt`: goes on as a fresh call. `fault` is for audit. */
export interface Reprompt {
  readonly kind: "reprompt";
  readonly edits: readonly Edit[];
  readonly fault: EnvelopeFault;
}

/**
 * The three channels for a bad state: the frozen error, a tool result, or asking again.
 * @throws Refusal but for the last
 */
export function rejectState(call: Call, fault: EnvelopeFault): Reprompt {
  if (call.journey.route.config.roundTrip.rejection === "reprompt" && !refusesAnything(call)) {
    return { kind: "reprompt", edits: dropMembers(call, ["requestState", "inputResponses"]), fault };
  }
  throw rejection(call, fault);
}

/** A bad state, in the channel of the route. */
export function rejection({ journey, message }: Call, fault: EnvelopeFault): Refusal {
  const toTheModel =
    journey.route.config.roundTrip.rejection === "tool-error" && message.method === "tools/call";
  return toTheModel ? new ToolErrorRejection("invalid_request_state", fault) : refuseState(fault);
}

/** The frozen error. */
export const refuseState = (fault: EnvelopeFault): Refusal => new Refusal("invalid_request_state", fault);

/** Somebody who said no must not be asked again by a trick; answers that cannot be read count as a no. */
function refusesAnything(call: Call): boolean {
  const answers = call.doc.present(call.params, "inputResponses");
  return answers !== undefined && !agreesToAll(call.doc, answers);
}

/** Edits that take members out of `params`, where they stand there. */
export function dropMembers(call: Call, names: readonly string[]): Edit[] {
  const { doc, params } = call;
  const remove = new Set(names.filter((name) => doc.get(params, name) !== undefined));
  return params === undefined || remove.size === 0 ? [] : editObject(doc, params, { remove });
}
