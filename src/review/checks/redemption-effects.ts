/** How often something was carried out, as far as the effect probe tells. Pure. */

/**
 * Whether one change of what a probe says is the same as another: every number moved as far, and all else stayed. A balance that fell by
 * 10 and then by 10 again has seen the same twice.
 * @param before,after,last what the probe said before the first change, between, and after the second
 * @returns how many times the first change the second is; undefined where that cannot be told
 */
export function timesChanged(before: string, after: string, last: string): number | undefined {
  const [first, second] = [changes(before, after), changes(after, last)];
  if (first === undefined || second === undefined || first.every((one) => one === 0)) return undefined;
  const times = new Set<number>();
  for (const [index, change] of first.entries()) {
    const other = second[index] ?? 0;
    if (change === 0 && other !== 0) return undefined;
    if (change !== 0) times.add(other / change);
  }
  const [one] = times;
  return times.size === 1 && one !== undefined && one >= 0 && Number.isSafeInteger(one) ? one : undefined;
}

/** How far each number moved; undefined if anything else changed. */
function changes(from: string, to: string): number[] | undefined {
  const [one, other] = [parts(from), parts(to)];
  if (one.words !== other.words || one.numbers.length !== other.numbers.length) return undefined;
  return one.numbers.map((value, index) => (other.numbers[index] ?? 0) - value);
}

const NUMBER = /-?\d+/g;

function parts(text: string): { readonly words: string; readonly numbers: readonly number[] } {
  return { words: text.replaceAll(NUMBER, "#"), numbers: (text.match(NUMBER) ?? []).map(Number) };
}
