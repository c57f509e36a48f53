/**
 * The rule behind a refusal that no check noted by itself: core rules are judged where the message is read, and leave as
 * refusals. For audit and metrics only.
 */
import type { RefusalCode } from "../errors.ts";
import type { RuleId } from "./catalogue.ts";

/** The rule for each cause. A cause that ends with * stands for all that begin so; `*` alone for every other cause. */
type Causes = Readonly<Record<string, RuleId>>;

const STATE: Causes = {
  expired: "mrtr/state-expiry",
  not_yet: "mrtr/state-expiry",
  principal: "mrtr/state-principal",
  route: "mrtr/state-operation",
  upstream: "mrtr/state-operation",
  method: "mrtr/state-operation",
  target: "mrtr/state-operation",
  params: "mrtr/state-operation",
  version: "mrtr/state-operation",
  unsupported_method: "mrtr/state-elsewhere",
  misplaced_carrier: "mrtr/state-elsewhere",
  legacy_carrier: "mrtr/state-elsewhere",
  "*": "mrtr/state-integrity",
};

const UPSTREAM: Causes = {
  server_request: "mrtr/server-request",
  misplaced_state: "mrtr/question-elsewhere",
  questions_in_complete: "mrtr/question-elsewhere",
  questions_in_task: "mrtr/question-elsewhere",
  state_in_task: "mrtr/question-elsewhere",
  state_in_legacy: "mrtr/question-elsewhere",
  questions_in_error: "protocol/retired-code",
  input_required_method: "mrtr/unsupported-method",
  nothing_asked: "mrtr/nothing-asked",
  json_duplicate_key: "mrtr/duplicate-key",
  "json_*": "protocol/json",
  unknown_kind: "mrtr/unknown-question",
  input_requests: "mrtr/question-shape",
  question: "mrtr/question-shape",
  question_case_twin: "mrtr/question-shape",
  question_params: "mrtr/question-shape",
  message: "mrtr/question-shape",
  state_shape: "mrtr/question-shape",
  too_many_questions: "mrtr/too-many-questions",
  state_too_large: "mrtr/state-size",
  unknown_mode: "elicitation/unknown-mode",
  mode_mix: "elicitation/unknown-mode",
  schema_too_large: "elicitation/schema-too-large",
  "schema_*": "elicitation/schema-not-flat",
  url: "elicitation/url-shape",
  urls_too_large: "elicitation/url-shape",
  url_scheme: "elicitation/url-scheme",
  "sampling_*": "sampling/question-shape",
  "credential_*": "mrtr/state-credentials",
  "personal_*": "mrtr/state-personal-data",
  "returned_*": "elicitation/credentials-in-result",
  result_type: "protocol/result-type-unknown",
  unasked_task: "tasks/unasked-task",
  media_type: "http/response-type",
  content_coding: "http/response-type",
  no_answer: "protocol/error-answer",
  stream_ended: "protocol/error-answer",
  status: "protocol/error-answer",
  "status_*": "protocol/error-answer",
  "*": "protocol/response-shape",
};

const REFUSED: { readonly [Code in RefusalCode]?: Causes } = {
  malformed_http: { "*": "http/framing" },
  misdirected_host: { "*": "http/host" },
  forbidden_origin: { "*": "http/origin" },
  not_acceptable: { "*": "http/accept" },
  unsupported_media_type: { "*": "http/one-message" },
  method_not_allowed: { "*": "http/other-verbs" },
  unauthorized: { no_token: "auth/bearer", "*": "auth/token" },
  insufficient_scope: { "*": "auth/scope" },
  parse_error: { "*": "protocol/json" },
  invalid_request: {
    batch: "http/one-message",
    response: "http/one-message",
    id: "protocol/request-id",
    "*": "protocol/json",
  },
  missing_meta: { "*": "protocol/meta" },
  header_mismatch: {
    repeated_header: "http/framing",
    version_header: "http/version-header",
    version_differs: "http/version-header",
    method_differs: "http/method-header",
    method_missing: "http/method-header",
    name_differs: "http/name-header",
    name_missing: "http/name-header",
    name_malformed: "http/encoded-header",
  },
  unsupported_version: { "*": "protocol/version" },
  legacy_refused: { "*": "http/old-version" },
  unknown_task: { "*": "tasks/method" },
  method_not_found: { tasks: "tasks/method", upstream: "http/unknown-method" },
  missing_capability: { tasks_undeclared: "tasks/method", "*": "mrtr/undeclared-question" },
  invalid_request_state: STATE,
  invalid_input_responses: {
    foreign_key: "tasks/question-key",
    answered_twice: "tasks/question-key",
    sampling_result: "sampling/answer-shape",
    sampling_size: "sampling/answer-size",
    roots_result: "roots/answer-shape",
    roots_traversal: "roots/traversal",
    "roots_*": "roots/file-uri",
    "form_*": "elicitation/answer-invalid",
    "*": "mrtr/answer-shape",
  },
  already_redeemed: { "*": "mrtr/single-use" },
  outcome_unknown: { "*": "mrtr/single-use" },
  same_request_id: { "*": "mrtr/same-request-id" },
  round_limit: { "*": "mrtr/round-limit" },
  upstream_fault: UPSTREAM,
};

/** The rule that a refusal of this code and cause stands for; undefined for limits, policy and outages. */
export function ruleOfRefusal(code: RefusalCode, cause: string): RuleId | undefined {
  const causes = REFUSED[code];
  if (causes === undefined) return undefined;
  return causes[cause] ?? causes[`${cause.slice(0, cause.indexOf("_") + 1)}*`] ?? causes["*"];
}
