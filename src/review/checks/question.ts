/**
 * What a server asks, judged on the questions of the map by the rules of the gateway. Guesses, such as a link in a text, are `warn`; a
 * field that is named after a secret is `fail`. What the gateway refuses out of caution and the specification allows is `warn`.
 */
import { own } from "../../mcp/parsed.ts";
import type { Check, Clause, Finding, Session, Verdict } from "../check.ts";
import { type Exchange, isAsking } from "../exchange.ts";
import { finding } from "./answers-verdict.ts";
import { undeclared } from "./question-capabilities.ts";
import { type Fault, faultsIn, requestsIn } from "./question-reading.ts";

const FORM = "client/elicitation";
const MRTR = "basic/patterns/mrtr";

/** Details of the shape that say more about the gateway's caution than about the specification. */
const CAUTION =
  /^(?:schema_case_twin|question_case_twin|lone_surrogate|schema_too_large|urls_too_large|too_many_questions|schema_required)$/;
const KIND = /^(?:input_requests|question|question_params|unknown_kind)$/;
const ADDRESS = /^url(?:_scheme|s_too_large)?$/;

/** The verdict on a fault; undefined where a check does not look at it. */
type Judge = (fault: Fault) => Verdict | undefined;

const ofShape =
  (isMine: (detail: string) => boolean): Judge =>
  ({ rule, detail }) =>
    rule === "shape" && isMine(detail) ? (CAUTION.test(detail) ? "warn" : "fail") : undefined;

/** Every asking exchange of the map; of one that is just opened where there is no map. */
async function asking(session: Session): Promise<readonly Exchange[]> {
  const mapped = session.mapped.filter(isAsking);
  return mapped.length > 0 ? mapped : [(await session.begin()).exchange];
}

const WORDS: Readonly<Record<Verdict, number>> = {
  fail: 0,
  warn: 1,
  inconclusive: 2,
  pass: 3,
  not_applicable: 4,
};

async function judged(
  session: Session,
  judgeFault: Judge,
  applies: (exchange: Exchange) => boolean,
  absent: string,
): Promise<Finding> {
  const exchanges = (await asking(session)).filter(applies);
  if (exchanges.length === 0) return finding("not_applicable", absent, []);
  const faults = exchanges.flatMap((exchange) =>
    faultsIn(exchange).flatMap((fault) => {
      const verdict = judgeFault(fault);
      return verdict === undefined ? [] : [{ ...fault, verdict }];
    }),
  );
  const [gravest] = faults.map(({ verdict }) => verdict).toSorted((a, b) => WORDS[a] - WORDS[b]);
  if (gravest === undefined)
    return finding(
      "pass",
      `${exchanges.length === 1 ? "one round was" : `${exchanges.length} rounds were`} looked at`,
      exchanges,
    );
  const details = new Set(
    faults.map(({ rule, detail }) => (rule === "shape" ? detail : `${rule} (${detail})`)),
  );
  return finding(gravest, `a question breaks ${[...details].join(", ")}`, [
    ...new Set(faults.map(({ exchange }) => exchange)),
  ]);
}

const asksFor =
  (pattern: RegExp) =>
  (exchange: Exchange): boolean =>
    pattern.test(JSON.stringify(requestsIn(exchange) ?? null));
const asksAnything = (exchange: Exchange): boolean => asksFor(/"method"/)(exchange);
const asksByForm = asksFor(/"requestedSchema"/);
const asksByUrl = asksFor(/"mode":"url"|"url":/);

function ofQuestions(
  id: string,
  title: string,
  clause: Clause,
  advice: string,
  judgeFault: Judge,
  applies: (exchange: Exchange) => boolean = (): boolean => true,
  absent = "nothing is asked",
): Check {
  return {
    id: `question/${id}`,
    title,
    clause,
    advice,
    completes: false,
    run: (session) => judged(session, judgeFault, applies, absent),
  };
}

const CERTAIN_SECRET = /^(?:name|title|format)$/;

/** A result that asks has a question or a state, and the state is a text. */
async function asksSomething(session: Session): Promise<Finding> {
  const exchanges = await asking(session);
  const empty = exchanges.filter(({ received }) => {
    if (received.kind !== "result") return false;
    const [requests, state] = [own(received.result, "inputRequests"), own(received.result, "requestState")];
    const isNone = typeof requests !== "object" || requests === null || Object.keys(requests).length === 0;
    return (state === undefined && isNone) || (state !== undefined && typeof state !== "string");
  });
  if (empty.length === 0) return finding("pass", "every round has a question or a state", exchanges);
  return finding("fail", "a round has neither a question nor a state that is a text", empty);
}

/** Hints for caches, which only complete results have. */
async function cacheHints(session: Session): Promise<Finding> {
  const exchanges = await asking(session);
  const hinted = exchanges.filter(
    ({ received }) =>
      received.kind === "result" &&
      ["ttlMs", "cacheScope"].some((name) => Object.hasOwn(received.result, name)),
  );
  if (hinted.length === 0) return finding("pass", "no round has a hint for caches", exchanges);
  return finding("warn", "a round has hints for caches, as if its question were good for others", hinted);
}

/** Checks of what a server asks. */
export const QUESTION_CHECKS: readonly Check[] = [
  {
    id: "question/present",
    title: "A round asks something or brings a state",
    clause: {
      level: "MUST",
      text: "A result that asks for input has `inputRequests` or `requestState`, or both.",
      source: MRTR,
    },
    advice:
      "Return a complete result where there is nothing to ask, and a state that is a text where there is something to keep.",
    completes: false,
    run: asksSomething,
  },
  ofQuestions(
    "kind",
    "Questions are of the kinds that there are",
    {
      level: "MUST",
      text: "A question is elicitation/create, sampling/createMessage or roots/list.",
      source: MRTR,
    },
    "Ask by one of the three, with its params as the schema has them.",
    ofShape((detail) => KIND.test(detail)),
  ),
  ofQuestions(
    "schema",
    "Forms are flat, and questions as the schema has them",
    {
      level: "MUST",
      text: "A form is a flat object of primitive or enum fields in known formats; a question has the members of its mode.",
      source: FORM,
    },
    "Ask with a flat object of texts, numbers, switches and choices, and split what is nested into several fields or rounds.",
    (fault) =>
      ofShape((detail) => !KIND.test(detail) && !ADDRESS.test(detail))(fault) ??
      (fault.rule === "sampling/tool-blocks"
        ? "fail"
        : fault.rule === "elicitation/form-contradiction" || fault.rule === "sampling/undeclared-context"
          ? "warn"
          : undefined),
    asksAnything,
  ),
  ofQuestions(
    "secret",
    "No form asks for a secret",
    {
      level: "MUST",
      text: "Passwords, keys, tokens and payment data are never asked for by form, but at an address of the server.",
      source: FORM,
    },
    "Ask for it by a question in url mode, on a page of yours over TLS.",
    ({ rule, detail }) =>
      rule === "elicitation/secret-field" ? (CERTAIN_SECRET.test(detail) ? "fail" : "warn") : undefined,
    asksByForm,
    "nothing is asked by form",
  ),
  ofQuestions(
    "link",
    "No text of a form holds a link",
    { level: "SHOULD", text: "Texts of a form hold no addresses to follow.", source: FORM },
    "Send people to an address by a question in url mode, where the client shows where it leads.",
    ({ rule }) => (rule === "elicitation/link-in-text" ? "warn" : undefined),
    asksByForm,
    "nothing is asked by form",
  ),
  ofQuestions(
    "address",
    "Addresses that people are sent to are safe",
    {
      level: "MUST",
      text: "An address is https, says the same to every reader, and carries neither a credential nor data about the user.",
      source: FORM,
    },
    "Send people to an https address of your own with a random name of the flow in it, and authenticate them there.",
    (fault) => {
      const shape = ofShape((detail) => ADDRESS.test(detail))(fault);
      if (shape !== undefined || !fault.rule.startsWith("elicitation/url-")) return shape;
      return fault.rule === "elicitation/url-userinfo" ? "fail" : "warn";
    },
    asksByUrl,
    "nobody is sent to an address",
  ),
  {
    id: "question/undeclared",
    title: "Nothing is asked that the client has not declared",
    clause: {
      level: "MUST",
      text: "A server asks only for what the capabilities of the very request declare, and else answers -32021 with what it requires.",
      source: MRTR,
    },
    advice:
      "Read the client's capabilities from `_meta` of each request, and answer -32021 with `data.requiredCapabilities` and status 400 where one is missing.",
    completes: false,
    run: undeclared,
  },
  {
    id: "question/cache-hints",
    title: "Questions have no hints for caches",
    clause: {
      level: "SHOULD",
      text: "Only complete results have `ttlMs` and `cacheScope`.",
      source: "server/utilities/caching",
    },
    advice: "Set hints for caches on complete results only.",
    completes: false,
    run: cacheHints,
  },
];
