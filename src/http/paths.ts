/** Paths of requests: as they were sent, as others may read them, and as the log shows those that are not served. Pure. */

/** Segments that a wrong path may show in the log besides those of the routes; any other may be a secret. */
const WELL_KNOWN_SEGMENTS = [
  ...["", ".well-known", "oauth-protected-resource", "oauth-authorization-server", "openid-configuration"],
  ...["authorize", "register", "token", "mcp", "sse", "message", "messages"],
];
const MAX_SEGMENTS = 8;

/** The path of a request target, in origin or absolute form. */
export const pathOf = (target: string): string =>
  target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");

/** The path as most readers take it; itself where it cannot be decoded. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * A path that is not served, as the log shows it: enough to see what a client is pointed at.
 * @param served the paths of routes, whose segments are no secrets
 */
export function shapeOf(target: string, served: Iterable<string>): string {
  const known = new Set([...WELL_KNOWN_SEGMENTS, ...[...served].flatMap((path) => path.split("/"))]);
  const segments = pathOf(target).split("/").slice(0, MAX_SEGMENTS);
  return segments.map((segment) => (known.has(segment) ? segment : "*")).join("/");
}
