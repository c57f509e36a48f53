/**
 * What operators set at run time: revocations, grants and denials, and the removals of them. Their shape, their bounds, and
 * their one JSON text. Pure. An entry is never changed once it is set; it can only be removed, or expire.
 */
import * as z from "zod";

/** Entries at once, removals included that have to be remembered. */
export const MAX_ENTRIES = 10_000;
/** The JSON text of one entry, in bytes. */
export const MAX_ENTRY_BYTES = 4_096;
/** Kinds of question, as in `capability.allow`. */
export const CAPABILITIES = ["elicitation.form", "elicitation.url", "sampling", "roots"] as const;

const printable = (max: number) =>
  z.string().regex(new RegExp(`^[^\\p{Cc}\\p{Cs}\\u2028\\u2029]{1,${max}}$`, "u"));
/** The shape of an id: 16 bytes in base64url. */
export const id = z.string().regex(/^[A-Za-z0-9_-]{21}[AQgw]$/);
const milliseconds = z.int().min(0).max(8_640_000_000_000_000);
const text = printable(512);

const principal = z.strictObject({
  issuer: text,
  subject: text,
  client: text.exactOptional(),
  tenant: text.exactOptional(),
});

const target = {
  /** The id of a chain of rounds: `chain` in audit records. */
  chain: id,
  principal,
  /** The path of a route. */
  route: z.string().regex(/^\/[^\p{Cc}\s]{0,511}$/u),
};

/** The shape of what a revocation hits. */
export const revocationTarget = z.union([
  z.strictObject({ chain: target.chain }),
  z.strictObject({ principal: target.principal }),
  z.strictObject({ route: target.route }),
]);

/** The shapes of what a grant or a denial is about. */
export const selectors = {
  principal: principal.exactOptional(),
  group: text.exactOptional(),
  route: target.route.exactOptional(),
  /** A pattern of tool names. */
  tool: printable(256).exactOptional(),
  /** The kinds of question; all of them where it is absent, which only a denial may do. */
  capability: z.array(z.enum(CAPABILITIES)).min(1).max(CAPABILITIES.length).readonly().exactOptional(),
};

/** The shapes of what is said beside. */
export const said = {
  /** Who set it, in the words of whoever did. Nothing is decided by it. */
  by: printable(64),
  reason: printable(256).exactOptional(),
};

const set = { id, setAt: milliseconds, until: milliseconds, ...said };

const bornBefore = z.int().min(0).max(253_402_300_799);

const revocation = z.strictObject({
  kind: z.literal("revocation"),
  ...set,
  target: revocationTarget,
  /** Unix seconds. Chains that were born before this second are hit. */
  bornBefore,
});

const grant = z.strictObject({
  kind: z.literal("grant"),
  ...set,
  effect: z.enum(["allow", "deny"]),
  ...selectors,
});

const removal = z.strictObject({
  kind: z.literal("removal"),
  ...set,
  /** Of a revocation that was taken back: chains were born at its `bornBefore`, and the next one has to hit them. */
  revoked: z.strictObject({ target: revocationTarget, bornBefore }).exactOptional(),
});

const entry = z.discriminatedUnion("kind", [revocation, grant, removal]);

/** Whose states or questions an entry is about. `client` and `tenant` only where they are to count. */
export type PrincipalSelector = z.output<typeof principal>;
/** What a revocation hits: one chain, one principal, or one route. */
export type RevocationTarget = z.output<typeof revocationTarget>;
/** Makes the states of chains useless that were born before it. Times in milliseconds but for `bornBefore`. */
export type Revocation = z.output<typeof revocation>;
/** Lets questions be asked that policy does not allow, or forbids them; all selectors that are there have to fit. */
export type Grant = z.output<typeof grant>;
/** Says that the entry with its id does not hold any more; kept until that would have expired, so that no copy comes back. */
export type Removal = z.output<typeof removal>;
/** Anything that can stand in the table. */
export type Entry = z.output<typeof entry>;

/** The JSON text of an entry. */
export const printEntry = (value: Entry): string => JSON.stringify(value);

/**
 * Reads the JSON text of an entry, from wherever it comes; undefined unless it is one, of the size and with the members that
 * are allowed.
 */
export function parseEntry(json: string): Entry | undefined {
  if (Buffer.byteLength(json) > MAX_ENTRY_BYTES) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const result = entry.safeParse(value);
  return result.success ? result.data : undefined;
}
