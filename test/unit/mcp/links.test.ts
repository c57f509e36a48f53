import t from "tap";
import { linkIn } from "../../../src/mcp/links.ts";
import { MAX_READ } from "../../../src/mcp/reading.ts";

t.test("links, also such as have to be mended first", async (t) => {
  const texts = [
    "see https://a.example/x",
    "HTTPS://A.example",
    "hxxps://evil.example",
    "go to evil.com now",
    "(evil.com)",
    "evil[.]com",
    "evil (dot) com",
    "ev\u200bil.c\u200bom",
    "http\u200b://x.y",
    "[here](//evil)",
    "[click](https://x)",
    "[a]: https://x",
    "<https://x.example>",
    "<a href=x>",
    "www.foo",
    "javascript:alert(1)",
    "mailto:a@b.example",
    "data:text/html,x",
    "10.0.0.1/admin",
    "//evil.com/x",
    "login.bank.co.uk",
    "пример.рф",
    "ｅｖｉｌ．ｃｏｍ",
    "evil。com",
    "bit.ly/abc",
    "t.me/x",
    "xn--80ak6aa92e.com",
    "https://日本.example",
  ];
  for (const text of texts) t.type(linkIn(text), "string", text);
});

t.test("texts without links", async (t) => {
  const texts = [
    "Transfer 10 € to Zoë?",
    "Enter your e-mail, e.g. a@b.example",
    "Edit README.md or index.js in src/main.py",
    "Version 1.2.3 of Node.js and ASP.NET",
    "Done.It is fine.",
    "yes/no, and/or, 50/50",
    "from 9 a.m. to 5 p.m.",
    "3.14",
    "key: value; data: the values",
    "C:\\Users\\x",
    "Date (dd.mm.yyyy)",
    "10.0.0.1 and 192.168.0.0/16",
    "user.name field, config.yaml",
    "https is better than http",
    "x < a and b > c",
  ];
  for (const text of texts) t.equal(linkIn(text), undefined, text);
});

t.test("long texts", async (t) => {
  for (const unit of ["a", "a.", "a-", "www.", "[", "](", "<a", "http:", "(dot)", "( .", "1.", "1.1.1.", "//a", "\ufdfa", "aa-"]) // biome-ignore format: one list
    t.doesNotThrow(() => linkIn(unit.repeat(MAX_READ / unit.length)), unit);
  t.equal(linkIn("a".repeat(MAX_READ + 1)), "unread");
});
