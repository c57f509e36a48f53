/**
 * Credentials and personal data in a server's own state. Sealed, they are safe from others; but the client that
 * brings it back is not meant to carry them, and a copy of every question would. Source: MCP 2026-07-28, multi
 * round-trip requests, security.
 */
import type { Finding } from "../rules/finding.ts";
import { sensitiveIn } from "./sensitive.ts";

/** A state that is one signed or encrypted token is how a server protects it; what a signed one says is looked at all the same. */
const WHOLE_TOKEN = /^eyJ[\w-]+(?:\.[\w-]+\.[\w-]*|(?:\.[\w-]*){4})$/;
const NONE: readonly Finding[] = [];

/**
 * What the untrusted state holds, said by kind and by size (`credential_jwt_to_1k`), never by value. What of it was not looked into
 * counts as found, unread.
 */
export function stateFindings(state: string): readonly Finding[] {
  const found = sensitiveIn(state);
  const unread = found.isWhole ? [] : ["unread"];
  const credentials = new Set<string>([...found.credentials, ...unread]);
  const personal = new Set<string>([...found.personal, ...unread]);
  if (WHOLE_TOKEN.test(state)) credentials.delete("jwt");
  if (credentials.size === 0 && personal.size === 0) return NONE;
  const size = sizeOf(state);
  return [
    ...Array.from(
      credentials,
      (kind) => ({ rule: "mrtr/state-credentials", detail: `credential_${kind}_${size}` }) as const,
    ),
    ...Array.from(
      personal,
      (kind) => ({ rule: "mrtr/state-personal-data", detail: `personal_${kind}_${size}` }) as const,
    ),
  ];
}

/** A size as one of a few words. */
function sizeOf(state: string): string {
  const bytes = Buffer.byteLength(state);
  for (const [most, word] of [
    [256, "to_256"],
    [1024, "to_1k"],
    [4096, "to_4k"],
    [16_384, "to_16k"],
  ] as const)
    if (bytes <= most) return word;
  return "over_16k";
}
