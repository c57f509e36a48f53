import t from "tap";
import { auditArguments, auditMethod, auditPrincipal, auditTarget } from "../../../src/audit/record.ts";
import { scan } from "../../../src/json/scan.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";

t.test("a uri without the places where secrets ride", async (t) => {
  for (const [name, shown] of [
    ["file:///home/a", "file:///home/a"],
    ["https://user:pass@host/p?token=SECRET#SECRET", "https://host/p"],
    ["HTTPS://SECRET@host", "HTTPS://host"],
    ["https://a@b@host/x@y", "https://host/x@y"],
    ["mail:a@b?c", "mail:a@b"],
    ["x://h/p\n?SECRET", "x://h/p\n"],
    ["", ""],
  ] as const)
    t.same(auditTarget({ kind: "resource", name }), { kind: "resource", name: shown }, name);
  t.same(auditTarget({ kind: "tool", name: "a?b#c" }), { kind: "tool", name: "a?b#c" }, "a tool is no uri");
});

t.test("names are cut, free text in place of a method is not repeated", async (t) => {
  t.equal(auditTarget({ kind: "tool", name: "x".repeat(300) }).name.length, 257);
  for (const method of ["tools/call", "x", "notifications/tasks/status", "a_b.c-d"])
    t.equal(auditMethod(method), method);
  for (const method of ["", "tools/call ", "eyJhbGciOi.SECRET=", "a\nb", "1a", "x".repeat(65), "\u00e9"])
    t.equal(auditMethod(method), "(not a method name)", method);
});

t.test("the principal: who, and by what policies may know it, within bounds", async (t) => {
  t.same(auditPrincipal(ANONYMOUS), { anonymous: true });
  const principal = {
    anonymous: false,
    issuer: "https://i",
    subject: "s".repeat(300),
    groups: [],
    scopes: [],
  };
  t.same(auditPrincipal(principal), { issuer: "https://i", subject: `${"s".repeat(256)}\u2026` });
  const whole = { ...principal, subject: "s", client: "c", tenant: "t", groups: ["g"], scopes: ["x"] };
  const { anonymous, ...shown } = whole;
  t.same(auditPrincipal(whole), shown);
  t.equal(
    auditPrincipal({ ...principal, groups: Array(100).fill("g".repeat(300)) }).groups?.join().length,
    64 * 258 - 1,
  );
});

t.test("arguments as sent, cut when long", async (t) => {
  const params = (text: string) => {
    const doc = scan(Buffer.from(text), { bytes: 100_000, depth: 10 });
    return auditArguments(doc, doc.root);
  };
  t.same(params('{"arguments":{ "n":1.10 }}'), { arguments: '{ "n":1.10 }' });
  t.same(params("{}"), {});
  t.equal(params(`{"arguments":"${"x".repeat(20_000)}"}`).arguments?.length, 16 * 1024 + 1);
});
