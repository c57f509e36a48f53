/**
 * What a review may send, decided in one place, before anything leaves: `Session` and discovery ask here. A tool, prompt or resource is
 * named in a request only if the plan names it, with the arguments that stand there; whatever else a check tries is done around that.
 * Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { decodeMirrored } from "../mcp/mirrored-headers.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { INVENTED, NotAllowed } from "./check.ts";
import type { PlannedCall } from "./plan.ts";

/** What may be called, and how. */
export interface Permit {
  readonly method: PlannedCall["method"];
  readonly target: string;
  /** Each that it may be called with. */
  readonly arguments: readonly Json[];
}

/** Method → the member of its params that names what it is about. */
const NAMED: ReadonlyMap<string, "name" | "uri"> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** What only reads, and names nothing that could be carried out. */
const READING: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "completion/complete",
  "tasks/get",
  "ping",
]);

/** The member that names the target of a method; undefined of methods that have none. */
export const targetMember = (method: string): "name" | "uri" | undefined => NAMED.get(method);

/** What one call of a plan allows. */
export function permitsOf(call: PlannedCall): Permit[] {
  const { method, target, otherArguments, otherTarget } = call;
  const args = otherArguments === undefined ? [call.arguments] : [call.arguments, otherArguments];
  const own = { method, target, arguments: args };
  if (otherTarget === undefined) return [own];
  return [own, { method, target: otherTarget.target, arguments: [otherTarget.arguments] }];
}

/**
 * @param message JSON-RPC, as it would be sent
 * @param headers in lower case
 * @param completes whether an answer may be an acceptance
 * @throws NotAllowed, with a sentence for people
 */
export function checkPermitted(
  message: Json,
  headers: Readonly<Record<string, string>>,
  permits: readonly Permit[],
  completes: boolean,
): void {
  const method = String(own(message, "method"));
  const params = own(message, "params");
  const held = isObject(params) ? params : {};
  const member = NAMED.get(method);
  const name = decodeMirrored(headers["mcp-name"] ?? "");
  if (member !== undefined) checkCall(method, own(held, member), own(held, "arguments") ?? {}, permits);
  else if (!READING.has(method) && !method.startsWith(INVENTED))
    throw new NotAllowed(`${method} may do more than read, and the plan cannot allow it`);
  // A server that goes by the header instead of the body must find nothing else there either.
  if (!isNameable(name, permits)) throw new NotAllowed("the plan does not allow the target in Mcp-Name");
  if (!completes && mayAccept(own(held, "inputResponses")))
    throw new NotAllowed("the plan does not allow to accept, and this could be taken for it");
}

function checkCall(method: string, target: unknown, args: unknown, permits: readonly Permit[]): void {
  if (target === undefined) return;
  // What is no text may be read as one.
  if (typeof target !== "string") throw new NotAllowed("the plan does not allow a target that is no text");
  if (target.startsWith(INVENTED)) return;
  const named = permits.filter((permit) => permit.target === target);
  const same = named.filter((permit) => permit.method === method);
  // Reading under the name of an allowed target carries nothing out; calling a tool under the name of a prompt may.
  if (same.length === 0 && (named.length === 0 || method === "tools/call"))
    throw new NotAllowed(`the plan does not allow ${method} of this target`);
  if (method !== "tools/call") return;
  if (!same.some((permit) => permit.arguments.some((allowed) => isDeepStrictEqual(allowed, args))))
    throw new NotAllowed("the plan does not allow this target with these arguments");
}

function isNameable(name: string | undefined, permits: readonly Permit[]): boolean {
  // What cannot be decoded names nothing.
  if (name === undefined || name === "" || name.startsWith(INVENTED)) return true;
  return permits.some(({ target }) => target === name);
}

/** Whether any reader could take answers for a yes: all but plain refusals. */
function mayAccept(answers: unknown): boolean {
  if (answers === undefined) return false;
  if (!isObject(answers)) return true;
  return !Object.values(answers).every(
    (answer) => isObject(answer) && ["decline", "cancel"].includes(String(own(answer, "action"))),
  );
}
