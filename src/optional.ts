/** Members that are there or not, for types that do not take `undefined` for absence. */

/** `{ [name]: value }` to spread, or nothing where there is no value. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [K in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [K in Name]?: Value };
}
