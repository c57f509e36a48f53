/** Entries for people: JSON with readable times. Nothing in an entry is secret; texts are printable. */
import * as z from "zod";
import { type Grant, id, type Revocation, said, selectors } from "./entry.ts";
import type { Shown } from "./overrides.ts";

const MAX_WARNING = 512;

/** RFC 3339, also beyond the year 9999. */
const instant = z.string().regex(/^[-+\d]{10,13}T[\d:.]{12}Z$/);

const presented = z.object({
  id,
  setAt: instant,
  until: instant,
  ...said,
  ...selectors,
  /** Of a revocation, whose target stands beside it; the rest of `selectors` is of grants and denials. */
  bornBefore: instant.exactOptional(),
  chain: id.exactOptional(),
  effect: z.enum(["allow", "deny"]).exactOptional(),
  /** Only in lists. */
  signed: z.boolean().exactOptional(),
  /** What a gateway says of an entry that it was given. */
  warning: z.string().max(MAX_WARNING).exactOptional(),
});

/** An entry as JSON shows it. */
export type Presented = z.output<typeof presented>;

/**
 * Reads an entry that somebody shows, from wherever it comes. Members of gateways to come are left out.
 * @returns undefined unless it is one, with printable texts of the size that entries have
 */
export function parsePresented(value: unknown): Presented | undefined {
  const result = presented.safeParse(value);
  return result.success ? result.data : undefined;
}

const printed = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** An entry with its times in RFC 3339. */
export function present(entry: Revocation | Grant | Shown): Presented {
  const { kind, setAt, until, ...rest } = entry;
  const times = { setAt: printed(setAt), until: printed(until) };
  if (kind === "grant") return { ...(rest as Omit<Grant, "kind" | "setAt" | "until">), ...times };
  const { target, bornBefore, ...others } = rest as Omit<Revocation, "kind" | "setAt" | "until">;
  return { ...others, ...target, bornBefore: printed(bornBefore * 1000), ...times };
}
