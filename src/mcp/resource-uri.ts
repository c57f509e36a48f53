/**
 * Resource URIs as policy has to see them. A state is bound to the uri byte for byte and the uri goes up as it was sent; but a
 * server resolves it, and a pattern that was written for one spelling must not be passed by another of the same resource.
 * Source: RFC 3986 sections 5.2.4 and 6.2.2; WHATWG URL for what parsers drop and for the backslash.
 */

/** C0 controls and space at the ends, tab and line ends anywhere: URL parsers drop them before they read. */
const DROPPED = /^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]/g;
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#\\]*)?/i;
const ASCII_ESCAPE = /%([0-7][0-9a-f])/gi;

/**
 * The spelling that most readers take a uri for: what parsers drop is gone, escapes of ASCII are undone, scheme and host are in
 * lower case, a backslash is a slash. For comparing only, never to be sent: two resources may share it.
 */
export function plainUri(uri: string): string {
  return uri
    .replace(DROPPED, "")
    .replace(ASCII_ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll("\\", "/")
    .replace(SCHEME_AND_HOST, (start) => start.toLowerCase());
}

/** Whether the path of a uri holds `.` or `..` as a segment, however it is spelled: resolved, it names another path. */
export function hasDotSegment(uri: string): boolean {
  const [path = ""] = uri.split(/[?#]/, 1);
  return plainUri(path)
    .split("/")
    .some((segment) => segment === "." || segment === "..");
}
