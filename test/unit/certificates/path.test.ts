import { X509Certificate } from "node:crypto";
import t from "tap";
import { readCertificate } from "../../../src/certificates/certificate.ts";
import { DerError } from "../../../src/certificates/der.ts";
import { Authorities } from "../../../src/certificates/path.ts";
import { readPem } from "../../../src/certificates/pem.ts";
import { type Authority, type Certificate, createAuthority, hasOpenssl } from "../../support/certificates.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const NOW = Date.parse("2026-11-30T12:00:00Z");

const read = ({ cert }: Certificate) => readCertificate(new X509Certificate(cert).raw);
const authoritiesOf = (...certificates: readonly Certificate[]) =>
  Authorities.read(Buffer.from(certificates.map(({ cert }) => cert).join("")));

t.test("a path", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  const authorities = authoritiesOf(root);
  const judge = async (
    issuer: Authority,
    options: object = {},
    others: readonly Certificate[] = [],
    now = NOW,
  ) => authorities.judge(read(await issuer.issue(options)), others.map(read), now);

  t.equal(await judge(root), undefined);
  t.equal(await judge(root, { usage: undefined }), undefined, "no extended key usage is any");
  t.equal(await judge(root, { usage: "serverAuth,clientAuth" }), undefined);
  t.equal(await judge(root, { usage: "serverAuth" }), "purpose");
  t.equal(await judge(root, { usage: "anyExtendedKeyUsage" }), "purpose");
  t.equal(await judge(root, { extensions: ["keyUsage=digitalSignature"] }), undefined);
  t.equal(await judge(root, { extensions: ["keyUsage=keyAgreement"] }), undefined);
  t.equal(await judge(root, { extensions: ["keyUsage=cRLSign"] }), "purpose");
  t.equal(await judge(root, { extensions: ["nameConstraints=permitted;DNS:a.example"] }), "constraint");
  t.equal(await judge(root, { extensions: ["1.2.3=critical,DER:0500"] }), "constraint");
  t.equal(
    await judge(root, { extensions: ["1.2.3=DER:0500"] }),
    undefined,
    "what is not critical may be passed over",
  );
  t.equal(await judge(root, { digest: "sha1" }), "weak");
  const weak = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"];
  t.equal(await judge(root, { key: weak }), "weak");
  t.equal(await judge(root, { key: ["-algorithm", "ED25519"] }), undefined);
  t.equal(authorities.judge(read(root), [], NOW), "authority");

  const leaf = read(await root.issue({ notBefore: "20260101000000Z", notAfter: "20261231235959Z" }));
  const [first, last] = [Date.parse("2026-01-01T00:00:00Z"), Date.parse("2026-12-31T23:59:59.999Z")];
  t.equal(authorities.judge(leaf, [], first - 1), "not_yet");
  t.equal(authorities.judge(leaf, [], first), undefined);
  t.equal(authorities.judge(leaf, [], last), undefined);
  t.equal(authorities.judge(leaf, [], last + 1), "expired");

  const between = await root.below({ notAfter: "20261201000000Z" });
  const below = read(await between.issue());
  t.equal(authorities.judge(below, [], NOW), "untrusted", "what was not presented");
  t.equal(authorities.judge(below, [read(between)], NOW), undefined);
  t.equal(
    authorities.judge(below, [read(between)], Date.parse("2026-12-02")),
    "untrusted",
    "though it was found before",
  );
  t.equal(authorities.judge(below, [read(between)], NOW), undefined, "and the other way");
  t.equal(
    await judge(await root.below({ usage: "serverAuth" }), {}, [await root.below({ usage: "serverAuth" })]),
    "untrusted",
  );
});

t.test("what an authority in between must be", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  const authorities = authoritiesOf(root);
  const across = async (options: object) => {
    const between = await root.below(options);
    return authorities.judge(read(await between.issue()), [read(between)], NOW);
  };
  t.equal(await across({}), undefined);
  t.equal(await across({ usage: "serverAuth" }), "untrusted");
  t.equal(await across({ usage: "clientAuth" }), undefined);
  t.equal(await across({ notBefore: "20300101000000Z" }), "untrusted");
  t.equal(await across({ extensions: ["nameConstraints=critical,permitted;DNS:a.example"] }), "untrusted");
  t.equal(await across({ extensions: ["basicConstraints=CA:FALSE"] }), "untrusted");
  t.equal(
    await across({ extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=digitalSignature"] }),
    "untrusted",
  );
  t.equal(await across({ digest: "sha1" }), "untrusted");

  const zero = await root.below({ extensions: ["basicConstraints=critical,CA:TRUE,pathlen:0"] });
  const under = await zero.below();
  t.equal(authorities.judge(read(await zero.issue()), [read(zero)], NOW), undefined);
  t.equal(authorities.judge(read(await under.issue()), [under, zero].map(read), NOW), "untrusted");

  let deep: Authority = root;
  const chain: Certificate[] = [];
  for (let depth = 0; depth < 6; depth++) {
    deep = await deep.below();
    chain.push(deep);
    const expected = depth < 5 ? undefined : "untrusted";
    t.equal(
      authorities.judge(read(await deep.issue()), chain.map(read), NOW),
      expected,
      `${depth + 1} in between`,
    );
  }
  // Of the same name, and of the same name and key but self-signed.
  const twin = await createAuthority(t, { subject: "/CN=root" });
  t.equal(authorities.judge(read(await twin.issue()), [read(twin)], NOW), "untrusted");
  t.equal(
    authoritiesOf(twin, root).judge(read(await root.issue()), [], NOW),
    undefined,
    "one of two with one name",
  );
});

t.test("many issuers of one name cost so much and no more", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  // Without key identifiers only signatures tell them apart.
  const extensions = ["subjectKeyIdentifier=none", "authorityKeyIdentifier=none"];
  const leaf = read(await root.issue({ extensions }));
  const others = await Promise.all(
    Array.from({ length: 30 }, () => createAuthority(t, { subject: "/CN=root" })),
  );
  t.equal(authoritiesOf(root).judge(leaf, others.map(read), NOW), undefined);
  const strange = read(await (others[29] as Authority).issue({ extensions }));
  t.equal(authoritiesOf(root).judge(strange, others.map(read), NOW), "untrusted", "only a few are looked at");
  t.equal(authoritiesOf(...others).judge(strange, [], NOW), "untrusted", "and no more of the bundle");
  t.equal(authoritiesOf(...others.toReversed()).judge(strange, [], NOW), undefined);
});

t.test("bundles", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  const between = await root.below();
  const leaf = await between.issue();
  const authorities = authoritiesOf(between, root);
  t.equal(authorities.judge(read(leaf), [], NOW), undefined, "what is in between may stand in the bundle");
  t.equal(authorities.expires, Date.parse("2099-12-31T23:59:59.999Z"));
  const explained = `clients of ours\n${root.cert}\nand more\n`;
  t.ok(Authorities.read(Buffer.from(explained)));
  const bound = await root.below({ extensions: ["nameConstraints=critical,permitted;DNS:a.example"] });
  for (const [what, text] of Object.entries({
    "no certificate": "nothing",
    "no anchor": between.cert,
    "no authority": root.cert + leaf.cert,
    constraints: root.cert + bound.cert,
    "a private key": root.cert + root.key,
    "a certificate that is cut off": root.cert.slice(0, -40),
    "another spelling of base64": root.cert.replace(/=*\n-----END/, "A\n-----END"),
  })) {
    t.throws(() => Authorities.read(Buffer.from(text)), DerError, what);
  }
  t.equal(readPem(root.cert, "value").length, 1);
  for (const text of [`a${root.cert}`, `${root.cert}a`, ` ${root.cert}`, ""]) {
    t.throws(() => readPem(text, "value"), DerError);
  }
});

t.test("certificates that are read otherwise by others are not read at all", { skip }, async (t) => {
  const root = await createAuthority(t);
  const raw = new X509Certificate((await root.issue({ names: ["DNS:a"] })).cert).raw;
  t.ok(readCertificate(raw));
  t.throws(() => readCertificate(Buffer.concat([raw, Buffer.from([0])])), DerError, "bytes behind it");
  t.throws(() => readCertificate(raw.subarray(0, -1)), DerError);
  t.throws(() => readCertificate(Buffer.alloc(20_000)), DerError);
  const two = new X509Certificate(
    (await root.issue({ extensions: ["1.2.3=DER:0500", "1.2.4=DER:0500"] })).cert,
  ).raw;
  const at = two.indexOf(Buffer.from("06022a04", "hex"));
  t.ok(readCertificate(two));
  two[at + 3] = 3;
  t.ok(new X509Certificate(two), "OpenSSL reads it");
  t.throws(() => readCertificate(two), DerError, "an extension that stands twice");
  // 86 0e "spiffe://td/\0b"
  const nul = await root.issue({ names: ["DER:3010860E7370696666653A2F2F74642F0062"] });
  t.throws(() => read(nul), DerError, "a NUL in a URI");
});
