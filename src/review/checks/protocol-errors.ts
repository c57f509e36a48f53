/** How a server says no: errors with the code, and the HTTP status, that the protocol has for them. */
import { isObject, own } from "../../mcp/parsed.ts";
import { type Change, type Finding, INVENTED, type Session, type Verdict } from "../check.ts";
import { type Exchange, isRefused } from "../exchange.ts";
import { finding } from "./answers-verdict.ts";
import { replies } from "./state-trial.ts";

const UNSUPPORTED_VERSION = -32022;
/** A revision that nobody will have. */
const NO_VERSION = "1999-12-31";
/** The codes that the protocol defines in the range it keeps for itself. */
const DEFINED: ReadonlySet<number> = new Set([-32020, -32021, -32022]);
/** Codes of earlier revisions that are never sent in this one. */
const RETIRED: ReadonlySet<number> = new Set([-32002, -32042]);

type Told = readonly [verdict: Verdict, words: string];

const GRAVITY: readonly Verdict[] = ["fail", "inconclusive", "warn", "pass"];

/** Whether a request that had to be refused was, with the code and status that there are for it. */
export function refusedWith(exchange: Exchange, code: number): Told {
  const { received } = exchange;
  if (received.kind === "error") {
    if (received.code !== code) return ["warn", `was refused with ${received.code} in place of ${code}`];
    return received.status === 400
      ? ["pass", `was refused with ${code}`]
      : ["warn", `was refused with ${code} and status ${received.status} in place of 400`];
  }
  if (received.kind === "none")
    return isRefused(exchange)
      ? ["warn", `was refused with status ${received.status}, and without ${code}`]
      : ["inconclusive", "got no answer that tells anything"];
  return ["fail", "was served"];
}

/** The gravest of several requests. */
export function gravest(told: readonly (readonly [name: string, told: Told, exchange: Exchange])[]): Finding {
  const verdict = GRAVITY.find((one) => told.some(([, [of]]) => of === one)) ?? "not_applicable";
  const shown = told.filter(([, [of]]) => of === verdict);
  const words = [...new Set(shown.map(([name, [, what]]) => `${name} ${what}`))].join("; ");
  return finding(
    verdict,
    words === "" ? "there is nothing to try" : words,
    shown.map(([, , exchange]) => exchange),
  );
}

/** Headers that do not fit the body, each in a first call of its own. */
export async function mismatches(
  session: Session,
  changes: readonly (readonly [string, Change])[],
): Promise<Finding> {
  const told: (readonly [string, Told, Exchange])[] = [];
  for (const [name, change] of changes) {
    const exchange = await session.first(change);
    told.push([name, refusedWith(exchange, -32020), exchange]);
  }
  return gravest(told);
}

/** A version that nobody implements, in header and body. */
export async function unknownVersion(session: Session): Promise<Finding> {
  const exchange = await session.first({ protocolVersion: NO_VERSION });
  const told = refusedWith(exchange, UNSUPPORTED_VERSION);
  const { received } = exchange;
  if (told[0] === "pass" && received.kind === "error") {
    const supported = isObject(received.data) ? own(received.data, "supported") : undefined;
    if (!Array.isArray(supported) || supported.length === 0)
      return finding("fail", "a version that nobody has was refused without saying which are supported", [
        exchange,
      ]);
  }
  return gravest([["a version that nobody has", told, exchange]]);
}

/** What the errors say that a server sends: those of the map, and of what is asked of it to provoke some. */
export async function errorCodes(session: Session): Promise<Finding> {
  const asked = await session.begin();
  const provoked = [
    await session.first({ target: `${INVENTED}-nothing` }),
    await session.ask(`${INVENTED}/nothing`),
    await session.retry(asked, { requestState: INVENTED, inputResponses: replies(session, asked) }),
    await session.retry(asked, { requestState: 7, inputResponses: undefined }),
  ];
  const unknown = provoked[1];
  const told = [...session.mapped, ...provoked].flatMap((exchange): [string, Told, Exchange][] => {
    const { received } = exchange;
    if (received.kind !== "error") return [];
    return [["an error", ofCode(received.code), exchange]];
  });
  if (unknown !== undefined) told.push(["a method that nobody has", ofUnknownMethod(unknown), unknown]);
  return gravest(told);
}

function ofCode(code: number): Told {
  if (!Number.isInteger(code) || code === 0) return ["fail", "has no code that is an integer"];
  if (RETIRED.has(code)) return ["fail", `has the code ${code}, which this revision does not send`];
  if (code <= -32020 && code >= -32099 && !DEFINED.has(code))
    return ["fail", `has the code ${code}, which the protocol keeps for itself and has not defined`];
  if (code <= -32000 && code >= -32019)
    return ["warn", `has the code ${code}, from a range that gets no new ones`];
  return ["pass", "has a code that there is"];
}

function ofUnknownMethod(exchange: Exchange): Told {
  const { received } = exchange;
  if (received.kind === "result") return ["fail", "was answered with a result"];
  if (received.kind !== "error")
    return isRefused(exchange) ? ["warn", "was refused without -32601"] : ["inconclusive", "got no answer"];
  if (received.code !== -32601) return ["warn", `was refused with ${received.code} in place of -32601`];
  return received.status === 404
    ? ["pass", "was refused with -32601"]
    : ["warn", `was refused with -32601 and status ${received.status} in place of 404`];
}
