/**
 * The kinds of value a setting can hold. Each knows what it allows, in words: that text is the second half of
 * every message about it. No field ever quotes the value it refuses; whether a value may be shown is decided in
 * one place (`problems.ts`).
 */
import * as z from "zod";
import { isHostAuthority, isNetwork, type Listen, parseListen, parseUrl } from "./addresses.ts";
import {
  DURATION_PATTERN,
  INSTANT_PATTERN,
  parseDuration,
  parseInstant,
  parseSize,
  printDuration,
  printSize,
  SIZE_PATTERN,
} from "./units.ts";

/** Refuses a text: what is wrong with it, and what would be right if that is not the field's usual text. */
type Refuse = (wrong: string, allowed?: string) => never;

type Meta = Readonly<Record<string, unknown>>;

/** A string that `read` turns into `T`, or refuses. `allowed` says in words what is right. */
export function field<T>(allowed: string, read: (text: string, refuse: Refuse) => T, meta: Meta = {}) {
  return z
    .string({ error: allowed })
    .meta({ ...meta })
    .transform((text, context): T => {
      const refuse: Refuse = (message, instead = allowed) => {
        context.addIssue({ code: "custom", message, params: { allowed: instead } });
        return z.NEVER;
      };
      return read(text, refuse);
    });
}

function matching(allowed: string, pattern: string, wrong = "is malformed") {
  const expression = new RegExp(pattern);
  return field(allowed, (text, refuse) => (expression.test(text) ? text : refuse(wrong)), { pattern });
}

/** A duration in milliseconds, between two bounds given in milliseconds. */
export function duration(min: number, max: number) {
  const allowed = `a duration with its unit (500ms, 10s, 5m, 1h) from ${printDuration(min)} to ${printDuration(max)}`;
  return field(
    allowed,
    (text, refuse) => {
      const ms = parseDuration(text);
      if (ms === undefined) return refuse("is not a duration");
      return ms < min || ms > max ? refuse("is out of range") : ms;
    },
    { pattern: DURATION_PATTERN },
  );
}

/** A size in bytes, between two bounds given in bytes. */
export function size(min: number, max: number) {
  const allowed = `a size with its unit (512B, 16KiB, 4MiB) from ${printSize(min)} to ${printSize(max)}`;
  return field(
    allowed,
    (text, refuse) => {
      const bytes = parseSize(text);
      if (bytes === undefined) return refuse("is not a size");
      return bytes < min || bytes > max ? refuse("is out of range") : bytes;
    },
    { pattern: SIZE_PATTERN },
  );
}

/** A moment, in unix seconds. */
export function instant() {
  return field(
    "a time with its zone, such as 2026-12-01T09:00:00Z",
    (given, refuse) => parseInstant(given) ?? refuse("is not a time"),
    { pattern: INSTANT_PATTERN },
  );
}

/** A whole number between two bounds. */
export function whole(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** `true` or `false`. */
export function flag() {
  return z.boolean({ error: "true or false" });
}

/** A list with at least one entry. */
export function some<T extends z.ZodType>(entry: T) {
  return z.array(entry, { error: "a list with one entry or more" }).min(1);
}

/** A list that may be empty. */
export function list<T extends z.ZodType>(entry: T) {
  return z.array(entry, { error: "a list" });
}

type One<S extends Record<string, z.ZodType>> = { [K in keyof S]: { [P in K]: z.output<S[K]> } }[keyof S];

/** An object that holds exactly one of the members of `shape`. */
export function oneOf<S extends Record<string, z.ZodType>>(shape: S, allowed: string) {
  const names = Object.keys(shape);
  const members = Object.fromEntries(names.map((name) => [name, z.exactOptional(shape[name] ?? z.never())]));
  return z
    .strictObject(members, { error: allowed })
    .meta({ oneOf: names.map((name) => ({ required: [name] })) })
    .transform((value, context): One<S> => {
      const given = Object.keys(value);
      if (given.length !== 1) {
        const message =
          given.length === 0
            ? `holds neither ${names.join(" nor ")}`
            : `holds ${given.join(" and ")} at once`;
        context.addIssue({ code: "custom", message, params: { allowed } });
        return z.NEVER;
      }
      return value as One<S>;
    });
}

const PATH_TEXT = "the path of a file, relative to the folder of this file or absolute";
const PATH_PATTERN = "^[^\\u0000-\\u001f\\u007f]{1,4096}$";
const filePath = matching(PATH_TEXT, PATH_PATTERN);

/** A text of printable characters, at most `max` long. */
export function text(what: string, max = 512) {
  return matching(`${what}, 1 to ${max} printable characters`, `^[^\\u0000-\\u001f\\u007f]{1,${max}}$`);
}

/** The name a server's certificate must carry. */
export function serverName() {
  return text("a host name for TLS", 253);
}

/** `{ file: PATH }`: a file that holds no secret. The path is as written. */
export function fileRef() {
  return z.strictObject({ file: filePath }, { error: "{ file: PATH }" });
}

/** `{ file: PATH }` or `{ env: NAME }`; the secret itself is refused and never printed. */
export function secretRef() {
  const env = matching("the name of an environment variable", "^[A-Za-z_][A-Za-z0-9_]{0,127}$");
  return oneOf(
    { file: filePath, env },
    "{ file: PATH } or { env: NAME }; the secret itself never stands in this file",
  );
}

/** A place on disk. */
export function path() {
  return filePath;
}

/** A folder on disk. */
export function folder() {
  return matching(PATH_TEXT.replace("a file", "a folder"), PATH_PATTERN);
}

/** `host:port` or `[::1]:port`. */
export function listen() {
  return field<Listen>(
    "host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080",
    (given, refuse) => parseListen(given) ?? refuse("is not an address to listen on"),
  );
}

/** Scheme, host and port only, written as browsers print it. */
export function origin() {
  return field<string>(
    "an origin such as https://mcp.example.com: scheme, host, port if unusual",
    (given, refuse) => {
      const url = parseUrl(given);
      if (url === undefined || !/^https?:$/.test(url.protocol)) return refuse("is not an origin");
      if (url.username !== "" || url.password !== "") return refuse("must not hold credentials");
      return url.origin === given ? given : refuse("is not a bare origin", url.origin);
    },
  );
}

/** An absolute http or https URL without credentials or fragment. */
export function httpUrl(options: { readonly query: boolean }) {
  const allowed = `an http:// or https:// URL without credentials${options.query ? "" : ", query"} or fragment`;
  return field<string>(allowed, (given, refuse) => {
    const url = parseUrl(given);
    if (url === undefined || !/^https?:\/\//i.test(given)) return refuse("is not an http or https URL");
    if (url.username !== "" || url.password !== "") {
      return refuse("must not hold credentials");
    }
    if (given.includes("#")) return refuse("must not hold a fragment");
    if (!options.query && given.includes("?")) return refuse("must not hold a query");
    return given;
  });
}

/** `redis://host:port/db` or `rediss://…` without credentials. */
export function redisUrl() {
  const allowed =
    "redis://host:port/db or rediss://host:port/db; user and password have settings of their own";
  return field<string>(allowed, (given, refuse) => {
    const url = parseUrl(given);
    if (url === undefined || !/^rediss?:\/\//.test(given)) return refuse("is not a Redis URL");
    if (given.includes("@")) return refuse("must not hold credentials");
    if (given.includes("?") || given.includes("#")) return refuse("must not hold a query or fragment");
    return /^\/?([0-9]{1,5})?$/.test(url.pathname) ? given : refuse("names no database number");
  });
}

/** A path of segments of unreserved characters (RFC 3986 section 2.3); matched exactly, so nothing in it may mean something else to a router. */
export function routePath() {
  const allowed =
    "a path such as /mcp or /team/mcp: letters, digits, - . _ ~, no slash at the end; or / alone";
  return field<string>(allowed, (given, refuse) => {
    if (given === "/") return given;
    if (!given.startsWith("/")) return refuse("must start with /");
    if (given.endsWith("/")) return refuse("must not end with /");
    if (given.length > 256) return refuse("is longer than 256 characters");
    if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(given)) return refuse("is not a path the gateway serves exactly");
    if (given.split("/").some((part) => part === "." || part === "..")) return refuse("holds a dot segment");
    return /^\/\.well-known(\/|$)/i.test(given)
      ? refuse("is reserved for metadata", "a path outside /.well-known")
      : given;
  });
}

/** What a `Host` header may say. */
export function hostAuthority() {
  return field<string>("a host or host:port in lower case, without scheme", (given, refuse) =>
    isHostAuthority(given) ? given : refuse("is not a host"),
  );
}

/** A pattern of a host, with a port where it is not the usual one. No scheme, no path: they would never match. */
export function addressHost() {
  return field<string>(
    "a pattern of host or host:port, such as connect.example, *.example.com or localhost:*",
    (given, refuse) => {
      if (given.length > 256 || !/^(\[[0-9a-f:*?]+\]|[\p{L}\p{M}\p{N}.*?_-]+)(:[0-9*?]{1,5})?$/iu.test(given))
        return refuse("is not a host");
      return given.endsWith(".") ? refuse("ends with a dot") : given;
    },
  );
}

/** An address or a CIDR network. */
export function network() {
  return field<string>("an IP address or a network such as 10.0.0.0/8", (given, refuse) =>
    isNetwork(given) ? given : refuse("is not an address or network"),
  );
}

/** A pattern: `*` any run of characters, `?` one character, all else itself. */
export function glob() {
  return text("a pattern (* any run of characters, ? one character)");
}

/** A short name that people read in logs. */
export function label() {
  return matching("a name of 1 to 64 letters, digits, - . _", "^[A-Za-z0-9._-]{1,64}$");
}

/** How sensitive data is, in an operator's own words. */
export function sensitivity() {
  return matching("a label of 1 to 32 lower-case letters, digits and -", "^[a-z0-9][a-z0-9-]{0,31}$");
}

/** One OAuth scope token (RFC 6749 section 3.3). */
export function scopeToken() {
  return matching("one scope: printable ASCII without blank, quote or backslash", "^[!#-\\[\\]-~]{1,256}$");
}

// Framing, routing and protocol headers belong to the gateway; a credential in one of them would break a message or forge a mirror.
const OWN_HEADERS =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|accept|accept-.*|mcp-.*|proxy-.*|forwarded|x-forwarded-.*|via|origin|last-event-id|traceparent|tracestate)$/i;

/** The name of a header that carries a credential to the upstream. */
export function credentialHeader() {
  return field<string>(
    "a header name that the gateway does not set itself, such as x-api-key",
    (given, refuse) => {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(given)) return refuse("is not a header name");
      return OWN_HEADERS.test(given) ? refuse("is a header the gateway sets itself") : given.toLowerCase();
    },
  );
}
