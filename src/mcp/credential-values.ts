/**
 * Credentials known by the shape of their value: signed tokens, private keys, and the prefixes that vendors give
 * their tokens so that scanners find them. Every expression starts at a border and is bounded, so that the work is
 * linear in the text.
 */

import { VENDOR_TOKEN } from "./vendor-tokens.ts";

/** What kind of credential; never the value. */
export type CredentialKind =
  | "jwt"
  | "private_key"
  | "vendor_token"
  | "cloud_key"
  | "authorization"
  | "userinfo";

/** Tokens of several parts, the first a JSON object: JWS, and JWE whose key may be nothing (RFC 7519, RFC 7516). */
const JWT = /(?<![\w-])eyJ[\w-]{6,4096}\.(?:[\w-]{2,}\.[\w-]*|\.[\w-]{2,}\.)/;
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY|PuTTY-User-Key-File-[0-9]|(?<![A-Z0-9-])AGE-SECRET-KEY-1[0-9A-Z]{20}/;
/** The private part of a key that is an object (RFC 7518, 6); what is beside it tells that it is one. */
const PRIVATE_MEMBER = /"(?:d|k)"\s{0,8}:\s{0,8}"[\w-]{32}/;
const CLOUD_KEY =
  /(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])|AIza[\w-]{35}|ya29\.[\w-]{20}|GOCSPX-[\w-]{20}|1\/\/0[\w-]{40}|LTAI[A-Za-z0-9]{16}|AKID[A-Za-z0-9]{32}|ABSK[A-Za-z0-9+/=]{60}|[A-Za-z0-9]{3}[0-9]Q~[A-Za-z0-9_~.-]{31})|(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{30}|[?&]sig=[A-Za-z0-9%+/]{40}/;
/** What opens a request: the header of it, or the value alone. Behind `basic` come words, too, in small letters. */
const AUTHORIZATION =
  /(?<![A-Za-z])(?:(?:[Bb][Ee][Aa][Rr][Ee][Rr]|[Dd][Pp][Oo][Pp])\s{1,4}[A-Za-z0-9._~+/-]{16}|[Bb][Aa][Ss][Ii][Cc]\s{1,4}(?=[a-z+/]{0,64}[A-Z0-9=])[A-Za-z0-9+/]{16}|[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?[A-Za-z]{3,10}\s{1,4}[A-Za-z0-9._~+/-]{16}|SSWS\s{1,4}[\w-]{20}|(?:[Ss]et-)?[Cc]ookie["']?\s{0,4}[:=]\s{0,4}["']?[^\s=;"']{1,64}=[^\s;"']{16})/;
/** User and password before a host. */
const USERINFO = /:\/\/[^\s/?#@:"'<>]{0,64}:[^\s/?#@"'<>]{1,128}@/;

const SHAPES: readonly (readonly [CredentialKind, RegExp])[] = [
  ["jwt", JWT],
  ["private_key", PRIVATE_KEY],
  ["cloud_key", CLOUD_KEY],
  ["vendor_token", VENDOR_TOKEN],
  ["authorization", AUTHORIZATION],
  ["userinfo", USERINFO],
];

/** The kinds of credentials that stand somewhere in the untrusted `text`. */
export function credentialsIn(text: string): CredentialKind[] {
  const kinds = SHAPES.flatMap(([kind, shape]) => (shape.test(text) ? [kind] : []));
  if (isKeyObject(text) && !kinds.includes("private_key")) kinds.push("private_key");
  return kinds;
}

function isKeyObject(text: string): boolean {
  return text.includes('"kty"') && PRIVATE_MEMBER.test(text);
}

/** What a token goes on with behind what its shape needs. */
const REST = /[A-Za-z0-9_+/=.~-]*/y;
/** A line of an encoded key. */
const ENCODED = /[A-Za-z0-9+/=_-]{20,}/g;
const PLACES = SHAPES.map(([kind, shape]) => [kind, new RegExp(shape.source, `${shape.flags}g`)] as const);

/**
 * Where credentials stand in the untrusted `text`: offsets from and to, in order, and apart from each other. Of a user and a password before
 * a host these two; of a private key its borders and what looks encoded, since anything else may stand between them.
 */
export function credentialPlaces(text: string): (readonly [number, number])[] {
  const found = PLACES.flatMap(([kind, shape]) => {
    const hits = Array.from(text.matchAll(shape), whole);
    if (hits.length === 0) return [];
    if (kind === "userinfo") return hits.map(([from, to]): [number, number] => [from + 3, to - 1]);
    const encoded = kind === "private_key" ? Array.from(text.matchAll(ENCODED)) : [];
    return [
      ...hits.map(([from, to]): [number, number] => [from, endOfToken(text, to)]),
      ...encoded.map(whole),
    ];
  });
  if (isKeyObject(text)) found.push(...Array.from(text.matchAll(ENCODED), whole));
  const places: [number, number][] = [];
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    const last = places.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else places.push([from, to]);
  }
  return places;
}

function whole(hit: RegExpExecArray): [number, number] {
  return [hit.index, hit.index + hit[0].length];
}

function endOfToken(text: string, from: number): number {
  REST.lastIndex = from;
  return from + (REST.exec(text)?.[0].length ?? 0);
}

/**
 * Whether a whole value looks drawn at random and long enough to be a key: 40 characters or more of one alphabet, in
 * which letters and digits mix. Words joined by hyphens, numbers and short ids do not.
 */
export function isRandom(value: string): boolean {
  if (value.length < 40 || value.length > 4096 || !/^[A-Za-z0-9_+/=.~-]+$/.test(value)) return false;
  const parts = value.split(/[-_.]/);
  // Words and identifiers of several short parts, such as a UUID.
  if (!parts.some((part) => part.length >= 24)) return false;
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && bits >= 3.5;
}
