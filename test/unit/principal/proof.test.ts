import t from "tap";
import { ALGORITHMS } from "../../../src/config/algorithms.ts";
import { checkProof, normalUrl, ProofError, ProofKeys } from "../../../src/principal/proof.ts";
import { type ProofOptions, proofKey, prove, tokenHash } from "../../support/proof.ts";

const NOW = 1_800_000_000_000;
const URL_ = "https://gateway.example/mcp";
const TOKEN = "token-of-alice";
const terms = { algorithms: [...ALGORITHMS], maxAge: 60_000, clockTolerance: 30_000 };
const key = await proofKey();
const other = await proofKey();
const request = { method: "POST", url: URL_, token: TOKEN, key: key.thumbprint };

async function detailOf(
  proof: string | undefined,
  changed: Partial<typeof request> = {},
  now = NOW,
): Promise<string> {
  try {
    await checkProof(proof, { ...request, ...changed }, terms, new ProofKeys(), now);
    return "good";
  } catch (error) {
    return error instanceof ProofError ? error.detail : String(error);
  }
}

const made = (more: Partial<ProofOptions> = {}, by = key) =>
  prove(by, { token: TOKEN, url: URL_, now: NOW, ...more });
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

t.test("an honest proof, by every kind of key", async (t) => {
  const { id, nonce } = await checkProof(
    await made({ claims: { jti: "j-1", nonce: "n" } }),
    request,
    terms,
    new ProofKeys(),
    NOW,
  );
  t.same([id, nonce], ["j-1", "n"]);
  for (const alg of ["RS256", "PS256", "ES384", "ES512", "EdDSA", "Ed25519"]) {
    const its = await proofKey(alg);
    t.equal(await detailOf(await made({}, its), { key: its.thumbprint }), "good", alg);
  }
});

t.test("what is wrong with the form", async (t) => {
  const proof = await made();
  const [head = "", body = "", signature = ""] = proof.split(".");
  const table: [name: string, proof: string | undefined, detail: string][] = [
    ["none", undefined, "proof_missing"],
    ["empty", "", "proof_malformed"],
    ["two headers", `${proof}, ${await made()}`, "proof_malformed"],
    ["twice the same", `${proof}, ${proof}`, "proof_malformed"],
    ["two parts", `${head}.${body}`, "proof_malformed"],
    ["four parts", `${proof}.x`, "proof_malformed"],
    ["no signature", `${head}.${body}.`, "proof_malformed"],
    ["large", await made({ claims: { pad: "x".repeat(8_000) } }), "proof_too_large"],
    ["a header that is an array", `${part([])}.${body}.${signature}`, "proof_malformed"],
    ["padded", `${head}=.${body}.${signature}`, "proof_malformed"],
    ["a blank before it", ` ${proof}`, "proof_malformed"],
    ["a line end behind it", `${proof}\n`, "proof_malformed"],
    ["a comma before it", `, ${proof}`, "proof_malformed"],
    ["another alphabet", proof.replace(/^e/, "+"), "proof_malformed"],
    [
      "a body that is no UTF-8",
      `${head}.${Buffer.from([0x22, 0xff]).toString("base64url")}.${signature}`,
      "proof_signature",
    ],
  ];
  for (const [name, attack, detail] of table) t.equal(await detailOf(attack), detail, name);
  t.equal(await detailOf(proof), "good");
});

t.test("what is wrong with the header", async (t) => {
  const { jwk, privateJwk, thumbprint } = key;
  const rsa = await proofKey("RS256");
  const headers: [header: Record<string, unknown>, detail: string][] = [
    [{ typ: "JWT" }, "proof_type"],
    [{ typ: undefined }, "proof_type"],
    [{ typ: "at+jwt" }, "proof_type"],
    [{ typ: ["dpop+jwt"] }, "proof_type"],
    [{ jwk: undefined }, "proof_jwk"],
    [{ jwk: null }, "proof_jwk"],
    [{ jwk: [jwk] }, "proof_jwk"],
    [{ jwk: privateJwk }, "proof_jwk"],
    [{ jwk: { ...jwk, d: null } }, "proof_jwk"],
    [{ jwk: { kty: "oct", k: "AAAA" } }, "proof_jwk"],
    [{ jwk: { ...jwk, kty: "oct" } }, "proof_jwk"],
    [{ jwk: { ...jwk, crv: "secp256k1" } }, "proof_jwk"],
    [{ jwk: { ...jwk, x: "" } }, "proof_jwk"],
    [{ jwk: { ...rsa.jwk, e: "A".repeat(40) } }, "proof_jwk"],
    [{ jwk: { ...rsa.jwk, n: "A".repeat(1_000) } }, "proof_jwk"],
    [{ jwk: other.jwk }, "proof_other_key"],
    [{ jku: "https://evil.example/jwks" }, "proof_header"],
    [{ x5u: "https://evil.example/cert" }, "proof_header"],
    [{ x5c: ["AAAA"] }, "proof_header"],
    [{ crit: ["x"], x: true }, "proof_header"],
    [{ kid: "whatever" }, "good"],
    [{ jwk: { ...jwk, kid: "k", use: "sig" } }, "good"],
  ];
  for (const [header, detail] of headers) {
    t.equal(await detailOf(await made({ header })), detail, JSON.stringify(header).slice(0, 60));
  }
  const [, body = "", signature = ""] = (await made()).split(".");
  for (const [alg, detail] of [
    ["none", "proof_algorithm"],
    ["HS256", "proof_algorithm"],
    ["ES384", "proof_jwk"],
    ["RS256", "proof_jwk"],
  ] as const) {
    const head = part({ typ: "dpop+jwt", alg, jwk });
    t.equal(await detailOf(`${head}.${body}.${signature}`), detail, alg);
  }
  t.equal(thumbprint.length, 43);
});

t.test("a proof of a list that is shorter", async (t) => {
  const short = { ...terms, algorithms: ["EdDSA"] };
  await t.rejects(checkProof(await made(), request, short, new ProofKeys(), NOW), {
    message: "proof_algorithm",
  });
});

t.test("a signature of somebody else, and a body that was changed", async (t) => {
  const [head = "", body = "", signature = ""] = (await made()).split(".");
  const forged = await made({ header: { jwk: key.jwk } }, { ...other, alg: "ES256" });
  t.equal(await detailOf(forged), "proof_signature");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString());
  t.equal(await detailOf(`${head}.${part({ ...claims, jti: "x" })}.${signature}`), "proof_signature");
});

t.test("a proof for something else", async (t) => {
  const table: [claims: Record<string, unknown>, detail: string][] = [
    [{ htm: "GET" }, "proof_method"],
    [{ htm: "post" }, "proof_method"],
    [{ htm: undefined }, "proof_method"],
    [{ htm: ["POST"] }, "proof_method"],
    [{ htu: undefined }, "proof_url"],
    [{ htu: "https://gateway.example/other" }, "proof_url"],
    [{ ath: undefined }, "proof_token"],
    [{ ath: tokenHash("token-of-bob") }, "proof_token"],
    [{ ath: `${tokenHash(TOKEN)}=` }, "proof_token"],
    [{ jti: undefined }, "proof_malformed"],
    [{ jti: "" }, "proof_malformed"],
    [{ jti: 7 }, "proof_malformed"],
    [{ jti: "j".repeat(257) }, "proof_malformed"],
    [{ jti: "j".repeat(256) }, "good"],
    [{ iat: undefined }, "proof_malformed"],
    [{ iat: String(NOW / 1000) }, "proof_malformed"],
    [{ iat: NOW / 1000 - 90 }, "good"],
    [{ iat: NOW / 1000 - 91 }, "proof_time"],
    [{ iat: NOW / 1000 + 30 }, "good"],
    [{ iat: NOW / 1000 + 31 }, "proof_time"],
    [{ iat: NOW }, "proof_time"],
    [{ iat: -1e300 }, "proof_time"],
    [{ nonce: 7 }, "proof_nonce"],
  ];
  for (const [claims, detail] of table) {
    t.equal(await detailOf(await made({ claims })), detail, JSON.stringify(claims).slice(0, 80));
  }
  const [head = "", , signature = ""] = (await made()).split(".");
  const endless = Buffer.from('{"iat":1e999}').toString("base64url");
  t.equal(await detailOf(`${head}.${endless}.${signature}`), "proof_signature");
  t.equal(await detailOf(await made({ method: "GET" }), { method: "GET" }), "good", "a GET of its own");
});

t.test("spellings of one URL, and other URLs", async (t) => {
  const same = [
    URL_,
    "HTTPS://gateway.example/mcp",
    "https://GATEWAY.example/mcp",
    "https://gateway.example:443/mcp",
    "https://gateway.example/mcp?session=1",
    "https://gateway.example/mcp#x",
    "https://gateway.example/x/../mcp",
    "https://gateway.example/./mcp",
    "https://gateway.example/%6dcp",
    "https://gateway.example/mc%70",
  ];
  for (const htu of same) t.equal(await detailOf(await made({ claims: { htu } })), "good", htu);
  const others = [
    "http://gateway.example/mcp",
    "https://gateway.example/mcp/",
    "https://gateway.example/MCP",
    "https://gateway.example//mcp",
    "https://gateway.example/mcp%2f",
    "https://gateway.example/mcp%2Fx",
    "https://gateway.example/%256dcp",
    "https://gateway.example/",
    "https://gateway.example",
    "https://gateway.example:8443/mcp",
    "https://gateway.example:80/mcp",
    "https://gateway.example./mcp",
    "https://gateway.example.evil.example/mcp",
    "https://user@gateway.example/mcp",
    "https://gateway.example@evil.example/mcp",
    "https:\\\\gateway.example\\mcp",
    "https:gateway.example/mcp",
    "https:/gateway.example/mcp",
    " https://gateway.example/mcp",
    "https://gateway.example/mcp\n",
    "https://gateway.ex\tample/mcp",
    "https://gateway.example/m\u00adcp",
    "https://ｇateway.example/mcp",
    "//gateway.example/mcp",
    "/mcp",
    "ftp://gateway.example/mcp",
    "",
    `https://gateway.example/mcp?${"x".repeat(2_048)}`,
  ];
  for (const htu of others) t.equal(await detailOf(await made({ claims: { htu } })), "proof_url", htu);
  t.equal(normalUrl("http://127.0.0.1:80"), "http://127.0.0.1/", "an empty path is a slash");
  t.equal(normalUrl("http://h/%c3%A9%7e"), "http://h/%C3%A9~");
});

t.test("keys that were imported are remembered, and not without end", async (t) => {
  const keys = new ProofKeys(2);
  for (const its of [key, other, await proofKey(), key]) {
    const proof = await made({}, its);
    t.ok(await checkProof(proof, { ...request, key: its.thumbprint }, terms, keys, NOW));
  }
});
