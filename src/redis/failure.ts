/** Why Redis could not be used. */

/**
 * A bounded set: it goes to audit and metrics. `unreachable`: no link, or it was lost (what was sent may have run);
 * `timeout`: no answer in time (it may have run, or may yet). With any other reason nothing has run to its end.
 * `not_served`: servers of a Cluster have answered, and none of them has taken the key in time.
 */
export type FailureReason =
  | "unreachable"
  | "unauthorized"
  | "timeout"
  | "not_master"
  | "not_served"
  | "full"
  | "error";

/** Redis did not do what it was asked. The message holds no credential and no argument of a command. */
export class RedisFailure extends Error {
  override readonly name = "RedisFailure";
  readonly reason: FailureReason;
  /** Name of the link that it happened on; undefined where it is that of the key's owner, or none. */
  readonly server: string | undefined;
  readonly #reply: string;

  constructor(reason: FailureReason, message: string, reply = "", server?: string) {
    super(message);
    this.reason = reason;
    this.server = server;
    this.#reply = reply;
  }

  /** The error that the server answered, as it came; empty where it answered none. Not for logs. */
  get reply(): string {
    return this.#reply;
  }
}

/** The time was over before anything was sent: nothing has run, and the server has been asked nothing. */
export class TooLate extends RedisFailure {
  constructor(name: string) {
    super("timeout", `Redis ${name}: too late to ask`, "", name);
  }
}

/** A user, password or right that Redis does not accept; the last two are what it says inside scripts, 6.2 and later. */
const REFUSED =
  /^(WRONGPASS|NOAUTH|NOPERM)\b|^ERR The user executing the script can't |\bACL failure in script\b/;

/** No memory for another key, under `noeviction`; the second is what it says inside scripts before 7.0. */
const FULL = /^OOM\b|\bOOM command not allowed\b/;

/** What an error of the client library stands for. */
export function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof Error)) return "error";
  if (error.name === "ReplyError") {
    if (REFUSED.test(error.message)) return "unauthorized";
    if (FULL.test(error.message)) return "full";
    return /^(NOTMASTER|READONLY|MASTERDOWN)\b/.test(error.message) ? "not_master" : "error";
  }
  return error.message === "Command timed out" ? "timeout" : "unreachable";
}
