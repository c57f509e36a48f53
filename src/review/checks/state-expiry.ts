/** Whether a state is refused after the time that the plan says it is good for: the honest retry, only late. */
import type { Finding, Session } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { reach } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { replies, requireHonest, roundWithState, takingOf } from "./state-trial.ts";

/** What is added to the time after which a state is no longer good: clocks differ. */
const MARGIN_MS = 1_000;

/** The check. @throws Inconclusive */
export async function expiry(session: Session): Promise<Finding> {
  const { expiryMs } = session.call;
  requireHonest(session);
  const round = roundWithState(session);
  if (round === undefined) return finding("not_applicable", "the server sends no state", []);
  if (expiryMs === undefined)
    return finding("not_applicable", "the plan does not say how long a state is good for", []);
  const asked = await reach(session, round);
  if (!(await session.wait(expiryMs + MARGIN_MS)))
    return finding("not_applicable", "the plan does not allow to wait until the state has expired", [
      asked.exchange,
    ]);
  const before = await session.probe();
  const reply: Exchange = await session.retry(asked, { inputResponses: replies(session, asked) });
  const after = await session.probe();
  const exchanges = [asked.exchange, reply];
  const what = `${Math.round(expiryMs / 1_000)} seconds after it was sent, and more`;
  if (before !== undefined && before !== after)
    return finding("fail", `the state was taken ${what}`, exchanges);
  // Nothing but the time differs from the honest retry.
  if (isRefused(reply) || isToolError(reply))
    return finding("pass", `the state was refused ${what}`, exchanges);
  // A refusal may be answered by servers that have not looked at the state.
  if (isDone(reply))
    return finding(session.call.complete ? "fail" : "warn", `the state was taken ${what}`, exchanges);
  if (isAsking(reply)) {
    const taking = await takingOf(session, asked, reply, after);
    return taking === "taken"
      ? finding("fail", `the state was taken ${what}`, exchanges)
      : finding("pass", `the question was asked anew ${what}`, exchanges);
  }
  return finding("inconclusive", `what came back ${what} does not tell`, exchanges);
}
