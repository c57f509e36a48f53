/**
 * Forms with one field of the lists that were written as an outside evaluator would (test/data), hard ones on purpose.
 * docs/decisions/0023-guesses.md names the rates.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { formFindings, TEXT_BUDGET } from "../../../src/mcp/form-findings.ts";

type Properties = Readonly<Record<string, { readonly title?: string; readonly description?: string }>>;

/** Whether a form with these fields, all of them texts, asks for a secret; the name of the field that does. */
function asked(fields: Properties, message = "Details"): boolean {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, texts]) => [name, { type: "string", ...texts }]),
  );
  return formFindings({ message, schema: { type: "object", properties } }, { left: TEXT_BUDGET }).some(
    ({ rule }) => rule === "elicitation/secret-field",
  );
}

/** The lines of a list whose field is judged wrongly, and how many lines there are. */
function wrong(list: string, isSecret: boolean): { lines: string[]; of: number } {
  const text = readFileSync(new URL(`../../data/${list}-fields.txt`, import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const isWrong = (line: string): boolean => {
    const [name = "", title = "", description = ""] = line.split("\t");
    const texts = { ...(title === "" ? {} : { title }), ...(description === "" ? {} : { description }) };
    return asked({ [name]: texts }) !== isSecret;
  };
  return { lines: lines.filter(isWrong), of: lines.length };
}

t.test("lists by which kinds were mended", async (t) => {
  const harmless = wrong("harmless-outside", false);
  t.ok(harmless.of >= 900, String(harmless.of));
  t.same(harmless.lines, []);
  const secret = wrong("secret-outside", true);
  t.ok(secret.of >= 700, String(secret.of));
  t.ok(secret.lines.length / secret.of <= 0.015, secret.lines.join(", "));
});

t.test("lists that were held out", async (t) => {
  const harmless = wrong("harmless-outside-held-out", false);
  t.ok(harmless.of >= 80, String(harmless.of));
  t.ok(harmless.lines.length / harmless.of <= 0.04, harmless.lines.join(", "));
  const secret = wrong("secret-outside-held-out", true);
  t.ok(secret.of >= 90, String(secret.of));
  t.ok(secret.lines.length / secret.of <= 0.07, secret.lines.join(", "));
});

t.test("a word with several meanings, by what else the field says", async (t) => {
  const cases: [fields: Properties, isAsked: boolean][] = [
    [{ pass: { title: "Boarding pass" } }, false],
    [{ pass: { title: "Pass" } }, true],
    [{ secret: { title: "Secret santa" } }, false],
    [{ secret: { title: "Secret" } }, true],
    [{ token: { title: "Token count" } }, false],
    [{ token: { title: "Token", description: "Never share it with anybody" } }, true],
    [{ token: { title: "Token", description: "The token is required" } }, true],
    [{ token: { title: "Token (required)" } }, true],
    [{ pin: { title: "Pin", description: "Which pin of the connector carries the signal?" } }, false],
    [{ pin: { title: "Pin", description: "Do not share this pin with anybody" } }, true],
    [{ pin: { title: "Secret santa" } }, true],
    [{ password: { title: "Password policy" } }, true],
    [{ pass: { title: "Boarding pass", description: "Enter your password" } }, true],
    [{ token: { title: "Token count", description: "Paste your API token" } }, true],
  ];
  for (const [fields, isAsked] of cases) t.equal(asked(fields), isAsked, JSON.stringify(fields));
});

t.test("the PIN code of a place in India", async (t) => {
  const cases: [fields: Properties, isAsked: boolean][] = [
    [{ pincode: {} }, true],
    [{ pincode: {}, city: {}, state: {}, line1: {} }, false],
    [{ pincode: {}, city: {} }, true],
    [{ pincode: { title: "PIN code", description: "Postal index number, six digits" } }, false],
    [{ pincode: { title: "PIN code of your card" }, note: {}, colour: {} }, true],
    [{ password: {}, city: {}, state: {} }, true],
    [{ card_pin: {}, city: {}, state: {} }, true],
  ];
  for (const [fields, isAsked] of cases) t.equal(asked(fields), isAsked, JSON.stringify(fields));
});

t.test("codes by what they come by", async (t) => {
  for (const message of ["Enter the code we sent you by SMS", "Введите код из СМС", "SMSで届いた6桁の数字", "Digite o código que enviamos por SMS"]) // biome-ignore format: one list
    t.ok(asked({ a: {} }, message), message);
  for (const message of ["Enter the promo code you received by SMS", "Enter the phone number for SMS reminders", "How should we send the code, by SMS or mail?", "Do not enter the code from the SMS here", "The code length in the SMS"]) // biome-ignore format: one list
    t.notOk(asked({ a: {} }, message), message);
});
