/**
 * Sessions of the console, in the memory of this process. A session has two halves: a cookie, which the browser keeps from scripts, and
 * a key, which the page sends in a header. Cookies know no ports: whatever else is served from the same host gets the cookie, and
 * without the key it is worth nothing. No other page can send the header. docs/console.md, sessions.
 */
import { createHash, timingSafeEqual } from "node:crypto";

/** How long one lasts, whatever is done with it. */
export const SESSION_SECONDS = 3_600;
/** The oldest ends when there is one more: who signs in has the token. */
const MAX_SESSIONS = 64;
const HALF_BYTES = 32;
/** Unpadded base64url of 32 bytes. */
const HALF = /^[A-Za-z0-9_-]{43}$/;

export const COOKIE = "sealgate_console";
/** The header that carries the other half. */
export const KEY_HEADER = "x-sealgate-console";

/** The two halves, which only the browser has from here on. */
export interface SessionHalves {
  readonly cookie: string;
  readonly key: string;
}

interface Session {
  readonly key: Buffer;
  /** Digest of the token it was opened with: another token ends it. */
  readonly token: Buffer;
  /** Milliseconds. */
  readonly until: number;
}

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/** See the file's header. */
export class Sessions {
  /** By the digest of the cookie, so that what is compared in a map is nothing that anybody sends. */
  readonly #open = new Map<string, Session>();
  readonly #random: (bytes: number) => Buffer;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(random: (bytes: number) => Buffer, now: () => number) {
    this.#random = random;
    this.#now = now;
  }

  /** @param token the one in force, which was just shown */
  open(token: string): SessionHalves {
    this.#sweep();
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_SESSIONS && oldest !== undefined) this.#open.delete(oldest);
    const cookie = this.#random(HALF_BYTES).toString("base64url");
    const key = this.#random(HALF_BYTES).toString("base64url");
    const until = this.#now() + SESSION_SECONDS * 1_000;
    this.#open.set(nameOf(cookie), { key: digest(key), token: digest(token), until });
    return { cookie, key };
  }

  /**
   * Whether both halves are those of one session that is open.
   * @param halves untrusted
   * @param token the one in force
   */
  holds(
    halves: { readonly cookie: string | undefined; readonly key: string | undefined },
    token: string,
  ): boolean {
    const { cookie, key } = halves;
    if (cookie === undefined || key === undefined || !HALF.test(cookie) || !HALF.test(key)) return false;
    const session = this.#open.get(nameOf(cookie));
    if (session === undefined) return false;
    if (session.until <= this.#now() || !timingSafeEqual(session.token, digest(token))) {
      this.#open.delete(nameOf(cookie));
      return false;
    }
    return timingSafeEqual(session.key, digest(key));
  }

  /** Ends one. */
  end(cookie: string): void {
    this.#open.delete(nameOf(cookie));
  }

  /** Ends all, as when the console is turned off. */
  endAll(): void {
    this.#open.clear();
  }

  get size(): number {
    return this.#open.size;
  }

  #sweep(): void {
    for (const [name, { until }] of this.#open) if (until <= this.#now()) this.#open.delete(name);
  }
}

const nameOf = (cookie: string): string => digest(cookie).toString("base64url");

/**
 * The session's cookie among those of a `Cookie` header.
 * @param header untrusted, one value or none
 * @returns undefined where it is not there exactly once
 */
export function cookieIn(header: string | undefined): string | undefined {
  const values = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${COOKIE}=`));
  return values.length === 1 ? values[0]?.slice(COOKIE.length + 1) : undefined;
}

/** The `Set-Cookie` value. @param secure whether the browser came by https. @param seconds 0 takes it away */
export const setCookie = (value: string, secure: boolean, seconds = SESSION_SECONDS): string =>
  `${COOKIE}=${value}; Path=/v1/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
