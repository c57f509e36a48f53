/**
 * Errors of the server: which of them must not reach the client as they are, and what an unknown name is told. Pure but for the findings
 * it notes. Spec: basic/index (error codes), error -32021.
 */
import type { Authorizer } from "./authorization.ts";
import type { Call } from "./call.ts";
import { judgeUpstreamMissing } from "./capability/check.ts";
import { Refusal } from "./errors.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { type Edit, replace } from "./json/splice.ts";
import type { Target } from "./mcp/methods.ts";
import { codeFinding, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from "./mcp/result-rules.ts";

const MISSING_CAPABILITY = -32021;
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

/** What an error leaves as. */
export interface JudgedError {
  /** The code it leaves with. */
  readonly code: number;
  readonly edits: readonly Edit[];
}

/**
 * Judges the untrusted `error` of a response.
 * @throws Refusal for what must not reach the client
 */
export function judgeError(call: Call, authorizer: Authorizer, doc: JsonText, error: Node): JudgedError {
  const node = doc.get(error, "code") ?? error;
  const code = doc.value(node);
  if (typeof code !== "number") throw new Refusal("upstream_fault", "error_shape");
  if (code === URL_ELICITATION_REQUIRED) throw new Refusal("upstream_fault", "questions_in_error");
  if (code === MISSING_CAPABILITY) {
    const required = doc.get(doc.get(error, "data"), "requiredCapabilities");
    const servesTasks = call.journey.route.config.tasks === "pass";
    throw judgeUpstreamMissing(required && doc.value(required), call.declared, call.allow(), servesTasks);
  }
  if (code === METHOD_NOT_FOUND && call.message.method === "server/discover") {
    if (call.journey.acts({ rule: "protocol/discover", detail: "discover" }))
      throw new Refusal("upstream_fault", "discover");
  }
  // Where policy hides methods or targets, "no such thing" must read the same whether the gateway or the server says it.
  if (code === METHOD_NOT_FOUND && !authorizer.open) throw new Refusal("method_not_found", "upstream");
  if (
    (code === INVALID_PARAMS || code === RESOURCE_NOT_FOUND) &&
    call.target !== undefined &&
    !authorizer.open &&
    saysUnknown(doc, error, call.target)
  ) {
    throw unknownTarget(call.target, "upstream");
  }
  const wrong = codeFinding(code);
  if (wrong === undefined || !call.journey.acts(wrong.finding)) return { code, edits: [] };
  return { code: wrong.instead, edits: [replace(doc, node, String(wrong.instead))] };
}

/**
 * The answer that an unknown name gets, and so a hidden one too.
 * @param cause who said no: policy, or the server that knows no such name
 */
export function unknownTarget(target: Target, cause: "policy" | "upstream"): Refusal {
  const code = { tool: "unknown_tool", prompt: "unknown_prompt", resource: "unknown_resource" } as const;
  return new Refusal(code[target.kind], cause);
}

/** The whole of what servers say of a name they do not know, once the name and all punctuation are taken out. */
const UNKNOWN =
  /^(mcp error )?((unknown|no such) (tool|prompt|resource)( template)?|(tool|prompt|resource)( template)? (is )?(not found|unknown|does not exist))$/;

function saysUnknown(doc: JsonText, error: Node, target: Target): boolean {
  const message = doc.text(doc.get(error, "message")) ?? "";
  const words =
    message
      .replace(target.name, " ")
      .toLowerCase()
      .match(/[a-z]+/g) ?? [];
  return UNKNOWN.test(words.join(" "));
}
