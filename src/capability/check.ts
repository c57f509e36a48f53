/**
 * Response half: what a server asks, against what this request's client declared and what policy allows. The server's own
 * words never reach a refusal.
 */
import type { Ask } from "../config/schema.ts";
import type { Asked } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import {
  capabilitiesFor,
  type Declared,
  isTasksExtension,
  missingCapabilities,
  type Need,
  TASKS_EXTENSION,
} from "../mcp/capabilities.ts";
import { isObject, own } from "../mcp/parsed.ts";
import type { Question } from "../mcp/questions.ts";

/** Need → the setting that policy allows or forbids it by. */
const ASKS: Readonly<Record<Need, Ask>> = {
  form: "elicitation.form",
  url: "elicitation.url",
  sampling: "sampling",
  samplingTools: "sampling",
  samplingContext: "sampling",
  roots: "roots",
};

/**
 * Lets questions pass or throws Refusal: `missing_capability` with exact `data.requiredCapabilities` when the client (as it
 * really declared, before narrowing) cannot be asked, else `question_forbidden` when policy does not allow it.
 */
export function checkQuestions(
  questions: readonly Pick<Question, "needs">[],
  declared: Declared,
  allow: ReadonlySet<Ask>,
): void {
  const needs = new Set(questions.flatMap((question) => question.needs));
  const missing = missingCapabilities(needs, declared);
  if (missing !== undefined) throw refuseMissing(missing);
  const forbidden = firstForbidden(needs, allow);
  if (forbidden !== undefined) throw new Refusal("question_forbidden", forbidden);
}

/**
 * Questions that were allowed when they were asked and sealed, and may be forbidden by now.
 * @throws Refusal `question_forbidden`: no answer to them goes to the server
 */
export function checkStillAllowed(asked: readonly Asked[], allow: ReadonlySet<Ask>): void {
  const forbidden = firstForbidden(
    asked.map(({ kind }) => kind),
    allow,
  );
  if (forbidden !== undefined) throw new Refusal("question_forbidden", forbidden);
}

/**
 * What to answer when the upstream itself refuses with -32021; `required` is its untrusted `data.requiredCapabilities`
 * (parsed JSON). A capability that the client has and policy took away: `question_forbidden`. Else `missing_capability`
 * with the well-known parts only, those that the client lacks if there are any. Not an object at all: `upstream_fault`.
 * @param servesTasks the tasks extension is served on this route, so that declaring it would help
 */
export function judgeUpstreamMissing(
  required: unknown,
  declared: Declared,
  allow: ReadonlySet<Ask>,
  servesTasks = false,
): Refusal {
  if (!isObject(required)) return new Refusal("upstream_fault", "required_capabilities");
  const extensions = own(required, "extensions");
  if (isObject(extensions) && Object.keys(extensions).some(isTasksExtension)) {
    // Where the gateway takes the extension away from every client, declaring it would not help.
    return servesTasks ? refuseWithoutTasks() : new Refusal("question_forbidden", "tasks");
  }
  const needs = wellKnown(required);
  const narrowed = firstForbidden(
    needs.filter((need) => declared[need]),
    allow,
  );
  if (narrowed !== undefined) return new Refusal("question_forbidden", narrowed);
  return refuseMissing(missingCapabilities(needs, declared) ?? capabilitiesFor(needs));
}

/** For a client that would use tasks and has not declared the extension in this very request. Source: SEP-2663, errors. */
export function refuseWithoutTasks(): Refusal {
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  return new Refusal("missing_capability", "tasks_undeclared", { data: { requiredCapabilities } });
}

function wellKnown(required: Readonly<Record<string, unknown>>): Need[] {
  const needs: Need[] = [];
  const elicitation = own(required, "elicitation");
  if (isObject(elicitation)) {
    const url = isObject(own(elicitation, "url"));
    if (url) needs.push("url");
    if (!url || isObject(own(elicitation, "form"))) needs.push("form");
  }
  const sampling = own(required, "sampling");
  if (isObject(sampling)) {
    needs.push("sampling");
    if (isObject(own(sampling, "tools"))) needs.push("samplingTools");
    if (isObject(own(sampling, "context"))) needs.push("samplingContext");
  }
  if (isObject(own(required, "roots"))) needs.push("roots");
  return needs;
}

function firstForbidden(needs: Iterable<Need>, allow: ReadonlySet<Ask>): Ask | undefined {
  for (const need of needs) if (!allow.has(ASKS[need])) return ASKS[need];
  return undefined;
}

function refuseMissing(requiredCapabilities: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal("missing_capability", "undeclared", { data: { requiredCapabilities } });
}
