/**
 * How a scanned text is remembered: one Int32Array, nodes in source order, no object per node.
 *
 * A scalar or a key takes two cells, a container three:
 *   cell 0  start offset << 5 | flags | kind
 *   cell 1  end offset (half open)
 *   cell 2  containers only: tape index of what follows the whole subtree
 * The children of a container start right behind it; in an object every value follows its key.
 */

/** A place on the tape of one document. Handles of different documents must not be mixed. */
export type Node = number & { readonly __node: true };

export type Kind = "object" | "array" | "string" | "number" | "true" | "false" | "null";

export const OBJECT = 0;
export const ARRAY = 1;
export const STRING = 2;
export const NUMBER = 3;
export const TRUE = 4;
export const FALSE = 5;
export const NULL = 6;

/** Kind code → name. */
export const KINDS: readonly Kind[] = ["object", "array", "string", "number", "true", "false", "null"];

export const KIND_MASK = 7;
/** On a string: it holds a backslash. On an object: one of its own keys does. */
export const ESCAPED = 8;
/** An unpaired surrogate stands in this string, or somewhere below this container. */
export const LONE = 16;
export const START_SHIFT = 5;

export const SCALAR_CELLS = 2;
export const CONTAINER_CELLS = 3;

/** The start offset shares its cell with five bits; a longer text cannot be addressed. */
export const MAX_BYTES = 2 ** (32 - START_SHIFT) - 1;

/** Kind code of the node at tape index `n`. */
export function kindAt(tape: Int32Array, n: number): number {
  return (tape[n] as number) & KIND_MASK;
}

/** Offset of the first byte of the node. */
export function startAt(tape: Int32Array, n: number): number {
  return (tape[n] as number) >>> START_SHIFT;
}

/** Offset behind the last byte of the node. */
export function endAt(tape: Int32Array, n: number): number {
  return tape[n + 1] as number;
}

/** Tape index behind the node and all that it holds: its next sibling, if it has one. */
export function behind(tape: Int32Array, n: number): number {
  return kindAt(tape, n) <= ARRAY ? (tape[n + 2] as number) : n + SCALAR_CELLS;
}
