/** The rules that the breakable server holds, each with a switch that breaks it and no other. */

/** What a switch breaks. The server that holds every rule has none of them. */
export const SWITCHES = {
  // Answers
  "executes-declined": "a declined question is taken for accepted",
  "executes-cancelled": "a cancelled question is taken for accepted",
  "any-action": "an answer with any action, or none, is taken for accepted",
  "not-an-answer": "an answer that is no object, and answers that are none, are taken for accepted",
  "other-kind": "the answer to a question of another kind is taken for accepted",
  "wrong-types": "content of the wrong types is taken",
  "against-schema": "content of the right types that does not fit is taken",
  "without-content": "an acceptance without content is taken",
  "executes-unanswered": "a retry without any answer is carried out",
  "one-missing": "a retry that leaves a question unanswered is carried out",
  "unasked-answers": "an acceptance under a key that was not asked counts for those that were",
  "answers-ahead": "answers to questions of later rounds are taken before they are asked",
  "refuses-unasked": "a retry with keys that were not asked is refused",
  "refuses-unanswered": "a retry without an answer is refused and not asked again",
  "effect-before-accept": "the call is carried out when it asks",
  // Redemption
  replay: "a state is good for any number of retries",
  "replay-other-answers": "a state that is spent is good once more with other answers",
  "concurrent-use": "whether a state is spent is looked at long before it is marked",
  "endless-rounds": "asks without an end",
  "endless-retries": "refuses retries without an end",
  "forgets-lost": "a state is marked as spent only once the reply was delivered",
  // Bindings
  "other-principal": "the state of another principal is taken",
  "no-principal": "a request without a credential is served",
  "other-tool": "the state of another target is taken",
  "other-arguments": "a state with other arguments is taken",
  "other-method": "the state of another method is taken",
  "same-id": "a retry with the id of the first call is taken",
  // State
  "missing-state": "answers without a state are taken",
  "invented-state": "a state that nobody made is taken",
  "tampered-state": "the integrity of a state is not verified",
  "other-spellings": "a state is taken in spellings that the server does not write",
  "spent-by-text": "a state is marked as spent by its text, and not by what is in it",
  "state-in-list": "a state in a list is taken",
  "state-in-parts": "the parts of a state are protected one by one",
  "no-expiry": "a state is good for ever",
  "readable-state": "a state shows what is in it",
  "state-elsewhere": "a state and answers on a list are carried out",
  // Questions
  "undeclared-capability": "asks for what the client has not declared",
  "asks-elsewhere": "asks on methods that may not",
  "asks-nothing": "ends in input_required with neither a question nor a state",
  "unknown-question": "asks with a method that is no question",
  "cache-hints": "a question has hints for caches",
  "link-form": "a form has a link in its text",
  "secret-form": "asks for a password by form",
  "script-url": "sends people to a javascript: address",
  "plain-url": "sends people to an address without TLS",
  "credential-url": "sends people to an address with a credential in it",
  "nested-schema": "asks with a form that is not flat",
  // Protocol
  "method-header": "Mcp-Method is not compared",
  "name-header": "Mcp-Name is not compared",
  "version-header": "MCP-Protocol-Version is not compared",
  "missing-headers": "headers that mirror the body may be absent",
  "unknown-version": "any version of the protocol is served",
  "undefined-code": "a state is refused with a code that the protocol has not defined",
} as const;

export type Switch = keyof typeof SWITCHES;

/** Whether a rule is broken. */
export type Broken = (rule: Switch) => boolean;
