/**
 * Credentials known by the shape of their value: signed tokens, private keys, and the prefixes that vendors give
 * their tokens so that scanners find them. Every expression starts at a border and is bounded, so that the work is
 * linear in the text.
 */

/** What kind of credential; never the value. */
export type CredentialKind =
  | "jwt"
  | "private_key"
  | "vendor_token"
  | "cloud_key"
  | "authorization"
  | "userinfo";

/** Tokens with three parts, the first a JSON object: JWS and JWE (RFC 7519). */
const JWT = /(?<![\w-])eyJ[\w-]{6,4096}\.[\w-]{2,}\.[\w-]*/;
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?<![A-Z0-9-])AGE-SECRET-KEY-1[0-9A-Z]{20}/;
const CLOUD_KEY =
  /(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])|AIza[\w-]{35}|ya29\.[\w-]{20}|GOCSPX-[\w-]{20}|LTAI[A-Za-z0-9]{16})|(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{30}/;
const VENDOR_TOKENS: readonly string[] = [
  ...["gh[pousr]_[A-Za-z0-9]{30}", "github_pat_[A-Za-z0-9_]{30}", "gl(?:pat|rt|dt|cbt|ptt|soat)-[\\w-]{20}"],
  ...[
    "xox[abeoprs]-[\\w-]{10}",
    "xapp-[\\w-]{10}",
    "(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16}",
    "whsec_[A-Za-z0-9+/]{20}",
  ],
  ...[
    "sk-(?:ant-|proj-|or-|svcacct-)?[\\w-]{20}",
    "SG\\.[\\w-]{16,32}\\.[\\w-]{16}",
    "npm_[A-Za-z0-9]{30}",
    "pypi-[\\w-]{30}",
  ],
  ...[
    "hf_[A-Za-z0-9]{30}",
    "do[opr]_v1_[a-f0-9]{40}",
    "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "dapi[a-f0-9]{32}",
    "lin_api_[A-Za-z0-9]{30}",
  ],
  ...[
    "secret_[A-Za-z0-9]{40}",
    "ntn_[A-Za-z0-9]{40}",
    "sq0[a-z]{3}-[\\w-]{22}",
    "EAAC[A-Za-z0-9]{30}",
    "key-[a-f0-9]{32}(?![a-f0-9])",
  ],
  ...[
    "r8_[A-Za-z0-9]{30}",
    "gsk_[A-Za-z0-9]{30}",
    "pplx-[A-Za-z0-9]{30}",
    "xai-[A-Za-z0-9]{40}",
    "hv[sbr]\\.[\\w-]{20}",
    "nvapi-[\\w-]{30}",
  ],
  ...[
    "glsa_[A-Za-z0-9]{30}",
    "PMAK-[a-f0-9]{20}",
    "figd_[\\w-]{20}",
    "tskey-[a-z]{3,12}-[\\w-]{10}",
    "AQV[A-Za-z0-9_-]{35}",
    "sntry[su]_[\\w=]{30}",
  ],
];
const VENDOR_TOKEN = new RegExp(`(?<![A-Za-z0-9_-])(?:${VENDOR_TOKENS.join("|")})`);
const AUTHORIZATION = /(?<![A-Za-z])(?:bearer|basic|dpop)\s{1,4}[A-Za-z0-9._~+/-]{16}/i;
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
  return SHAPES.flatMap(([kind, shape]) => (shape.test(text) ? [kind] : []));
}

/** What a token goes on with behind what its shape needs. */
const REST = /[A-Za-z0-9_+/=.~-]*/y;
/** A line of an encoded key. */
const ENCODED = /[A-Za-z0-9+/=]{20,}/g;
const PLACES = SHAPES.map(([kind, shape]) => [kind, new RegExp(shape.source, `${shape.flags}g`)] as const);

/**
 * Where credentials stand in the untrusted `text`: offsets from and to, in order, and apart from each other. Of a user and a password before
 * a host these two; of a private key its borders and what looks encoded, since anything else may stand between them.
 */
export function credentialPlaces(text: string): (readonly [number, number])[] {
  const found = PLACES.flatMap(([kind, shape]) => {
    const hits = Array.from(text.matchAll(shape), (hit): [number, number] => [
      hit.index,
      hit.index + hit[0].length,
    ]);
    if (hits.length === 0) return [];
    if (kind === "userinfo") return hits.map(([from, to]): [number, number] => [from + 3, to - 1]);
    const encoded = kind === "private_key" ? Array.from(text.matchAll(ENCODED)) : [];
    return [
      ...hits.map(([from, to]): [number, number] => [from, endOfToken(text, to)]),
      ...encoded.map((hit): [number, number] => [hit.index, hit.index + hit[0].length]),
    ];
  });
  const places: [number, number][] = [];
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    const last = places.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else places.push([from, to]);
  }
  return places;
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
