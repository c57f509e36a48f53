/** Why a text is no JSON for us. Knows no bytes and no policy. */

/** The bounded vocabulary of refusals; also the `detail` of the refusal that the caller throws. */
export type JsonFault =
  | "too_large"
  | "utf8"
  | "bom"
  | "empty"
  | "syntax"
  | "trailing"
  | "depth"
  | "duplicate_key"
  | "lone_surrogate"
  | "kind";

/** Thrown by everything in `json/`. Says where in the input, never what stands there. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly fault: JsonFault;
  /** Byte offset into the input; 0 for faults of the whole text (`too_large`, `utf8`, `bom`, `empty`). */
  readonly offset: number;

  constructor(fault: JsonFault, offset: number) {
    super(`${fault} at byte ${offset}`);
    this.fault = fault;
    this.offset = offset;
  }
}
