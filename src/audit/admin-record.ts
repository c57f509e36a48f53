/** The audit record of what somebody did, or tried to do, on the admin listener. It holds no token. */

/** One deed, as it is written. */
export interface AdminRecord {
  readonly type: "admin";
  /** RFC 3339. */
  readonly time: string;
  /** As in the answer's `X-Request-Id`. */
  readonly requestId: string;
  readonly address: string;
  readonly action: AdminAction;
  readonly outcome: "done" | "refused" | "failed";
  /** Of what was refused or failed: why. */
  readonly cause?: "token" | "order" | "full" | "busy" | "store_unavailable" | "not_found";
  /** What was set or taken back. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

/** What can be done; `unknown` where the token was refused before anybody looked. */
export type AdminAction =
  | "revoke"
  | "unrevoke"
  | "grant"
  | "ungrant"
  | "approve"
  | "deny"
  | "forget"
  | "unknown";
