/** Values out of JSON.parse, where `constructor` and `__proto__` are names like any other. */

/** A parsed JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether a parsed value is an object and no array. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member; undefined when the object has none of that name, whatever its prototype has. */
export function own(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
