/** A policy with `effect: approve`, its settings, and its digest: whatever rests on that ends when the policy is changed. */
import { createHash } from "node:crypto";
import { type ApprovalSettings, approval } from "../config/approval-settings.ts";
import { pathsIn } from "./template.ts";

/** One of them, as configured: trusted. Members beside these are part of its digest. */
export interface ApprovePolicy {
  readonly id: string;
  /** Absent where the policy sets nothing: then defaults count. */
  readonly approval?: ApprovalSettings;
}

const DEFAULTS: ApprovalSettings = approval.parse({});

/** The settings of a policy, or the defaults. */
export const settingsOf = (policy: ApprovePolicy): ApprovalSettings => policy.approval ?? DEFAULTS;

const known = new WeakMap<ApprovePolicy, string>();

/** Base64url SHA-256 of all settings of a policy, in any order; the same on all replicas with the same configuration. */
export function policyDigest(policy: ApprovePolicy): string {
  const before = known.get(policy);
  if (before !== undefined) return before;
  const text = JSON.stringify(policy, (_key, value: unknown) => sorted(value));
  const digest = createHash("sha256").update(text, "utf8").digest("base64url");
  known.set(policy, digest);
  return digest;
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Paths of the arguments that the templates of policies name. */
export const pathsOf = (policies: readonly ApprovePolicy[]): string[] =>
  policies
    .map(settingsOf)
    .flatMap(({ message, confirm }) =>
      [message, confirm].flatMap((one) => (one === undefined ? [] : pathsIn(one))),
    );

const MASKS: readonly ApprovalSettings["mask"][] = ["none", "secrets", "all"];

/** What is hidden in a question of several policies: all that one of them hides. */
export const strictestMask = (policies: readonly ApprovePolicy[]): ApprovalSettings["mask"] =>
  MASKS.findLast((mask) => policies.some((policy) => settingsOf(policy).mask === mask)) ?? "all";
