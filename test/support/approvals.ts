/** Calls that need consent, policies and approvals as tests make them; time and randomness come from the test. */
import { randomBytes } from "node:crypto";
import { type ApprovalsDesk, createApprovals } from "../../src/approval/approvals.ts";
import type { ApprovePolicy } from "../../src/approval/approve-policy.ts";
import { type ApprovalCall, type ApprovalQuestion, approvalQuestion } from "../../src/approval/question.ts";
import type { Shelf } from "../../src/approval/shelf.ts";
import { approval } from "../../src/config/approval-settings.ts";
import { scan } from "../../src/json/scan.ts";
import { type Keyring, loadKeyring } from "../../src/keyring.ts";
import { createMemoryOverrides } from "../../src/overrides/memory.ts";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import type { Principal } from "../../src/principal/principal.ts";

/** Somebody at an issuer. */
export const person = (subject: string, more: Partial<Principal> = {}): Principal => ({
  anonymous: false,
  issuer: "https://idp.example",
  subject,
  client: "cli",
  groups: [],
  scopes: [],
  ...more,
});

/** A policy with `effect: approve`, as it stands in a configuration. */
export const policyOf = (settings: object = {}, id = "ask"): ApprovePolicy => ({
  id,
  approval: approval.parse(settings),
});

/** A call of a tool; `text` is the JSON text of its arguments where their spelling matters. */
export function callOf(
  principal: Principal,
  given: unknown = {},
  more: Partial<ApprovalCall> & { readonly text?: string } = {},
): ApprovalCall {
  const { text = JSON.stringify(given), ...rest } = more;
  const tool = rest.target?.name ?? "delete_file";
  const json = `{"params":{"name":${JSON.stringify(tool)},"arguments":${text}}}`;
  const doc = scan(Buffer.from(json), { bytes: 64 * 1024 * 1024, depth: 64 });
  return {
    server: "/files",
    route: "/files",
    upstream: "http://127.0.0.1:9/mcp",
    method: "tools/call",
    target: { kind: "tool", name: tool },
    doc,
    params: doc.get(doc.root, "params"),
    principal,
    ...rest,
  };
}

/** A question with a code that nobody looks at. */
export const questionOf = (
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
  another?: Parameters<typeof approvalQuestion>[3],
): ApprovalQuestion => approvalQuestion(policies, call, () => "0BADC0DE", another);

/** A ring; the first label seals. */
export const ringOf = (...labels: readonly string[]): Keyring =>
  loadKeyring(
    labels.map((id) => ({ id, secret: Buffer.from(id.padEnd(32, "#")) })),
    labels[0] ?? "",
  );

/** One replica. */
export interface ApprovalReplica {
  readonly approvals: ApprovalsDesk;
  readonly overrides: OverridesDesk;
  readonly warnings: string[];
  ring: Keyring;
}

/** Approvals on a shelf, with overrides of their own unless given. @param now milliseconds */
export function replicaOn(
  shelf: Shelf,
  now: () => number,
  { overrides, audience = "https://gateway.example" }: { overrides?: OverridesDesk; audience?: string } = {},
): ApprovalReplica {
  const warnings: string[] = [];
  const desk =
    overrides ?? createMemoryOverrides({ now, lifetimes: () => ({ skewSeconds: 0, chainSeconds: 90_000 }) });
  const replica = { ring: ringOf("first") };
  const approvals = createApprovals({
    shelf,
    sealing: { keys: replica, audience, now, random: randomBytes },
    overrides: desk,
    log: {
      info: () => undefined,
      error: () => undefined,
      warn: (_fields: unknown, message?: string) => warnings.push(message ?? ""),
    } as never,
  });
  return Object.assign(replica, { approvals, overrides: desk, warnings });
}

/** The chain of one approval. @param now milliseconds */
export function approvedAt(now: number, more: { readonly ttl?: number } = {}) {
  const id = () => randomBytes(16).toString("base64url");
  const seconds = Math.floor(now / 1_000);
  return { chain: id(), chainIat: seconds, jti: id(), exp: seconds + (more.ttl ?? 600) };
}
