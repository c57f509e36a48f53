/**
 * One token endpoint of an authorization server that the operator named. A request goes there once: no redirect, no retry, a bound
 * on time and size. While nobody listens there requests rest for a moment; what one caller's token makes of the endpoint holds up
 * nobody else.
 */
import { Agent } from "undici";
import { errorCode } from "../error-code.ts";
import { Refusal } from "../errors.ts";
import { type Log, withoutQuery } from "../log.ts";
import type { Authentication } from "../oauth/client-authentication.ts";
import { postForm } from "../oauth/form-post.ts";
import { asGrantRefusal, fault, type GrantedToken, parseAnswer, readGranted } from "./token-answer.ts";

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** Where no connection can be had, nobody tries for so long. */
const REST_MS = 1_000;
/** Failures before a byte was sent, which no token can bring about. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$|^ERR_TLS|CERT|SELF_SIGNED|ISSUER|VERIFY/;

/** What the endpoint is asked with. */
export interface TokenEndpointOptions {
  /** The operator's, and trusted. */
  readonly url: string;
  readonly authentication: () => Authentication | Promise<Authentication>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds for the whole answer; 5000 when absent. */
  readonly timeout?: number;
}

/** See the file's header. */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;
  readonly #timeout: number;
  readonly #agent: Agent;
  readonly #closing = new AbortController();
  #restsUntil = 0;

  constructor(options: TokenEndpointOptions) {
    const timeout = options.timeout ?? TIMEOUT_MS;
    this.#options = options;
    this.#timeout = timeout;
    this.#agent = new Agent({
      maxResponseSize: MAX_ANSWER_BYTES,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: { timeout },
    });
  }

  /**
   * Asks for a token.
   * @param form members besides those that authenticate; may hold a caller's token
   * @param exchanged whether this is a token exchange, in the caller's name
   * @throws Refusal `credential_refused`, `credential_unavailable`, `credential_fault`
   */
  async grant(form: readonly (readonly [string, string])[], exchanged: boolean): Promise<GrantedToken> {
    const { now } = this.#options;
    const rest = this.#restsUntil - now();
    if (rest > 0 && rest <= REST_MS) throw new Refusal("credential_unavailable", "grant_rest");
    try {
      const { status, body } = await this.#post(form);
      const answer = parseAnswer(body);
      if (status !== 200) throw asGrantRefusal(status, answer, exchanged);
      if (answer === undefined) throw fault("json");
      return readGranted(answer, exchanged);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : this.#refusalOf(error);
      if (NO_CONNECTION.test(errorCode(error) ?? "")) this.#restsUntil = now() + REST_MS;
      this.#tell(refusal, error);
      throw refusal;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  async #post(form: readonly (readonly [string, string])[]): Promise<{ status: number; body: Buffer }> {
    const { url, authentication } = this.#options;
    const own = await authentication();
    const signal = AbortSignal.any([AbortSignal.timeout(this.#timeout), this.#closing.signal]);
    const {
      statusCode: status,
      headers,
      body,
    } = await postForm(url, { dispatcher: this.#agent, signal, authentication: own, form });
    const coding = headers["content-encoding"];
    if (coding !== undefined && coding !== "identity") {
      body.on("error", () => undefined).destroy();
      throw fault("coding");
    }
    return { status, body: Buffer.from(await body.arrayBuffer()) };
  }

  #refusalOf(error: unknown): Refusal {
    const code = errorCode(error);
    if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return fault("too_large");
    // The parser's errors carry a code only for some of their causes.
    if (code?.startsWith("HPE_") === true || (error instanceof Error && error.name === "HTTPParserError"))
      return fault("http");
    const late =
      code?.endsWith("TIMEOUT") === true || (error instanceof Error && error.name === "TimeoutError");
    return new Refusal("credential_unavailable", late ? "grant_timeout" : "grant_unreachable");
  }

  /** Says what the operator can mend. That one caller was refused is the authorization server's own business. */
  #tell({ code, detail }: Refusal, error: unknown): void {
    if (code === "credential_refused") return;
    const { log, url } = this.#options;
    const system = errorCode(error);
    const line = {
      endpoint: withoutQuery(url),
      cause: detail,
      ...(system === undefined ? {} : { code: system }),
    };
    if (detail === "grant_client") log.error(line, "the authorization server does not accept the gateway");
    else log.warn(line, "no token from the authorization server");
  }
}
