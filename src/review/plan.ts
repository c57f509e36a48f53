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
