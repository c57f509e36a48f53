/** The address of a url question. Source: MCP 2026-07-28, elicitation in url mode, and its security best practices. */

/** Why an address may not be shown to a user. */
export type UrlFault = "url" | "url_scheme" | "url_userinfo";

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const LOOPBACK_V4 = /^127\.[0-9]+\.[0-9]+\.[0-9]+$/;

/**
 * Judges an untrusted address: absolute, https, or http on a loopback host; without credentials. Gives a fault, or undefined.
 * Judged as written, before a parser repairs it: what one reader repairs, another reads differently.
 */
export function questionUrlFault(text: string): UrlFault | undefined {
  // White space, control characters and backslashes are dropped or turned by browsers.
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(text)) return "url";
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return "url";
  if (scheme !== "https" && scheme !== "http") return "url_scheme";
  const rest = text.slice(scheme.length + 1);
  if (!rest.startsWith("//") || rest.startsWith("///")) return "url";
  const authority = rest.slice(2).split(/[/?#]/, 1)[0] ?? "";
  if (authority.includes("@")) return "url_userinfo";
  const url = URL.parse(text);
  if (url === null || url.hostname === "") return "url";
  return scheme === "http" && !isLoopback(url.hostname) ? "url_scheme" : undefined;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || LOOPBACK_V4.test(host);
}
