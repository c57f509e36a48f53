/**
 * Resource URIs as policy has to see them. A state is bound to the uri byte for byte and the uri goes up as it was sent; but a
 * server resolves it, and a pattern that was written for one spelling must not be passed by another of the same resource.
 * Every step takes linear time. Source: RFC 3986 sections 5.2.4 and 6.2; WHATWG URL; docs/decisions/0018-spellings-of-uris.md.
 */
import { fold } from "./twins.ts";

/** A uri, read in every way that a server may read it. */
export interface UriReading {
  /** The uri as sent, and what it comes to in other readings: what a deny is held against. */
  readonly texts: readonly string[];
  /** Whether WHATWG parsing changes nothing in it but the escaping of single characters: what an allow asks for. */
  readonly canonical: boolean;
  /** Why no pattern can judge it. */
  readonly unjudgeable: "dot segment" | "unreadable" | undefined;
}

/** Rounds of unescaping after which nothing honest is left to unescape. */
const MAX_ROUNDS = 4;
const ESCAPES = /(?:%[0-9a-f]{2})+/gi;
/** More marks on one character than any script has (UAX 15, stream-safe text): normalising them takes quadratic time. */
const STACKED_MARKS = /[\p{M}\p{DI}\uff9e\uff9f]{31}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f]/;
/** What WHATWG escapes in a path, a query or a fragment; escaped or not, it is the same character. */
const ESCAPED_BY_PARSERS = /[ "'<>^`{|}\u0080-\u{10ffff}]+/gu;
const SCHEME = /^[a-z][a-z0-9+.-]*:/;

/** Whether a text is one that must not be normalised. Linear. */
export function hasStackedMarks(text: string): boolean {
  return STACKED_MARKS.test(text);
}

/** A text with its `%XX` undone once, as UTF-8; bytes that are none become replacement characters. Total, linear. */
export function unescapeOnce(text: string): string {
  return text.replace(ESCAPES, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

/** Reads an untrusted uri or uri template. Total. */
export function readUri(uri: string): UriReading {
  const rounds = unescapeRounds(uri);
  const last = rounds.at(-1) ?? uri;
  const unreadable =
    rounds.length > MAX_ROUNDS || CONTROL.test(uri) || last.includes("\0") || rounds.some(hasStackedMarks);
  if (unreadable) return { texts: [uri], canonical: false, unjudgeable: "unreadable" };
  if (hasDotSegment(plain(last))) return { texts: [uri], canonical: false, unjudgeable: "dot segment" };
  // Most of these come to the same: what is read twice is made plain once.
  const urls = new Map(rounds.map((text) => URL.parse(text)).map((url) => [url?.href, url]));
  const read = new Set([...urls.values()].flatMap((url) => (url === null ? [] : readings(url))));
  const unescaped = new Set([...read].map((text) => unescapeRounds(text).at(-1) ?? text));
  const spelled = [last, ...unescaped].map(plain);
  const texts = new Set([uri, ...spelled, ...spelled.map((text) => text.replace(/\/$/, ""))]);
  return { texts: [...texts], canonical: isCanonical(uri), unjudgeable: undefined };
}

/**
 * A pattern of denied uris in the spellings that `UriReading.texts` are written in. The wildcards stay where they are.
 * @param pattern trusted; a pattern of `glob.ts`
 */
export function readPattern(pattern: string): readonly string[] {
  const rounds = unescapeRounds(pattern).slice(0, MAX_ROUNDS);
  const patterns = new Set([pattern]);
  for (const text of rounds) {
    const { href = text } = URL.parse(text) ?? {};
    for (const one of [text, unescapeRounds(href).at(-1) ?? href]) patterns.add(plain(one));
  }
  for (const one of patterns) {
    if (one.endsWith("/") && !/[*?]/.test(one)) patterns.add(one.slice(0, -1));
  }
  return [...patterns];
}

/** A text and what it comes to, unescaped once, twice, and so on until nothing changes: at most `MAX_ROUNDS` + 1 texts. */
function unescapeRounds(text: string): string[] {
  const rounds = [text];
  let before = text;
  while (rounds.length <= MAX_ROUNDS && before.includes("%")) {
    const after = unescapeOnce(before);
    if (after === before) break;
    rounds.push(after);
    before = after;
  }
  return rounds;
}

/** What different readers look at: all of it; without credentials, fragment and root dot of the host; without query. */
function readings(url: URL): string[] {
  const { protocol, port, pathname, search } = url;
  let host = url.hostname;
  while (host.endsWith(".")) host = host.slice(0, -1);
  // Readers of file uris mostly take the path and nothing else.
  const authority = host === "" || protocol === "file:" ? "" : `//${host}${port === "" ? "" : `:${port}`}`;
  const bare = `${protocol}${authority}${pathname}`;
  return [url.href, `${bare}${search}`, bare];
}

/** One spelling for what differs in case, form of a character, kind or number of slashes, and blanks at the ends. */
function plain(unescaped: string): string {
  return fold(unescaped.normalize("NFKC"))
    .replace(/[\t\n\r]/g, "")
    .replaceAll("\\", "/")
    .replace(/\/{2,}/g, "/")
    .trim();
}

/**
 * Whether a segment is `.` or `..`: resolved, it names another path. Behind `?` and `#` as well, since templates take
 * these for characters of a path. What follows a `;` is a parameter of the segment to some servers.
 */
function hasDotSegment(plainText: string): boolean {
  return plainText
    .replace(SCHEME, "")
    .split(/[/?#]/)
    .some((segment) => /^ *\.\.? *(?:;|$)/.test(segment));
}

function isCanonical(uri: string): boolean {
  const href = URL.parse(uri)?.href;
  if (href === uri) return true;
  // Without a scheme nobody resolves it: it is looked up as it stands, or refused.
  if (href === undefined) return !SCHEME.test(uri.toLowerCase());
  const [sent, read] = [uri, href].map((text) =>
    text.toWellFormed().replace(ESCAPED_BY_PARSERS, (run) => encodeURIComponent(run).replaceAll("'", "%27")),
  );
  // An empty path and the root are one (RFC 3986, 6.2.3).
  return sent === read || `${sent}/` === read;
}
