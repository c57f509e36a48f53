/** The order of a rotation: add, promote, remove. What one step gets wrong, seen from the rings before and after it. Pure. */

/** A ring by names: labels, or key ids where these are known. */
export interface RingView {
  /** The key that seals. */
  readonly seals: string;
  readonly names: ReadonlySet<string>;
}

/**
 * What replicas and open rounds lose by this step, one sentence each; empty for a step in order.
 * @param replicas as in `server.replicas`: a single process takes up a whole ring at once, so it may add and promote in one
 */
export function rotationFaults(before: RingView, after: RingView, replicas: number): string[] {
  const faults: string[] = [];
  if (!before.names.has(after.seals) && replicas > 1) {
    faults.push(
      "the key that seals now was not in the ring before: a replica that does not have it yet refuses what it seals; add a key everywhere before it becomes primary",
    );
  }
  if (!after.names.has(before.seals)) {
    faults.push(
      "the key that sealed before is not in the ring any more: open rounds that it sealed are refused; remove a key one envelope.ttl after another has taken its place everywhere",
    );
  }
  return faults;
}
