/** "Did you mean": the known name that is nearest to a mistyped one. */

const MAX_NAME_LENGTH = 64;

/** Optimal string alignment distance: insert, remove, replace, swap of neighbours. Inputs are short names. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

function plain(name: string): string {
  return name.replaceAll(/[-_\s]/g, "").toLowerCase();
}

/**
 * The entry of `known` that `name` was most likely meant to be, or `undefined` when none is near. Spelling with
 * other case, `_` or `-` counts as equal (`public_url` → `publicUrl`). Never throws.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const wanted = plain(name);
  const ranked = known
    .map((candidate) => ({ candidate, cost: distance(wanted, plain(candidate)) }))
    .sort((a, b) => a.cost - b.cost);
  const best = ranked[0];
  if (best === undefined) return undefined;
  const allowed = Math.max(1, Math.floor(Math.min(wanted.length, best.candidate.length) / 3));
  return best.cost <= allowed ? best.candidate : undefined;
}
