/** What holds of every request: who may ask for input, where a state means something, and headers that say what the body says. */
import { type Check, type Clause, type Finding, INVENTED, type Session } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused } from "../exchange.ts";
import { onlyReads, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { errorCodes, mismatches, unknownVersion } from "./protocol-errors.ts";
import { replies, requireHonest, roundWithState } from "./state-trial.ts";

const HTTP = "basic/transports/streamable-http";
const MRTR = "basic/patterns/mrtr";
const HEADERS: Clause = {
  level: "MUST",
  text: "A server refuses a request whose headers do not say what its body says, with status 400 and error -32020.",
  source: HTTP,
};
const COMPARE =
  "Compare `Mcp-Method`, `Mcp-Name` and `MCP-Protocol-Version` with the body before anything acts on either, and answer 400 with -32020.";
/** What only reads and may not ask. */
const LISTS = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
] as const;

/** Lists and discovery, plainly and with a state and answers. */
async function asksElsewhere(session: Session): Promise<Finding> {
  const asked = await session.begin();
  const inputResponses = replies(session, asked);
  const exchanges: Exchange[] = [];
  for (const method of LISTS) {
    exchanges.push(await session.ask(method));
    exchanges.push(await session.ask(method, {}, { requestState: asked.requestState, inputResponses }));
  }
  const asking = exchanges.filter(isAsking);
  if (asking.length > 0) {
    const methods = new Set(asking.map(({ sent }) => String(sent.message["method"])));
    return finding("fail", `input was asked for by ${[...methods].join(", ")}`, asking);
  }
  if (exchanges.every(({ received }) => received.kind === "none"))
    return finding("inconclusive", "no list was answered", exchanges);
  return finding("pass", "no list asked for input", exchanges);
}

/**
 * A state and answers on lists. Refused, they were not taken. Left aside, as most servers do, is as good, but looks like taken: the effect
 * probe tells one from the other, or that the state is good for its one use afterwards; a server without either is `inconclusive`.
 */
async function takenElsewhere(session: Session): Promise<Finding> {
  requireHonest(session);
  const asked = await reach(session, roundWithState(session) ?? roundsOf(session));
  const inputResponses = replies(session, asked);
  const carried = { requestState: asked.requestState, inputResponses };
  const left: Exchange[] = [];
  const refused: Exchange[] = [];
  for (const method of LISTS) {
    const before = await session.probe();
    const reply = await session.ask(method, {}, carried);
    const exchanges = [asked.exchange, reply];
    if ((await session.probe()) !== before)
      return finding("fail", `answers on ${method} were carried out`, exchanges);
    if (isAsking(reply)) return finding("fail", `answers on ${method} led to a question`, exchanges);
    if (isRefused(reply)) refused.push(reply);
    else if (isDone(reply)) left.push(reply);
  }
  if (left.length === 0 && refused.length === 0)
    return finding("inconclusive", "no list was answered", [asked.exchange]);
  if (left.length === 0) return finding("pass", "a state and answers on lists were refused", refused);
  const aside = finding("pass", "a state and answers on lists were left aside", left);
  if ((await session.probe()) !== undefined || onlyReads(session) || !session.call.complete) return aside;
  const honest = await session.retry(asked, { inputResponses });
  if (isRefused(honest))
    return finding("fail", "a state was no longer good after lists had brought it", [...left, honest]);
  const again = await session.retry(asked, { inputResponses });
  if (!isRefused(honest) && isRefused(again)) return aside;
  const words =
    "a state and answers on lists were not refused; whether anything was carried out, an effect probe can tell";
  return finding("inconclusive", words, left);
}

const otherOf = (method: string): string => (method === "prompts/get" ? "tools/list" : "prompts/get");

/** Checks of what holds of every request. */
export const PROTOCOL_CHECKS: readonly Check[] = [
  {
    id: "protocol/asks-elsewhere",
    title: "Only calls, prompts and resources ask for input",
    clause: {
      level: "MUST",
      text: "Only tools/call, prompts/get and resources/read end in a result that asks for input.",
      source: MRTR,
    },
    advice: "Answer lists and discovery with what there is to list, and ask in the call itself.",
    completes: false,
    run: asksElsewhere,
  },
  {
    id: "protocol/taken-elsewhere",
    title: "A state and answers on another method are not taken",
    clause: {
      level: "MUST",
      text: "Answers and a state mean something only in the retry of the request that asked.",
      source: MRTR,
    },
    advice:
      "Read `requestState` and `inputResponses` only where you handle tools/call, prompts/get and resources/read.",
    completes: false,
    run: takenElsewhere,
  },
  {
    id: "protocol/method-header",
    title: "`Mcp-Method` says what the body says",
    clause: HEADERS,
    advice: COMPARE,
    completes: false,
    run: (session) =>
      mismatches(session, [
        ["another `Mcp-Method`", { headers: { "mcp-method": otherOf(session.call.method) } }],
        ["`Mcp-Method` in other case", { headers: { "mcp-method": session.call.method.toUpperCase() } }],
      ]),
  },
  {
    id: "protocol/name-header",
    title: "`Mcp-Name` says what the body says",
    clause: HEADERS,
    advice: COMPARE,
    completes: false,
    run: (session) =>
      mismatches(session, [["another `Mcp-Name`", { headers: { "mcp-name": `${INVENTED}-other` } }]]),
  },
  {
    id: "protocol/version-header",
    title: "`MCP-Protocol-Version` says what the body says",
    clause: HEADERS,
    advice: COMPARE,
    completes: false,
    run: (session) =>
      mismatches(session, [
        ["another `MCP-Protocol-Version`", { headers: { "mcp-protocol-version": "2025-11-25" } }],
      ]),
  },
  {
    id: "protocol/missing-headers",
    title: "Headers that say what the body says are not left away",
    clause: HEADERS,
    advice: COMPARE,
    completes: false,
    run: (session) =>
      mismatches(session, [
        ["a request without `Mcp-Method`", { headers: { "mcp-method": undefined } }],
        ["a request without `Mcp-Name`", { headers: { "mcp-name": undefined } }],
        ["a request without `MCP-Protocol-Version`", { headers: { "mcp-protocol-version": undefined } }],
      ]),
  },
  {
    id: "protocol/unknown-version",
    title: "A version that the server does not have is refused",
    clause: {
      level: "MUST",
      text: "A server refuses a version that it does not implement with status 400 and error -32022, and says which it supports.",
      source: "basic/versioning",
    },
    advice:
      "Compare the version of each request with those you implement, and name them in `data.supported`.",
    completes: false,
    run: unknownVersion,
  },
  {
    id: "protocol/error-codes",
    title: "Errors have the codes that there are for them",
    clause: {
      level: "MUST",
      text: "Codes from -32020 to -32099 are sent only as defined, -32002 and -32042 never; an unknown method is -32601 with status 404.",
      source: "basic/index",
    },
    advice:
      "Use -32602 for what is wrong in params, and codes outside the ranges of JSON-RPC and the protocol for your own.",
    completes: false,
    run: errorCodes,
  },
];
