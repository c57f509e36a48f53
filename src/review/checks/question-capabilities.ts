/**
 * Whether a server asks for what the client has not declared, in the request that the question answers: each round is opened with no
 * capabilities at all, and with each kind that it asks for left away. A server may ask for something else instead. One that goes on without
 * asking is `warn`: whether the question mattered cannot be told from outside.
 */
import { capabilitiesFor, type Need } from "../../mcp/capabilities.ts";
import { isObject, type Json, own } from "../../mcp/parsed.ts";
import type { Finding, Session, Verdict } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { CAPABILITIES } from "../requests.ts";
import { honestRounds, onlyReads, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { needsIn } from "./question-reading.ts";

const MISSING_CAPABILITY = -32021;
const NEEDS: readonly Need[] = ["form", "url", "sampling", "roots"];

type Told = readonly [verdict: Verdict, words: string];

const GRAVITY: readonly Verdict[] = ["fail", "inconclusive", "warn", "pass"];

/** The check. @throws Inconclusive */
export async function undeclared(session: Session): Promise<Finding> {
  if (!session.call.complete && !onlyReads(session))
    return finding(
      "not_applicable",
      "a server that cannot ask may carry the call out instead, which the plan does not allow",
      [],
    );
  // Without a map, at least the set-up has to come about.
  if (honestRounds(session).asking.length === 0) await session.begin();
  const found: { readonly told: Told; readonly exchange: Exchange }[] = [];
  for (const exchange of honestRounds(session).asking) {
    const over = needsIn(exchange).filter((need) => need === "samplingTools");
    if (over.length > 0)
      found.push({ told: ["fail", "it asked for sampling with tools, undeclared"], exchange });
  }
  for (let round = 1; round <= roundsOf(session); round += 1) {
    const asking = honestRounds(session).asking[round - 1];
    const needs = asking === undefined ? [] : needsIn(asking).filter((need) => NEEDS.includes(need));
    if (needs.length === 0) continue;
    const [only] = needs;
    const left =
      needs.length === 1 && only !== undefined ? [[only]] : [needs, ...needs.map((need) => [need])];
    for (const missing of left) {
      const exchange = await openWith(session, round, without(missing));
      found.push({ told: tell(exchange, missing), exchange });
    }
    const nothing = await openWith(session, round, {});
    found.push({ told: tell(nothing, needs), exchange: nothing });
  }
  const verdict = GRAVITY.find((one) => found.some(({ told }) => told[0] === one));
  if (verdict === undefined)
    return finding("not_applicable", "nothing is asked that a client has to declare", []);
  const shown = found.filter(({ told }) => told[0] === verdict);
  const words = new Set(shown.map(({ told }) => told[1]));
  return finding(
    verdict,
    [...words].join("; "),
    shown.map(({ exchange }) => exchange),
  );
}

/** The request that opens a round, with other capabilities. */
async function openWith(session: Session, round: number, capabilities: Json): Promise<Exchange> {
  if (round === 1) return session.first({ capabilities });
  return session.retry(await reach(session, round - 1), { capabilities });
}

/** All but what these need. `elicitation` without a mode would mean forms, so that one of its modes always stays named. */
function without(missing: readonly Need[]): Json {
  const left = NEEDS.filter((need) => !missing.includes(need));
  const named = capabilitiesFor(left);
  return missing.length === 0 ? CAPABILITIES : named;
}

function tell(exchange: Exchange, missing: readonly Need[]): Told {
  const { received } = exchange;
  const names = missing.join(", ");
  if (isAsking(exchange)) {
    const asked = needsIn(exchange).filter((need) => missing.includes(need));
    return asked.length > 0
      ? ["fail", `it asked for ${asked.join(", ")}, undeclared`]
      : ["pass", `without ${names} declared it asked for something else`];
  }
  if (received.kind === "error" && received.code === MISSING_CAPABILITY) {
    const required = isObject(received.data) ? own(received.data, "requiredCapabilities") : undefined;
    if (!isObject(required) || !missing.some((need) => isNamed(required, need)))
      return ["fail", `without ${names} declared it answered -32021 and did not say what it requires`];
    return received.status === 400
      ? ["pass", `without ${names} declared it answered -32021 and said what it requires`]
      : [
          "warn",
          `without ${names} declared it answered -32021 with status ${received.status} in place of 400`,
        ];
  }
  if (received.kind === "error")
    return ["warn", `without ${names} declared it answered ${received.code} and not -32021`];
  if (isRefused(exchange))
    return ["warn", `without ${names} declared it answered status ${received.status} and not -32021`];
  if (isToolError(exchange))
    return ["warn", `without ${names} declared the tool reported an error, and not -32021`];
  if (isDone(exchange)) return ["warn", `without ${names} declared it went on without asking`];
  return ["inconclusive", `without ${names} declared it gave no answer that tells anything`];
}

/** Whether the required capabilities name a need; `elicitation: {}` is that of forms. */
function isNamed(required: Json, need: Need): boolean {
  if (need !== "form" && need !== "url") return isObject(own(required, need));
  const elicitation = own(required, "elicitation");
  if (!isObject(elicitation)) return false;
  return isObject(own(elicitation, need)) || (need === "form" && Object.keys(elicitation).length === 0);
}
