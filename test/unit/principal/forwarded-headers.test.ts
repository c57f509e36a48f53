import t from "tap";
import { createForwardedHeaders } from "../../../src/principal/forwarded-headers.ts";
import { presented } from "../../support/presented.ts";

const TERMS = {
  issuer: "front",
  from: ["192.0.2.0/24"],
  user: "x-user",
  groups: "x-groups",
  client: "x-client",
};
const from = (address: string, headers: Record<string, string>) => presented(headers, { peer: { address } });

t.test("who may write them, asked here once more", async (t) => {
  const headers = createForwardedHeaders(TERMS);
  t.match(headers.read(from("192.0.2.7", { "x-user": "a" })), {
    kind: "forwarded",
    principal: { subject: "a" },
  });
  for (const address of ["192.0.3.1", "", "::1", "127.0.0.1"]) {
    t.throws(
      () => headers.read(from(address, { "x-user": "a" })),
      { message: "forwarded_untrusted" },
      address,
    );
  }
});

t.test("what is said, and what is not", async (t) => {
  const { claims, read } = createForwardedHeaders(TERMS);
  const of = (headers: Record<string, string>) => read(from("192.0.2.7", headers)).principal;
  t.equal(claims(from("192.0.2.7", {})), false);
  t.equal(claims(from("192.0.2.7", { "x-user": "" })), false);
  t.equal(claims(from("192.0.2.7", { "x-groups": "a" })), true);
  t.same(of({ "x-user": "a", "x-groups": "", "x-client": "" }), {
    ...{ anonymous: false, issuer: "front", subject: "a", groups: [], scopes: [] },
  });
  t.match(of({ "x-user": "a", "x-groups": " ops ,, dev,ops ", "x-client": "app" }), {
    client: "app",
    groups: ["ops", "dev"],
  });
  t.match(of({ "x-user": "a, b" }), { subject: "a, b" }, "one value is one user");
  const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  t.match(of({ "x-user": utf8("Zoë") }), { subject: "Zoë" });
  t.not(of({ "x-user": utf8("Zoë") }).subject, of({ "x-user": utf8("Zoe\u0308") }).subject, "byte for byte");
  for (const value of ["Zo\xeb", "a\x01", "a\x7f", utf8("a\u0085"), "a".repeat(1_025)]) {
    t.throws(() => of({ "x-user": value }), { message: "forwarded_value" });
    t.throws(() => of({ "x-user": "a", "x-client": value }), { message: "forwarded_value" });
  }
  t.throws(() => of({ "x-user": "a", "x-groups": "a".repeat(16 * 1024 + 1) }), {
    message: "forwarded_value",
  });
  t.throws(() => of({ "x-groups": "ops" }), { message: "forwarded_no_user" });
});
