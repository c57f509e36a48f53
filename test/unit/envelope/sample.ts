import { createHash } from "node:crypto";
import type { Asked, Claims } from "../../../src/envelope/format.ts";

/** 43 characters that pass for a digest. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** A valid claim set with these members changed; `state` is absent unless given. */
export function claimsWith(changes: Partial<Claims> = {}): Claims {
  return {
    jti: "AAAAAAAAAAAAAAAAAAAAAA",
    iat: 1000,
    exp: 1600,
    round: 1,
    chain: "AAAAAAAAAAAAAAAAAAAAAA",
    chainIat: 1000,
    route: "/mcp",
    upstream: "http://127.0.0.1:9000/mcp",
    version: "2026-07-28",
    principal: digestOf("principal"),
    method: "tools/call",
    target: "transfer",
    params: digestOf("params"),
    requestId: digestOf("id"),
    asked: [{ key: "confirm", kind: "url" }] satisfies Asked[],
    epoch: "e1",
    ...changes,
  };
}
