/**
 * Tokens as vendors shape them, made up here from a prefix and letters, so that no scanner takes this file for a leak; and
 * honest texts that only look like them.
 */
import t from "tap";
import { credentialPlaces, credentialsIn } from "../../../src/mcp/credential-values.ts";
import { stateFindings } from "../../../src/mcp/state-findings.ts";

const LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz";
const ALPHABETS: Readonly<Record<string, string>> = {
  A: LETTERS,
  H: "0123456789abcdef",
  U: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  L: "abcdefghijklmnopqrstuvwxyz234567",
};

/** `{A36}` becomes 36 letters and digits, `{H32}` hexadecimal ones, `{U20}` and `{L20}` those of base32. */
const made = (shape: string): string =>
  shape.replace(/\{([AHUL])(\d+)\}/g, (_, kind: string, count: string) => {
    const letters = ALPHABETS[kind] ?? "";
    return Array.from({ length: Number(count) }, (__, i) =>
      letters.charAt((i * 7 + 3) % letters.length),
    ).join("");
  });

const VENDORS: readonly string[] = [
  "gh|p_{A36}", "github|_pat_{A22}_{A59}", "gl|pat-{A20}", "gl|pat-{A27}.01.{A9}", "gl|ft-{A20}", "gl|agent-{A50}", "gl|oas-{H64}", "xo|xb-123456789012-{A24}", "xo|xe.xoxp-1-{A100}", "https://hooks.sl|ack.com/services/T00000000/B00000000/{A24}",
  "https://disc|ord.com/api/webhooks/123456789012345678/{A68}", "MTIzNDU2Nzg5MDEyMzQ1Njc4|.GaBcDe.{A38}", "123456789|:AA{A33}", "sk|_live_{A24}", "rk|_live_{A99}", "sk|-{A48}", "sk|-proj-{A156}", "sk|-admin-{A58}", "sk|-ant-api03-{A93}", "sk|-or-v1-{H64}",
  "sk|-{H32}", "hf|_{A34}", "api|_org_{A34}", "lsv2|_pt_{H32}_{H10}", "pcsk|_{A6}_{A60}", "tvly|-dev-{A32}", "fc|-{H32}", "sk|_{H48}", "ABS|K{A109}", "1/|/0{A60}", "abc8|Q~{A34}", "{A76}AZ|DO{A4}", "rubygems|_{H48}", "cio|{A32}", "dckr|_pat_{A27}", "HRKU|-AA{A58}",
  "cfut|_{A40}", "vcp|_{A56}", "nfp|_{A36}", "fm2|_{A80}", "sbp|_{H40}", "sb_|secret_{A31}", "pscale|_tkn_{A43}", "napi|_{A64}", "NRAK|-{U27}", "glc|_eyJ{A40}", "dt0c01|.{U24}.{U64}", "{H32}|-us12", "xkeysib|-{H64}-{A16}", "re|_{A8}_{A24}", "SK|{H32}", "EAAA|{A60}", "EAAB|{A60}",
  "IGQV|{A60}", "1/|1234567890123456:{H32}", "ATATT3x|FfGF0{A170}", "ATBB|{A32}", "pat|{A14}.{H64}", "pat|-na1-5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e", "tfp|_{A44}", "CFPAT|-{A43}", "SSWS| 00{A40}", "{A14}|.atlasv1.{A67}", "pul|-{H40}", "dp|.pt.{A43}", "dp|.st.dev.{A43}", "ops|_eyJ{A40}",
  "A3|-ABCDEF-ABCDEF-ABCDE-ABCDE-ABCDE-ABCDE", "bkua|_{H40}", "CCIPAT|_{A22}_{H40}", "AKCp|{A69}", "sqp|_{H40}", "oy2|{L43}", "y0|_{A55}", "AKID|{A32}", "wandb|_v1_{A77}", "sk|.eyJ1Ijoi{A40}.{A22}", "shippo|_live_{H40}", "EZAK|{A54}", "access_token|$production$abcdef0123456789$0{H31}", "p8e|-{A32}",
  "?sv=2022-11-02&sig|={A44}", "PuTTY|-User-Key-File-3: ssh-ed25519", "---- BEGIN SSH2 |ENCRYPTED PRIVATE KEY ----", "Cookie: sid|={A30}", "Basic| dXNlcjpwYXNzd29yZDEy", "bearer| {A30}", '{"kty":"EC","x":"a","d"|:"{A43}"}', "x eyJhbGciOiJkaXIifQ|..{A16}.{A30}.{A22}",
]; // biome-ignore format: one list

t.test("tokens of vendors", async (t) => {
  for (const shape of VENDORS) {
    const token = made(shape.replace("|", ""));
    for (const text of [token, `{"v":${JSON.stringify(token)}}`, `see ${token}, and more`])
      t.ok(credentialsIn(text).length > 0 || stateFindings(text).length > 0, `${shape} in ${text.length}`);
  }
});

t.test("where they stand", async (t) => {
  for (const shape of ["gh|p_{A36}", "sk|-proj-{A60}", "pcsk|_{A6}_{A60}", "dt0c01|.{U24}.{U64}"]) {
    const token = made(shape.replace("|", ""));
    t.same(credentialPlaces(`a ${token} b`), [[2, 2 + token.length]], shape);
  }
  const key = made('{"kty":"OKP","x":"abc","d":"{A43}"}');
  const [[from = 0, to = 0] = []] = credentialPlaces(key);
  t.equal(key.slice(from, to), made("{A43}"), "the private part of a key");
});

t.test("what only looks like one", async (t) => {
  const honest = [
    "v1.{A90}.{A43}", "gAAAAAB{A93}", "{A90}", "{H64}", "5f0c2f4e-8f0a-4a1b-9d7e-2f6a1c1b2d3e", "task-{H32}", "pk_live_{A24}", "cs_test_{A40}", "re_index_documents_after_migration_run", "hf_model_name_for_text_generation_inference", "sk-learn-based-classifier-model-for-text", "key-value-store-partition-number-one",
    "SKU{H29}", "sha512-{A88}", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{A30}", '{"kty":"EC","x":"{A43}","y":"{A43}"}', "registry.example/app@sha256:{H64}", "git@github.com:owner/repo.git", "img/icon@2x.png", "npm install @scope/pkg@1.2.3", "https://medium.example/@max/post", "Bearer of the document must sign", "basic configuration/settings required",
    "Basic understanding of things", "Cookie: yes", "1/2:30", "12:30:AAB", "(415) of 555-2671", "4.111111111111111", "AB.1234.5678.9012", "name: widget", "token_count: 12", "<title>Password</title>", "{ step: 'ask_password' }", "step=ask;token_count=4",
  ]; // biome-ignore format: one list
  for (const shape of honest) t.same(stateFindings(made(shape)), [], shape);
});

t.test("names and values in other ways to write pairs", async (t) => {
  const pairs = ["password: hunter2x", "step: 2\napi_key: abcd1234\n", 'token = "abcd1234"', "export OPENAI_API_KEY=abcd1234", "<password>hunter2x</password>", "X-Api-Key: abcd1234", "{'password': 'hunter2x'}", "{step: 1, password:'hunter2x'}", "aws_secret_access_key = abcd1234", encodeURIComponent('{"password":"hunter2x"}'), Buffer.from('{"password":"hunter2x"}').toString("hex")]; // biome-ignore format: one list
  for (const text of pairs)
    t.same(
      stateFindings(text).map(({ detail }) => detail),
      ["credential_named_to_256"],
      text,
    );
  const persons = ["max%40example.org", "email: max@example.org", "(415) 555-2671", "4111.1111.1111.1111", '{"vorname":"Max"}', '{"cpf":"52998224725"}', "4111\u00a01111\u00a01111\u00a01111"]; // biome-ignore format: one list
  for (const text of persons)
    t.same([...new Set(stateFindings(text).map(({ rule }) => rule))], ["mrtr/state-personal-data"], text);
});

t.test("a state that is one token, signed or encrypted", async (t) => {
  for (const shape of [
    "eyJhbGciOiJIUzI1NiJ9.{A30}.{A43}",
    "eyJhbGciOiJSU0EtT0FFUCJ9.{A60}.{A16}.{A30}.{A22}",
    "eyJhbGciOiJkaXIifQ..{A16}.{A30}.{A22}",
  ])
    t.same(stateFindings(made(shape)), [], shape);
});

t.test("long texts take time in proportion", async (t) => {
  for (const unit of [
    "a=b\n",
    "a: ",
    "'a':",
    "{a:",
    "<a>",
    " \t",
    "%41",
    "eyJ",
    "sk-",
    "cookie:",
    "1/",
    "(415) ",
    "@2x.",
    "git@a",
    "A3-ABCDE-",
    '"kty""d":"',
    "bearer   ",
    "Q~",
    "AZDO",
  ]) {
    const text = unit.repeat((64 * 1024) / unit.length);
    t.type(stateFindings(text), Array, unit);
  }
});
