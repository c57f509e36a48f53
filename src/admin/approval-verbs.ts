/**
 * The admin verbs about approvals: what waits for others and what is remembered, a yes or no to the one, and the end of the other.
 * Part of `verbs.ts`, which asks for the token. What is written to audit names a call and not its arguments.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ApprovalsDesk } from "../approval/approvals.ts";
import { presentDecided, presentHeld, presentWaiting, type ShownApproval } from "../approval/presented.ts";
import type { AdminAction, AdminRecord } from "../audit/admin-record.ts";
import { OrderRefused } from "../overrides/orders.ts";

/** What they work with. */
export interface ApprovalVerbSources {
  readonly approvals: ApprovalsDesk;
  record(request: FastifyRequest, action: AdminAction, rest: Partial<AdminRecord>): void;
  /** Of what can be expected to fail; undefined for all else. */
  causeOf(error: unknown): AdminRecord["cause"] | undefined;
}

const DECISIONS = ["approve", "deny", "forget"] as const;
type Decision = (typeof DECISIONS)[number];
const WHO = /^[^\p{C}]{1,64}$/u;

/** Adds them to the scope of the verbs, whose hooks come first and whose error handler maps what they throw. */
export function addApprovalVerbs(
  scope: FastifyInstance,
  { approvals, record, causeOf }: ApprovalVerbSources,
): void {
  scope.get("/approvals", async () => ({
    waiting: (await approvals.listWaiting()).map(presentWaiting),
    remembered: (await approvals.listRemembered()).map(presentHeld),
  }));
  scope.post("/approvals/:id", async (request, reply) => {
    const { id } = request.params as { readonly id: string };
    const { decision, by } = orderOf(request.body);
    const shown = await carryOut(approvals, id, decision, by).catch((error: unknown) => {
      const cause = causeOf(error);
      if (cause !== undefined) record(request, decision, { outcome: "failed", cause });
      throw error;
    });
    if (shown === undefined) {
      record(request, decision, { outcome: "failed", cause: "not_found" });
      return reply.code(404).send({ error: "there is no such entry" });
    }
    const { message: _, missing: __, counts: ___, ...entry } = shown;
    record(request, decision, { entry: { ...entry, by } });
    return reply.code(200).send(shown);
  });
}

/** @throws ShelfUnavailable, OverridesFull, OverridesUnavailable */
async function carryOut(
  approvals: ApprovalsDesk,
  id: string,
  decision: Decision,
  by: string,
): Promise<ShownApproval | undefined> {
  if (decision === "forget") {
    const held = await approvals.forget(id, by);
    return held === undefined ? undefined : presentHeld(held);
  }
  const decided = await approvals.decide(id, decision === "approve", by);
  return decided === undefined ? undefined : presentDecided(decided);
}

/** @throws OrderRefused */
function orderOf(body: unknown): { readonly decision: Decision; readonly by: string } {
  const { decision, by = "admin", ...rest } = (body ?? {}) as Record<string, unknown>;
  const known = DECISIONS.find((one) => one === decision);
  if (known === undefined) throw new OrderRefused(`decision is none of ${DECISIONS.join(", ")}`);
  if (typeof by !== "string" || !WHO.test(by)) throw new OrderRefused("by is no name of 1 to 64 characters");
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new OrderRefused("the body holds a member that is none of decision, by");
  return { decision: known, by };
}
