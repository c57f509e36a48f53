/** The sealed states of the breakable server: AES-256-GCM, canonical base64url, `v1.` in front. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Broken } from "./rules.ts";

/** What a state says. */
export interface Claims {
  readonly jti: string;
  readonly principal: string;
  readonly method: string;
  readonly target: string;
  /** Of the arguments, members sorted. */
  readonly arguments: string;
  /** Of the request that was answered with it. */
  readonly id: string | number;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Which round of questions, from 0. */
  readonly round: number;
  /** How often it has asked. */
  readonly asked: number;
}

const PREFIX = "v1.";
const NONCE = 12;
const TAG = 16;
/** Stands in for what a state that cannot be read would have said. */
const UNKNOWN = {
  id: -1,
  expires: Number.MAX_SAFE_INTEGER,
  round: 0,
  asked: 1,
  jti: "",
  principal: "",
  method: "",
  target: "",
  arguments: "",
};

/** A codec with a key of its own. */
export function stateCodec(broken: Broken) {
  const key = randomBytes(32);
  return {
    seal(claims: Claims): string {
      if (broken("state-in-parts")) {
        const { round, asked, ...rest } = claims;
        return `${sealed(rest)}.${sealed({ round, asked })}`;
      }
      const whole = sealed(claims);
      return broken("readable-state")
        ? `${whole}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`
        : whole;
    },
    /** @returns undefined for what this codec has not made */
    open(state: unknown): Claims | undefined {
      if (Array.isArray(state) && broken("state-in-list")) return this.open(state[0]);
      if (typeof state !== "string") return undefined;
      const claims = broken("state-in-parts") ? joined(state) : opened(state);
      if (claims !== undefined) return claims;
      // Only what does not even look like a state is invented; the rest is tampered with.
      if (broken("invented-state") && !state.toLowerCase().includes(PREFIX))
        return { ...UNKNOWN, jti: randomBytes(8).toString("hex") };
      return undefined;
    },
  };

  function sealed(claims: Partial<Claims>): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(PREFIX));
    const text = Buffer.concat([cipher.update(JSON.stringify(claims)), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url");
  }

  function joined(state: string): Claims | undefined {
    const parts = /^(v1\.[\w-]+)\.(v1\.[\w-]+)$/.exec(state)?.slice(1).map(opened) ?? [];
    return parts.length === 2 && parts.every((part) => part !== undefined)
      ? Object.assign({}, ...parts)
      : undefined;
  }

  function opened(state: string): Claims | undefined {
    const lenient = broken("other-spellings");
    const text = broken("readable-state") ? state.replace(/\.[^.]*$/, "") : state;
    const trimmed = lenient ? text.replaceAll(/[\s=]/g, "") : text;
    const prefix = trimmed.slice(0, PREFIX.length);
    if (prefix !== PREFIX && !(lenient && prefix.toLowerCase() === PREFIX)) return undefined;
    const body = trimmed.slice(PREFIX.length);
    const bytes = Buffer.from(body, "base64url");
    const isCanonical = bytes.toString("base64url") === body;
    if (!isCanonical && !lenient && !broken("tampered-state")) return undefined;
    if (bytes.length < NONCE + TAG) return undefined;
    const end = bytes.length - TAG;
    const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE));
    cipher.setAAD(Buffer.from(PREFIX)).setAuthTag(bytes.subarray(end));
    try {
      const plain = cipher.update(bytes.subarray(NONCE, end));
      if (broken("tampered-state")) return leniently(plain.toString());
      return JSON.parse(Buffer.concat([plain, cipher.final()]).toString());
    } catch {
      return undefined;
    }
  }
}

/** Whatever can still be made out of a text that has been tampered with. */
function leniently(text: string): Claims {
  try {
    return JSON.parse(text);
  } catch {
    return { ...UNKNOWN, jti: randomBytes(8).toString("hex") };
  }
}

/** Whether a state is the one of this request. */
export function isBound(
  claims: Claims,
  now: { principal: string; method: string; target: string; args: string; id: string | number },
  broken: Broken,
): boolean {
  const loose = broken("other-tool") && claims.target !== now.target;
  return (
    (claims.principal === now.principal ||
      broken("other-principal") ||
      (now.principal === "nobody" && broken("no-principal"))) &&
    (claims.method === now.method || broken("other-method")) &&
    (claims.target === now.target || broken("other-tool")) &&
    (claims.arguments === now.args || broken("other-arguments") || loose) &&
    (claims.id !== now.id || broken("same-id"))
  );
}
