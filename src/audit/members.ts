/** The kinds of value that members of audit records have. */
import * as z from "zod";

/** RFC 3339 with milliseconds, in UTC. */
export const instant = () => z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
/** 128 bits as unpadded base64url. */
export const id = () => z.string().regex(/^[A-Za-z0-9_-]{22}$/);
/** SHA-256 as unpadded base64url. */
export const digest = () => z.string().regex(/^[A-Za-z0-9_-]{43}$/);
/** A word of a vocabulary that grows with versions. */
export const word = () => z.string().regex(/^[A-Za-z][A-Za-z0-9_./-]{0,127}$/);
/** A text that was cut, if it was longer. */
export const text = (max = 257) => z.string().max(max);
/** How sensitive data is, in the operator's words. */
export const sensitivity = () => z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/);

/** What nobody may change of a record any more. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;
