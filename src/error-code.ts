/**
 * What the system, TLS or the HTTP client calls a failure: `ENOENT`, `ECONNREFUSED`, `UND_ERR_HEADERS_TIMEOUT`. Undefined where it has
 * no such name. Pure; the text is from a fixed set and holds nothing of what failed.
 */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
