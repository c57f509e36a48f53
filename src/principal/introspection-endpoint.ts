/**
 * One introspection endpoint (RFC 7662) that the operator named: asked once for a token however many requests bring it, its answers
 * remembered for a set time and no longer, left alone for a while when it is down. No redirect, no retry, a bound on time and size.
 *
 * Tokens are remembered by digest. A token goes to the endpoint and nowhere else.
 */
import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import { Agent } from "undici";
import { errorCode } from "../error-code.ts";
import { type Log, withoutQuery } from "../log.ts";
import type { Authentication } from "../oauth/client-authentication.ts";
import { postForm } from "../oauth/form-post.ts";
import { IssuerUnavailable } from "./credential.ts";
import { BrokenAnswer, MAX_ANSWER_BYTES, parseAnswer } from "./introspection-answer.ts";
import { Lane } from "./introspection-rest.ts";
import { TokenCache } from "./token-cache.ts";

/** Answers that are remembered: of active tokens, and of others, so that made-up ones push out none that is good. */
const MAX_ACTIVE = 10_000;
const MAX_INACTIVE = 2_000;
/** A token that is not active may become so (a replica of the issuer that is behind); it is asked for again soon. */
const INACTIVE_MS = 10_000;
/** Calls under way at once, and of these for tokens that nobody knows; further tokens are told to come again. */
const MAX_CALLS = 80;
const MAX_UNKNOWN_CALLS = 64;
/** How long it is known of a token that it was good. */
const KNOWN_MS = 3_600_000;
const TIMEOUT_MS = 5_000;

/** What became of a call, for metrics: `active`, `inactive`, or why there is no answer. */
export type IntrospectionOutcome =
  | "active"
  | "inactive"
  | "unreachable"
  | "timeout"
  | "status"
  | "broken"
  | "resting"
  | "busy";

/** How an endpoint is asked. */
export interface EndpointOptions {
  readonly issuer: string;
  /** The operator's, and trusted. */
  readonly url: string;
  readonly authentication: () => Authentication | Promise<Authentication>;
  /** Milliseconds that an answer is remembered, counted from when it was asked for. */
  readonly cache: number;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds for one answer; 5000 when absent. */
  readonly timeout?: number;
  readonly count?: ((outcome: IntrospectionOutcome) => void) | undefined;
}

/** What is remembered of a token: what `judge` has made of the claims, or that it is not active. */
interface Remembered<Judged> {
  readonly judged: Judged | undefined;
  readonly askedAt: number;
  /** Unix milliseconds. */
  readonly expires: number;
}

class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly outcome: IntrospectionOutcome;
  readonly details: object;
  /** Whether it says something about the endpoint, not only about one token. */
  readonly counts: boolean;

  constructor(outcome: IntrospectionOutcome, details: object, counts = true) {
    super(outcome);
    this.outcome = outcome;
    this.details = details;
    this.counts = counts;
  }
}

/** See the file's header. `Judged` is what is made of an answer once, and remembered with it. */
export class IntrospectionEndpoint<Judged> {
  readonly #options: EndpointOptions;
  readonly #judge: (claims: JWTPayload, token: string) => Judged;
  readonly #agent: Agent;
  readonly #closing = new AbortController();
  readonly #active = new TokenCache<Remembered<Judged>>(MAX_ACTIVE);
  readonly #inactive = new TokenCache<Remembered<Judged>>(MAX_INACTIVE);
  readonly #calls = new Map<string, Promise<Judged | undefined>>();
  /** Tokens that were active when they were last asked about. */
  readonly #good = new TokenCache<{ readonly expires: number }>(MAX_ACTIVE);
  readonly #lanes = { known: new Lane(), unknown: new Lane() };

  /** @param judge must not throw */
  constructor(options: EndpointOptions, judge: (claims: JWTPayload, token: string) => Judged) {
    const timeout = options.timeout ?? TIMEOUT_MS;
    this.#options = options;
    this.#judge = judge;
    this.#agent = new Agent({
      connections: MAX_CALLS,
      maxResponseSize: MAX_ANSWER_BYTES,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: { timeout },
    });
  }

  /**
   * What was made of the claims of an active token; undefined for one that is not active.
   * @throws (rejects with) IssuerUnavailable when that cannot be known now
   */
  ask(token: string): Judged | undefined | Promise<Judged | undefined> {
    const digest = createHash("sha256").update(token, "utf8").digest("base64url");
    const now = this.#options.now();
    const known = this.#active.get(digest, now) ?? this.#inactive.get(digest, now);
    // A clock that was set back makes an answer old, not young for longer.
    if (known !== undefined && now >= known.askedAt) return known.judged;
    const call = this.#calls.get(digest) ?? this.#call(token, digest, now);
    return call;
  }

  /** False while the endpoint is left alone, whoever asks. */
  available(): boolean {
    const { known, unknown } = this.#lanes;
    const now = this.#options.now();
    return !unknown.isResting(now) || (this.#good.size > 0 && !known.isResting(now));
  }

  close(): void {
    this.#closing.abort();
    this.#agent.destroy().catch(() => undefined);
  }

  async #call(token: string, digest: string, now: number): Promise<Judged | undefined> {
    const { known, unknown } = this.#lanes;
    const lane = this.#good.get(digest, now) === undefined ? unknown : known;
    const isFull = this.#calls.size >= MAX_CALLS || (lane === unknown && lane.calls >= MAX_UNKNOWN_CALLS);
    const refused: IntrospectionOutcome | undefined = !lane.mayAsk(now)
      ? "resting"
      : isFull
        ? "busy"
        : undefined;
    if (refused !== undefined) {
      this.#options.count?.(refused);
      throw new IssuerUnavailable(`introspection_${refused}`);
    }
    lane.calls += 1;
    const call = this.#askAnew(token, digest, now, lane).finally(() => {
      this.#calls.delete(digest);
      lane.calls -= 1;
    });
    this.#calls.set(digest, call);
    return await call;
  }

  async #askAnew(token: string, digest: string, askedAt: number, lane: Lane): Promise<Judged | undefined> {
    const { count, cache } = this.#options;
    try {
      const claims = await this.#post(token);
      lane.succeeded();
      const judged = claims === undefined ? undefined : this.#judge(claims, token);
      count?.(claims === undefined ? "inactive" : "active");
      if (judged === undefined || claims === undefined) {
        this.#good.delete(digest);
        this.#inactive.set(digest, { judged, askedAt, expires: askedAt + Math.min(cache, INACTIVE_MS) });
        return judged;
      }
      const { exp } = claims;
      const ends = Number.isFinite(exp) ? Number(exp) * 1000 : Number.POSITIVE_INFINITY;
      this.#good.set(digest, { expires: Math.min(askedAt + KNOWN_MS, ends) });
      this.#active.set(digest, { judged, askedAt, expires: Math.min(askedAt + cache, ends) });
      return judged;
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      this.#fail(error, lane);
      throw new IssuerUnavailable(`introspection_${error.outcome}`);
    }
  }

  #fail({ outcome, details, counts }: CallFailed, lane: Lane): void {
    const { issuer, url, log, now, count } = this.#options;
    count?.(outcome);
    const rest = counts ? lane.failed(now()) : 0;
    const line = { issuer, url: withoutQuery(url), fault: outcome, ...details, restsMs: rest };
    log.warn(line, "token introspection failed");
  }

  /** The claims of an active token; undefined for one that is not. Throws CallFailed. */
  async #post(token: string): Promise<JWTPayload | undefined> {
    const { url, authentication, timeout = TIMEOUT_MS } = this.#options;
    const deadline = AbortSignal.timeout(timeout);
    const signal = AbortSignal.any([deadline, this.#closing.signal]);
    try {
      const { statusCode, headers, body } = await postForm(url, {
        ...{ dispatcher: this.#agent, signal, authentication: await authentication() },
        form: [
          ["token", token],
          ["token_type_hint", "access_token"],
        ],
      });
      const failed = headFault(statusCode, headers);
      if (failed !== undefined) {
        body.on("error", () => undefined).destroy();
        throw failed;
      }
      return parseAnswer(Buffer.from(await body.arrayBuffer()));
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      if (error instanceof BrokenAnswer) throw new CallFailed("broken", { why: error.message });
      const code = errorCode(error);
      if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") throw new CallFailed("broken", { why: "too_large" });
      const late = deadline.aborted || code?.endsWith("TIMEOUT") === true;
      throw new CallFailed(late ? "timeout" : "unreachable", code === undefined || late ? {} : { code });
    }
  }
}

/** An answer that is none by its head: anything but 200 with plain JSON. */
function headFault(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): CallFailed | undefined {
  // 400 and its like are about this one token, and must not keep others from being asked for; these are about us, or all.
  const ours = status >= 500 || [401, 403, 404, 407, 429].includes(status) || status < 400;
  if (status !== 200) return new CallFailed("status", { status }, ours);
  const { "content-encoding": coding, "content-type": type } = headers;
  if (coding !== undefined && coding !== "identity") return new CallFailed("broken", { why: "coding" });
  const json = typeof type === "string" && /^application\/json\s*(;|$)/i.test(type);
  return json ? undefined : new CallFailed("broken", { why: "media_type" });
}
