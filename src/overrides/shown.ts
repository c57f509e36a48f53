/** Entries for people: JSON with readable times. Nothing in an entry is secret; texts are printable. */
import type { Grant, Revocation } from "./entry.ts";
import type { Shown } from "./overrides.ts";

/** An entry as JSON shows it. */
export interface Presented {
  readonly id: string;
  readonly [member: string]: unknown;
}

const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** An entry with its times in RFC 3339. */
export function present(entry: Revocation | Grant | Shown): Presented {
  const { kind, setAt, until, ...rest } = entry;
  const times = { setAt: instant(setAt), until: instant(until) };
  if (kind === "grant") return { ...(rest as Omit<Grant, "kind" | "setAt" | "until">), ...times };
  const { target, bornBefore, ...others } = rest as Omit<Revocation, "kind" | "setAt" | "until">;
  return { ...others, ...target, bornBefore: instant(bornBefore * 1000), ...times };
}
