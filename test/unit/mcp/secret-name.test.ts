/**
 * The detector of secrets against lists of fields (test/data): some it was made with, and some that were written before it and never
 * tuned on. docs/decisions/0023-guesses.md names the rates.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { MAX_READ, plain } from "../../../src/mcp/reading.ts";
import { asksForSecret, namesSecret } from "../../../src/mcp/secret-name.ts";

/** Lines of a file in test/data, without comments. */
function lines(name: string): string[] {
  const text = readFileSync(new URL(`../../data/${name}.txt`, import.meta.url), "utf8");
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** A list of fields: name, title, description. */
const fields = (list: string): string[][] => lines(`${list}-fields`).map((line) => line.split("\t"));

const isFound = ([name = "", title = "", description = ""]: string[]): boolean =>
  namesSecret(name) || namesSecret(title) || asksForSecret(description);

function share(list: string): { share: number; of: number } {
  const all = fields(list);
  return { share: all.filter(isFound).length / all.length, of: all.length };
}

t.test("lists it was made with", async (t) => {
  t.ok(fields("harmless").length >= 200 && fields("secret").length >= 100);
  t.same(
    fields("harmless").filter((field) => isFound(field)),
    [],
  );
  t.same(
    fields("secret").filter((field) => !isFound(field)),
    [],
  );
});

t.test("lists that were held out", async (t) => {
  const harmless = share("harmless-held-out");
  t.ok(harmless.of >= 200);
  t.ok(harmless.share <= 0.01, `false positives: ${harmless.share}`);
  const secret = share("secret-held-out");
  t.ok(secret.of >= 100);
  t.ok(secret.share >= 0.97, `hits: ${secret.share}`);
});

t.test("sentences", async (t) => {
  t.same(lines("harmless-sentences").filter(asksForSecret), []);
  t.same(
    lines("secret-sentences").filter((sentence) => !asksForSecret(sentence)),
    [],
  );
});

t.test("keys in files, and addresses with a password in them", async (t) => {
  for (const name of [
    "ssh_key",
    "sshKey",
    "pemKey",
    "keystore",
    "dbUrlWithCreds",
    "database url with credentials",
  ])
    t.ok(namesSecret(name), name);
  for (const name of [
    "ssh_key_name",
    "sshKeyId",
    "sshPublicKey",
    "keystore_path",
    "keystoreType",
    "pem_file_name",
    "dbUrl",
  ])
    t.notOk(namesSecret(name), name);
});

t.test("spellings that only look different", async (t) => {
  for (const name of [
    "pass\u200bword",
    "pass\u00adword",
    "pa\u0301ssword",
    "p\u0430ssw\u043erd",
    "\u0440\u0430\u0455\u0455word",
    "ｐａｓｓｗｏｒｄ",
    "𝓹𝓪𝓼𝓼𝔀𝓸𝓻𝓭",
    "P.A.S.S.W.O.R.D",
    "p a s s w o r d",
    "PaSsWoRd",
    "passw0rd",
    "p@$$w0rd",
    "pass\ufe0fword",
    "pass\u2060word",
    "user.password",
    "user[password]",
    "ＰＩＮ",
    "t0ken",
    "s\u0435cret",
    "\u200fكَلِمَة المُرور",
  ])
    t.ok(namesSecret(name), name);
  t.equal(plain("ＡＰＩ\u200bKéy"), "apikey");
});

t.test("what stands around a name", async (t) => {
  const cases: [text: string, asks: boolean][] = [
    ["Please enter your credentials", true],
    ["Your password", true],
    ["What is your PIN?", true],
    ["We need the API key of your account to go on with this", true],
    ["Wie lautet dein Passwort? Es wird nicht gespeichert.", true],
    ["Your order is ready. Please type the code from the SMS. Enter your password to confirm.", true],
    ["We never ask for your password", false],
    ["Do not enter your password here", false],
    ["Choose how the report is sorted", false],
    ["The length of the password", false],
    ["Delete the API key?", false],
    ["The API key will be revoked", false],
    ["Sends the notes of the meeting to everybody who holds a password and was there", false],
    ["How many tokens may the answer have?", false],
  ];
  for (const [text, asks] of cases) t.equal(asksForSecret(text), asks, text);
});

t.test("long texts are read up to a bound, and none makes it fail", async (t) => {
  const units = ["a", "aA", "a1", "p@", "password ", "pass_", "a\u0301\u0323", "각", "\ufdfa", "𝐩", "not password length ", "\ud800", "\u0301"]; // biome-ignore format: one list
  for (const unit of units) {
    const text = unit.repeat(MAX_READ);
    t.type(namesSecret(text), "boolean", unit);
    t.type(asksForSecret(text), "boolean", unit);
  }
  t.notOk(asksForSecret(`${"lorem. ".repeat(MAX_READ)} enter your password`), "behind the bound");
});
