import t from "tap";
import {
  auditAddress,
  auditArguments,
  auditClient,
  auditDeclared,
  auditMethod,
  auditPrincipal,
  auditReplay,
  auditTarget,
} from "../../../src/audit/record.ts";
import { Refusal } from "../../../src/errors.ts";
import { scan } from "../../../src/json/scan.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";
import { NOTHING } from "../../support/declared.ts";

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

t.test(
  "what clients call themselves: cut, nothing that cannot be seen, nothing that is no text",
  async (t) => {
    const client = (info: unknown) => {
      const text = JSON.stringify({ "io.modelcontextprotocol/clientInfo": info });
      const doc = scan(Buffer.from(text), { bytes: 100_000, depth: 10 });
      return auditClient(doc, doc.root).client;
    };
    t.same(client({ name: "Zo\u00eb's app", version: "1.2" }), { name: "Zo\u00eb's app", version: "1.2" });
    t.same(client({ name: "a\u001b[31m\u202eb\u2028c\u200bd\u00ad", title: "t" }), { name: "a?[31m?b?c?d?" });
    t.equal(client({ name: "a\ud800" }), undefined, "half a character");
    t.equal(client({ name: "x".repeat(1_000) })?.name, `${"x".repeat(128)}\u2026`);
    t.equal(
      client({ name: `${"x".repeat(127)}\u{1f9ad}` })?.name,
      `${"x".repeat(127)}\ufffd\u2026`,
      "cut in two",
    );
    for (const info of [undefined, null, "x", [], {}, { name: 1, version: {} }])
      t.equal(client(info), undefined);
  },
);

t.test("what clients declare: names of the six things there are", async (t) => {
  t.same(auditDeclared(NOTHING), {});
  t.same(auditDeclared({ ...NOTHING, roots: true, form: true, samplingTools: true }), {
    declared: ["form", "samplingTools", "roots"],
  });
});

t.test("addresses, and nothing else in their place", async (t) => {
  for (const address of ["127.0.0.1", "::1", "fe80::1%eth0", "::ffff:192.0.2.7"])
    t.same(auditAddress(address), { address });
  for (const text of ["", "unknown", "SECRET", "192.0.2.7:80", `fe80::1%${"x".repeat(80)}`])
    t.same(auditAddress(text), { address: "(not an address)" }, text);
  t.same(auditAddress(undefined), {});
});

t.test("the verdict on replays", async (t) => {
  for (const [code, detail, verdict] of [
    ["already_redeemed", "already_redeemed", "already_redeemed"],
    ["outcome_unknown", "epoch_mismatch", "other_epoch"],
    ["store_unavailable", "timeout", "store_unavailable"],
    ["invalid_request_state", "expired", "expired"],
    ["invalid_request_state", "revoked", "revoked"],
  ] as const)
    t.equal(auditReplay(new Refusal(code, detail)), verdict);
});
