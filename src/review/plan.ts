/** The plan of a review: who calls what, how questions are answered, and what may be done. A YAML file, or made by discovery. */
import type { Json } from "../mcp/parsed.ts";

/** How one question is answered where the schema alone does not tell. */
export interface PlannedAnswer {
  /** Of a form. */
  readonly content?: Json;
  /** Of sampling or roots: the result as it is sent. */
  readonly result?: Json;
}

/** One call that asks for input. */
export interface PlannedCall {
  /** Its name in reports; each once. */
  readonly name: string;
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  readonly target: string;
  readonly arguments: Json;
  /** By key of the question, or `*`. */
  readonly answers: Readonly<Record<string, PlannedAnswer>>;
  /** Other arguments of the same target that may be called as well, for checks of what a state is bound to. */
  readonly otherArguments: Json | undefined;
  /** Another target of the same method that may be called. */
  readonly otherTarget: { readonly target: string; readonly arguments: Json } | undefined;
  /** Whether the reviewer may accept, and so carry the call out. */
  readonly complete: boolean;
  /** After how many rounds, and how many refused retries, the server says it gives up. */
  readonly maxRounds: number | undefined;
  readonly retryLimit: number | undefined;
  /** How long a state is good for, in milliseconds, if the owner says it. */
  readonly expiryMs: number | undefined;
  /** For the record, in the owner's words. */
  readonly consentSurface: string | undefined;
  readonly dataSensitivity: string | undefined;
  readonly sideEffects: string | undefined;
}

/** The read-only call that effects are looked for with. */
export interface PlannedProbe {
  readonly method: PlannedCall["method"];
  readonly target: string;
  readonly arguments: Json;
}

/** What a review may take. */
export interface PlannedLimits {
  /** In all. */
  readonly requests: number;
  readonly perSecond: number;
  /** For one answer. */
  readonly timeoutMs: number;
  /** The longest single wait for an expiry; 0 is none. */
  readonly waitMs: number;
}

/** A whole plan. Secret where it holds tokens; those are never shown. */
export interface Plan {
  /** Where it comes from. */
  readonly source: "file" | "discovery";
  readonly endpoint: string;
  /** PEM of the authority of the server's certificate. */
  readonly ca: string | undefined;
  /** Bearer tokens. */
  readonly tokens: { readonly first: string | undefined; readonly second: string | undefined };
  /** Whether somebody else can be tried: a second token that is not the first one. */
  readonly hasSecond: boolean;
  readonly calls: readonly PlannedCall[];
  readonly probe: PlannedProbe | undefined;
  readonly limits: PlannedLimits;
}
