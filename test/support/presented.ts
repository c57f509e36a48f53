import type { Presented } from "../../src/principal/principal.ts";

/** A POST from this machine with headers. */
export function presented(
  headers: Readonly<Record<string, string>> = {},
  more: Partial<Presented> = {},
): Presented {
  return {
    headers: new Map(Object.entries(headers)),
    method: "POST",
    peer: { address: "127.0.0.1" },
    ...more,
  };
}

/** The same with an `Authorization` header, if there is one. */
export const authorized = (authorization: string | undefined): Presented =>
  presented(authorization === undefined ? {} : { authorization });
