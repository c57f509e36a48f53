/**
 * Writes the envelope vectors: `node test/vectors/generate.ts`. Imports nothing from src, so
 * that the vectors test the product and not themselves. The same run gives the same files.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { deriveKey, sealBytes, sha256 } from "./reference.ts";

/** One case. `steps` are the values on the way, in hexadecimal, for whoever debugs an implementation. */
export interface Vector {
  readonly name: string;
  readonly about: string;
  /** The reader's ring; secrets in hexadecimal. */
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  readonly audience: string;
  readonly maxTokenBytes: number;
  readonly token: string;
  /** `opens`, or the fault. */
  readonly outcome: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Which key sealed with which nonce, where sealing again must give the same token. */
  readonly sealedWith?: { readonly id: string; readonly nonce: string };
  readonly steps?: Readonly<Record<string, string>>;
}

const AUDIENCE = "https://gateway.example";
const CAP = 16_384;
const secretOf = (name: string) => sha256(`secret ${name}`).toString("hex");
const idOf = (name: string) => sha256(`id ${name}`).subarray(0, 16).toString("base64url");
const digestOf = (name: string) => sha256(`digest ${name}`).toString("base64url");
// Two secrets, found by search, whose keys share one key id.
const TWIN_1 = "32f".padStart(64, "0");
const TWIN_2 = "14c08".padStart(64, "0");
const KEYS = [
  { id: "2026-11", secret: secretOf("2026-11") },
  { id: "2026-10", secret: secretOf("2026-10") },
];

const BASE = {
  jti: idOf("round 1"),
  iat: 1_798_000_000,
  exp: 1_798_000_600,
  round: 1,
  chain: idOf("round 1"),
  chainIat: 1_798_000_000,
  route: "/mcp",
  upstream: "http://127.0.0.1:9000/mcp",
  version: "2026-07-28",
  principal: digestOf("principal"),
  method: "tools/call",
  target: "transfer",
  params: digestOf("params"),
  requestId: digestOf("request id"),
  asked: [{ key: "confirm", kind: "url" }] as readonly Record<string, string>[],
  epoch: "5b8wq0nT1Vw",
  state: "step=1;to=acct-9;amount=50",
};
const { state: _, ...WITHOUT_STATE } = BASE;
const FORM = {
  key: "form",
  kind: "form",
  schema: '{"type":"object","properties":{"ok":{"type":"boolean"}}}',
};
/** The consent of the user, and what is sealed behind it. */
const CONSENT = { policies: ["transfers", 'odd "name" é'], shown: digestOf("shown"), given: true };
const { state: _state, ...UP_TO_EPOCH } = BASE;
const GIVEN = { ...UP_TO_EPOCH, approval: CONSENT, state: BASE.state };
const ASKED_FOR = { ...UP_TO_EPOCH, asked: [FORM], approval: { ...CONSENT, given: false } };

const base = (payload: Buffer) => ({ secret: secretOf("2026-11"), audience: AUDIENCE, payload });
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const token = (bytes: Buffer) => `sg1.${bytes.toString("base64url")}`;

function opens(
  name: string,
  about: string,
  claims: object,
  options: Partial<Vector> = {},
  secret = "",
): Vector {
  const ring = options.keys ?? KEYS;
  const key = ring.find((k) => k.secret === secret) ?? { id: "2026-11", secret: secretOf("2026-11") };
  const recipe = { secret: key.secret, audience: options.audience ?? AUDIENCE, payload: json(claims) };
  const { bytes, nonce, steps } = sealBytes(name, recipe);
  return {
    ...{
      name,
      about,
      keys: KEYS,
      audience: AUDIENCE,
      maxTokenBytes: CAP,
      token: token(bytes),
      outcome: "opens",
    },
    ...{ claims: { ...claims }, sealedWith: { id: key.id, nonce: nonce.toString("hex") }, steps },
    ...options,
  };
}

function refused(
  name: string,
  about: string,
  outcome: string,
  text: string,
  options: Partial<Vector> = {},
): Vector {
  const common = { keys: KEYS, audience: AUDIENCE, maxTokenBytes: CAP };
  return { name, about, ...common, token: text, outcome, ...options };
}

/** Authentic, but not what a payload must be. */
function payload(name: string, about: string, bytes: Buffer | object): Vector {
  const plaintext = Buffer.isBuffer(bytes) ? bytes : json(bytes);
  const vector = refused(`payload-${name}`, about, "claims", token(sealBytes(name, base(plaintext)).bytes));
  return { ...vector, steps: { payload: plaintext.toString("hex") } };
}

function positives(): Vector[] {
  const form = FORM;
  const kinds = ["url", "sampling", "roots"].map((kind) => ({ key: kind, kind }));
  const strange = [
    { key: "__proto__", kind: "roots" },
    { key: "", kind: "roots" },
  ];
  const hard =
    'quote " backslash \\ slash / controls \u0000\b\t\n\u000b\f\r\u001f del \u007f lines \u2028\u2029 🔐 é';
  const round2 = { ...BASE, jti: idOf("round 2"), round: 2, iat: BASE.iat + 30, exp: BASE.exp + 30 };
  const exact = token(sealBytes("size-exact", base(json(BASE))).bytes).length;
  return [
    opens("state", "a state and one question", BASE),
    opens("no-state", "the upstream sent no state", WITHOUT_STATE),
    opens("empty-state", "the empty string is a state", { ...BASE, state: "" }),
    opens("no-questions", "state alone", { ...BASE, asked: [] }),
    opens("form", "a form brings its schema as text", { ...BASE, asked: [form] }),
    opens("all-kinds", "one question of each kind", { ...BASE, asked: [form, ...kinds] }),
    opens("round-2", "a later round keeps the chain", round2),
    opens("chain-from-a-fast-clock", "round 1 was sealed by a replica whose clock is ahead", {
      ...{ ...round2, iat: BASE.iat - 20, exp: BASE.exp - 20 },
    }),
    opens("hard-characters", "escapes, separators, astral characters", {
      ...BASE,
      state: hard,
      target: hard,
    }),
    opens("strange-keys", "question keys are any text", { ...BASE, asked: strange }),
    opens("empty-target-and-epoch", "both may be empty", { ...BASE, target: "", epoch: "" }),
    opens("largest-numbers", "year 9999, largest round", {
      ...{ ...BASE, exp: 253_402_300_799, round: Number.MAX_SAFE_INTEGER },
    }),
    opens("older-key", "every key of the ring opens", BASE, {}, secretOf("2026-10")),
    opens("audience-other-script", "the audience is framed by its length in bytes", BASE, {
      audience: "https://шлюз.example/☂",
    }),
    opens("approval-asked", "the gateway's own question: one form, no state", ASKED_FOR),
    opens("approval-given", "the user has agreed, and the server asks", GIVEN),
    opens("approval-given-no-state", "the same without a state", { ...UP_TO_EPOCH, approval: CONSENT }),
    opens("size-exact", "exactly the cap", BASE, { maxTokenBytes: exact }),
  ];
}

function negatives(): Vector[] {
  const honest = sealBytes("base", base(json({ ...BASE, state: "padded" }))).bytes;
  const text = token(honest);
  const flip = (at: number) => {
    const bytes = Buffer.from(honest);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return token(bytes);
  };
  const raised = text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
  const middle = (insert: string) => text.slice(0, 100) + insert + text.slice(100);
  const swapped = Buffer.concat([deriveKey(secretOf("2026-10")).keyId, honest.subarray(4)]);
  const plain = (parts: Buffer[]) => Buffer.concat(parts);
  const joined = sealBytes("joined", {
    ...base(json(BASE)),
    ad: (keyId, audience) => plain([Buffer.from("sg1."), keyId, Buffer.from(audience)]),
  });
  const noData = sealBytes("no-data", { ...base(json(BASE)), ad: () => Buffer.alloc(0) });
  const twin = token(sealBytes("twin", { ...base(json(BASE)), secret: TWIN_1 }).bytes);
  const stranger = token(sealBytes("stranger", { ...base(json(BASE)), secret: secretOf("stranger") }).bytes);
  return [
    refused("size-over", "one byte over the cap", "size", text, { maxTokenBytes: text.length - 1 }),
    refused("empty", "no text at all", "prefix", ""),
    refused("prefix-none", "without the prefix", "prefix", text.slice(4)),
    refused("prefix-upper-case", "the prefix has one case", "prefix", `SG1.${text.slice(4)}`),
    refused(
      "prefix-later-version",
      "bytes of version 1 under another prefix",
      "prefix",
      `sg2.${text.slice(4)}`,
    ),
    refused("prefix-space", "space before the prefix", "prefix", ` ${text}`),
    refused("prefix-only", "nothing after the prefix", "encoding", "sg1."),
    refused("prefix-twice", "sealed text under another prefix", "encoding", `sg1.${text}`),
    refused("last-character-raised", "unused low bits set", "encoding", raised),
    refused("padding", "padding", "encoding", `${text}=`),
    refused("padding-twice", "padding", "encoding", `${text}==`),
    refused(
      "standard-alphabet",
      "+ and / for - and _",
      "encoding",
      text.replace(/-/g, "+").replace(/_/g, "/"),
    ),
    refused("space-inside", "whitespace", "encoding", middle(" ")),
    refused("line-end-inside", "whitespace", "encoding", middle("\n")),
    refused("line-end-after", "whitespace", "encoding", `${text}\n`),
    refused("nul-after", "NUL", "encoding", `${text}\u0000`),
    refused("stray-character", "a length that no byte string has", "encoding", `sg1.${"A".repeat(81)}`),
    refused("other-script", "a letter that looks like a", "encoding", `${text.slice(0, -1)}а`),
    refused("no-ciphertext", "key id, nonce and tag only", "encoding", token(honest.subarray(0, 44))),
    refused("truncated", "one byte less", "aead", token(honest.subarray(0, -1))),
    refused("extended", "one byte more", "aead", token(Buffer.concat([honest, Buffer.alloc(1)]))),
    refused("key-id-flipped", "a bit of the key id", "unknown_key", flip(0)),
    refused("nonce-flipped-derivation", "a bit of the nonce's first half", "aead", flip(4)),
    refused("nonce-flipped-gcm", "a bit of the nonce's second half", "aead", flip(27)),
    refused("ciphertext-flipped", "a bit of the ciphertext", "aead", flip(28)),
    refused("tag-flipped", "a bit of the tag", "aead", flip(honest.length - 1)),
    refused("key-id-of-another-key", "the id of another key of the ring", "aead", token(swapped)),
    refused("unknown-key", "sealed under a key that the ring does not hold", "unknown_key", stranger),
    refused("same-key-id-other-key", "another key that happens to have this key id", "aead", twin, {
      keys: [{ id: "twin", secret: TWIN_2 }],
    }),
    refused("other-audience", "sealed for another audience", "aead", text, { audience: `${AUDIENCE}/` }),
    refused("data-joined", "associated data joined without lengths", "aead", token(joined.bytes)),
    refused("data-absent", "no associated data", "aead", token(noData.bytes)),
  ];
}

function payloads(): Vector[] {
  const text = JSON.stringify(BASE);
  const { epoch: _epoch, ...withoutEpoch } = BASE;
  const { state, ...rest } = BASE;
  const asked = (...list: unknown[]) => ({ ...BASE, asked: list });
  const consent = (approval: object) => ({ ...UP_TO_EPOCH, approval, state: BASE.state });
  const raw = (from: string, to: string) => Buffer.from(text.replace(from, to));
  return [
    payload("unknown-member", "a member that version 1 does not have", { ...BASE, admin: true }),
    payload("proto-member", "a member named __proto__", raw('"state"', '"__proto__":{},"state"')),
    payload("missing-member", "no epoch", withoutEpoch),
    payload("duplicate-member", "round twice", raw('"round":1', '"round":1,"round":1')),
    payload("other-order", "members in another order", { state, ...rest }),
    payload("whitespace", "a space", raw('"round":1', '"round": 1')),
    payload("needless-escape", "a letter written as an escape", raw('"transfer"', '"\\u0074ransfer"')),
    payload("number-spelling", "1.0 for 1", raw('"round":1', '"round":1.0')),
    payload("exponent", "1e0 for 1", raw('"round":1', '"round":1e0')),
    payload("byte-order-mark", "a byte order mark", Buffer.from(`\ufeff${text}`)),
    payload("after-the-value", "a second value", Buffer.from(`${text}{}`)),
    payload("no-object", "an array", [BASE]),
    payload("null", "null", Buffer.from("null")),
    payload("no-json", "no JSON", Buffer.from("state")),
    payload("deep", "nesting instead of claims", Buffer.from("[".repeat(5000) + "]".repeat(5000))),
    payload(
      "invalid-utf-8",
      "a lone continuation byte",
      Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0x80, 0x22, 0x7d])]),
    ),
    payload("lone-surrogate", "half of a pair, as an escape", raw("step=1", "\\ud83d")),
    payload("state-null", "null is no state", { ...BASE, state: null }),
    payload("state-number", "a number is no state", { ...BASE, state: 1 }),
    payload("round-zero", "rounds start at 1", { ...BASE, round: 0 }),
    payload("round-fraction", "rounds are whole", { ...BASE, round: 1.5 }),
    payload("round-text", "rounds are numbers", { ...BASE, round: "1" }),
    payload("round-beyond-exact", "2^53", { ...BASE, round: 2 ** 53 }),
    payload("iat-negative", "before 1970", { ...BASE, iat: -1 }),
    payload("exp-fraction", "half seconds", { ...BASE, exp: BASE.exp + 0.5 }),
    payload("exp-not-after-iat", "dead when born", { ...BASE, exp: BASE.iat }),
    payload("exp-after-year-9999", "beyond the largest time", { ...BASE, exp: 253_402_300_800 }),
    payload("jti-short", "21 characters", { ...BASE, jti: BASE.jti.slice(1) }),
    payload("jti-unused-bits", "unused low bits set", { ...BASE, jti: `${"A".repeat(21)}B` }),
    payload("principal-no-digest", "a name in clear", { ...BASE, principal: "u-1001" }),
    payload("params-unused-bits", "unused low bits set", { ...BASE, params: `${"A".repeat(42)}B` }),
    payload("route-empty", "no route", { ...BASE, route: "" }),
    payload("asked-no-list", "an object of questions", { ...BASE, asked: { confirm: "url" } }),
    payload("asked-unknown-kind", "a kind that version 1 does not have", asked({ key: "a", kind: "video" })),
    payload("asked-form-without-schema", "a form needs its schema", asked({ key: "a", kind: "form" })),
    payload("asked-url-with-schema", "only a form has one", asked({ key: "a", kind: "url", schema: "{}" })),
    payload("asked-schema-no-text", "the schema is text", asked({ key: "a", kind: "form", schema: {} })),
    payload(
      "asked-key-twice",
      "one key, two questions",
      asked({ key: "a", kind: "url" }, { key: "a", kind: "roots" }),
    ),
    payload("asked-null", "null is no question", asked(null)),
    payload("approval-null", "null is no consent", { ...UP_TO_EPOCH, approval: null, state: BASE.state }),
    payload("approval-after-state", "members in another order", { ...BASE, approval: CONSENT }),
    payload("approval-asked-with-state", "asked before the server was", { ...ASKED_FOR, state: "x" }),
    payload("approval-asked-otherwise", "asked by no form", { ...ASKED_FOR, asked: BASE.asked }),
    payload("approval-asked-twice", "two questions", {
      ...{ ...ASKED_FOR, asked: [FORM, { ...FORM, key: "b" }] },
    }),
    payload("approval-given-text", "a word for true", consent({ ...CONSENT, given: "true" })),
    payload("approval-given-absent", "asked or given?", consent({ policies: ["a"], shown: CONSENT.shown })),
    payload("approval-unknown-member", "a member too many", consent({ ...CONSENT, quorum: 2 })),
    payload("approval-no-policy", "consent to nothing", consent({ ...CONSENT, policies: [] })),
    payload("approval-policy-empty", "a policy without a name", consent({ ...CONSENT, policies: [""] })),
    payload("approval-policy-twice", "one policy twice", consent({ ...CONSENT, policies: ["a", "a"] })),
    payload("approval-shown-no-digest", "a text in clear", consent({ ...CONSENT, shown: "Transfer?" })),
  ];
}

/** All cases, in a fixed order. */
export function vectors(): Vector[] {
  return [...positives(), ...negatives(), ...payloads()];
}

if (import.meta.main) {
  const folder = new URL("./envelope/", import.meta.url);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const vector of vectors()) {
    writeFileSync(new URL(`${vector.name}.json`, folder), `${JSON.stringify(vector, null, 2)}\n`);
  }
}
