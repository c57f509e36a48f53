/**
 * The record of one HTTP request on its way through the gateway: its id, what audit will say, and when the client left.
 * Written once, at the end, by `finish`.
 */
import type { ServerResponse } from "node:http";
import type { Allowance, Kind } from "./allowance/allowance.ts";
import { HeldPlaces } from "./allowance/held-places.ts";
import type { AuditRecord, Draft } from "./audit/record.ts";
import type { AuditLog } from "./audit/sinks.ts";
import type { Route } from "./call.ts";
import { Refusal, type RefusalCode } from "./errors.ts";
import type { Headers } from "./headers.ts";
import type { Limits, Place } from "./limits.ts";
import { type Log, withoutQuery } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { ANONYMOUS, type Principal } from "./principal/principal.ts";
import { type Finding, type NotedFinding, noteFinding } from "./rules/finding.ts";
import type { Modes } from "./rules/modes.ts";
import { ruleOfRefusal } from "./rules/refusals.ts";
import type { RequestTrace } from "./telemetry/request-trace.ts";
import type { Tracer } from "./telemetry/tracer.ts";

/** Where decisions are written. */
export interface Witnesses {
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Undefined where no traces are asked for. */
  readonly tracer?: Tracer | undefined;
}

/** See the file's header. */
export class Journey {
  readonly requestId: string;
  readonly route: Route;
  readonly startedAt: number;
  readonly draft: Draft = {};
  /** Undefined where no traces are asked for. */
  readonly trace: RequestTrace | undefined;
  /** What audit was told, once it was. */
  record: AuditRecord | undefined;
  /** JSON text of the request's id, once one was read. */
  id: string | null = null;
  headers: Headers = new Map();
  principal: Principal = ANONYMOUS;
  /** What its caller may still do here; undefined where nothing limits that. */
  allowance: Allowance | undefined;
  #modes: Modes | undefined;
  /** Its answer has been passed on; what a legacy server sends after it answers nothing. */
  answered = false;
  /** The upstream may have got this request: from then on nobody may be told to send it again. */
  sent = false;
  /** Headers of every answer to this request, also of refusals. */
  readonly replyHeaders: Record<string, string>;
  /** Held until the answer has left. */
  readonly #places = new HeldPlaces();
  #closed = false;
  #superseded = false;
  readonly #end = new AbortController();
  readonly #witnesses: Witnesses;
  readonly #onOver: () => void;
  #finished = false;

  /**
   * @param onClose called when the answer has left, or cannot leave any more
   * @param onOver called when it has, and the audit record is written: nothing more is done for this request
   */
  constructor(
    requestId: string,
    route: Route,
    raw: ServerResponse,
    witnesses: Witnesses,
    onClose: () => void,
    onOver: () => void = () => undefined,
  ) {
    this.requestId = requestId;
    this.route = route;
    this.startedAt = witnesses.now();
    this.trace = witnesses.tracer?.begin(this.startedAt);
    this.replyHeaders = { "x-request-id": requestId, "cache-control": "no-store" };
    this.#witnesses = witnesses;
    this.#onOver = onOver;
    raw.once("close", () => {
      if (!raw.writableFinished) this.stop(new Refusal("cancelled", "client_left"));
      this.#closed = true;
      this.#places.leave();
      this.allowance?.end();
      onClose();
      if (this.#finished) onOver();
    });
  }

  /**
   * Aborted, with a refusal as its reason, when the client has gone (cancellation by disconnect, basic/transports/streamable-http)
   * or when the gateway's shutdown has no more time.
   */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /**
   * Takes a place, and one of the caller's own, in exchange for those held so far.
   * @throws Refusal `too_many_requests`, `too_many_streams`, `concurrency_limited`, `streams_limited`, or for `server/discover` `overloaded`
   */
  enter(limits: Limits, kind: Place): void {
    // Whoever has gone gives no place back.
    if (this.#closed) throw this.stopped ?? new Refusal("cancelled", "client_left");
    try {
      this.#places.enter(limits, this.allowance, kind);
    } catch (error) {
      throw this.#limited(error);
    }
    if (this.#superseded) this.#endStream();
  }

  /**
   * Takes a place among the caller's requests at all gateways, behind `enter`; undefined where nobody has to be asked.
   * @throws Refusal as `enter`
   */
  share(): Promise<void> | undefined {
    return this.allowance?.share()?.catch((error: unknown) => {
      throw this.#limited(error);
    });
  }

  /**
   * Counts this request against what its caller may do.
   * @param mayAsk whether its answer can be a question
   * @throws Refusal `rate_limited`, or for `server/discover` `overloaded`
   */
  async admit(kind: Kind, mayAsk: boolean): Promise<void> {
    try {
      await this.allowance?.admit(kind, mayAsk);
    } catch (error) {
      throw this.#limited(error);
    }
  }

  /**
   * Whether a body is read, before it is; see `Allowance.checkBody`.
   * @throws Refusal as `admit`
   */
  checkBody(bytes: number | undefined, alwaysRead: number): void {
    try {
      this.allowance?.checkBody(bytes, alwaysRead);
    } catch (error) {
      throw this.#limited(error);
    }
  }

  /** A 429 would make an SDK client that discovers fall back to a legacy handshake. */
  #limited(error: unknown): unknown {
    const discovers =
      this.draft.method === "server/discover" || this.headers.get("mcp-method") === "server/discover";
    if (!(error instanceof Refusal) || error.entry.status !== 429 || !discovers) return error;
    return new Refusal("overloaded", error.detail, { headers: error.headers });
  }

  /** A stream that nothing will answer: shutdown does not wait for it, and opening it again is harmless. */
  get endless(): boolean {
    return this.#places.kind === "stream" || this.answered || this.draft.method === "subscriptions/listen";
  }

  /**
   * What this request was judged by is not in force any more. It runs on to its answer; a stream that nothing will answer ends,
   * and opens again under what is in force now. Nobody who has lost access reads on for hours.
   */
  supersede(): void {
    this.#superseded = true;
    this.#endStream();
  }

  /** Whether it goes on under what is not in force any more. */
  get superseded(): boolean {
    return this.#superseded;
  }

  #endStream(): void {
    if (this.endless) this.stop(new Refusal("configuration_changed", "configuration_changed"));
  }

  /** The refusal this request was stopped with. */
  get stopped(): Refusal | undefined {
    const reason: unknown = this.signal.reason;
    return reason instanceof Refusal ? this.#toBeTold(reason) : undefined;
  }

  /** Stops the request: what waits for the upstream or streams from it ends now. */
  stop(refusal: Refusal): void {
    this.#end.abort(this.#toBeTold(refusal));
  }

  /** To be told "send it again" after it may have been carried out would be a second execution. */
  #toBeTold(refusal: Refusal): Refusal {
    const harmless = refusal.code !== "shutting_down" || !this.sent || this.endless;
    return harmless ? refusal : new Refusal("upstream_lost", refusal.detail);
  }

  /** The modes of rules that hold for this request: those of its route, or of the tool that it turns out to call. */
  get modes(): Modes {
    this.#modes ??= this.route.modes(undefined);
    return this.#modes;
  }

  set modes(modes: Modes) {
    this.#modes = modes;
  }

  /**
   * Counts a broken rule and notes it for audit, unless its mode is off.
   * @returns whether the rule is enforced, so that the caller has to act: refuse, drop or mend
   */
  acts({ rule, detail, about }: Finding): boolean {
    const mode = this.modes[rule];
    if (mode === "off") return false;
    const { metrics, log } = this.#witnesses;
    metrics.finding(this.route.config.path, rule, mode);
    const noted = noteFinding(this.draft.rules, { id: rule, mode, detail });
    if (noted !== this.draft.rules || about !== undefined) {
      const { requestId } = this;
      log.info({ requestId, rule, mode, detail, ...(about === undefined ? {} : { about }) }, "rule broken");
    }
    this.draft.rules = noted;
    return mode === "enforce";
  }

  /**
   * `acts` for all findings of one check.
   * @throws what `refuse` makes of the first finding whose rule is enforced, once all are noted
   */
  judge(findings: readonly Finding[], refuse: (finding: Finding) => Refusal): void {
    let enforced: Finding | undefined;
    for (const finding of findings) if (this.acts(finding)) enforced ??= finding;
    if (enforced !== undefined) throw refuse(enforced);
  }

  /** A refusal that a rule stands behind, and that no check has noted already. */
  #noteRefusal(code: RefusalCode | undefined, cause: string | undefined): void {
    const rule = code === undefined ? undefined : ruleOfRefusal(code, cause ?? "");
    // The same cause under another rule is a check that refused for what it noted.
    const known = ({ id, mode, detail }: NotedFinding): boolean =>
      mode === "enforce" && (id === rule || detail === cause);
    if (rule === undefined || this.draft.rules?.some(known)) return;
    this.#witnesses.metrics.finding(this.route.config.path, rule, "enforce");
    this.draft.rules = noteFinding(this.draft.rules, { id: rule, mode: "enforce", detail: cause ?? "" });
  }

  /**
   * Writes the audit record, counts it, and logs a refusal in one line; later calls do nothing.
   * @param err what a refusal was caused by, for the log only
   */
  finish(last: Draft, err?: unknown): void {
    if (this.#finished) return;
    this.#finished = true;
    const { audit, metrics, log, now } = this.#witnesses;
    const ended = now();
    const outcome =
      this.stopped?.code === "cancelled" ? "cancelled" : (last.outcome ?? this.draft.outcome ?? "complete");
    if (outcome === "refused") this.#noteRefusal(last.code, last.cause);
    const record = {
      type: "audit",
      time: new Date(ended).toISOString(),
      requestId: this.requestId,
      route: this.route.config.path,
      ...this.draft,
      ...last,
      outcome,
      latencyMs: Math.max(0, ended - this.startedAt),
    } as const;
    this.record = record;
    audit.write(record);
    metrics.observe(record);
    this.allowance?.settle(record);
    if (this.#closed) this.#onOver();
    if (outcome !== "refused") return;
    const { requestId, code, cause } = record;
    const upstream = code?.startsWith("upstream_")
      ? { upstream: withoutQuery(this.route.config.upstream.url) }
      : {};
    const line = { requestId, code, cause, ...upstream, ...(err === undefined ? {} : { err }) };
    if (code === "internal") log.error(line, "request refused");
    // Older clients try this first, and are not in trouble.
    else if (code === "method_not_allowed") log.info(line, "request refused");
    else log.warn(line, "request refused");
  }
}
