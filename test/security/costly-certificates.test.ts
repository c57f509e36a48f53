/** Certificates that are made to be slow to judge: anybody can present them, and everybody waits. What is slow is not begun. */
import { X509Certificate } from "node:crypto";
import t from "tap";
import { readCertificate } from "../../src/certificates/certificate.ts";
import { DerError, readDer, readOid } from "../../src/certificates/der.ts";
import { Authorities } from "../../src/certificates/path.ts";
import { type Certificate, createAuthority, hasOpenssl } from "../support/certificates.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const NOW = Date.parse("2026-11-30T12:00:00Z");

const read = ({ cert }: Certificate) => readCertificate(new X509Certificate(cert).raw);
const authoritiesOf = (...certificates: readonly Certificate[]) =>
  Authorities.read(Buffer.from(certificates.map(({ cert }) => cert).join("")));
const rsa = (bits: number, exponent = "65537") => [
  ...["-algorithm", "RSA", "-pkeyopt", `rsa_keygen_bits:${bits}`],
  ...["-pkeyopt", `rsa_keygen_pubexp:${exponent}`],
];
const curve = (name: string) => ["-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${name}`];

t.test("no signature is checked with a slow key that was presented", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  for (const [what, key, slow] of [
    ["an exponent of 33 bits", rsa(2_048, "4294967297"), true],
    ["an exponent as long as the modulus", rsa(2_048, (2n ** 2_000n + 1n).toString()), true],
    ["a modulus of 5120 bits", rsa(5_120), true],
    ["a binary curve", curve("sect571r1"), true],
    ["P-521", curve("P-521"), false],
    ["RSA of 4096 bits", rsa(4_096), false],
    ["Ed25519", ["-algorithm", "ED25519"], false],
  ] as const) {
    const between = await root.below({ key });
    const leaf = read(await between.issue());
    const presented = authoritiesOf(root).judge(leaf, [read(between)], NOW);
    t.equal(presented, slow ? "untrusted" : undefined, what);
    t.equal(authoritiesOf(root, between).judge(leaf, [], NOW), undefined, `${what}, of the operator's own`);
  }
});

t.test("an object identifier that is as long as a certificate is none", async (t) => {
  const oid = (bytes: number) => {
    const contents = Buffer.alloc(bytes, 0xff);
    contents[0] = 0x2a;
    contents[bytes - 1] = 0x7f;
    const length = bytes < 128 ? [bytes] : [0x82, bytes >> 8, bytes & 255];
    return readDer(Buffer.concat([Buffer.from([0x06, ...length]), contents]));
  };
  t.throws(() => readOid(oid(15_500)), DerError);
  t.throws(() => readOid(oid(65)), DerError);
  t.match(readOid(oid(64)), /^1\.2\.\d+$/);
});
