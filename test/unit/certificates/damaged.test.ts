/** Certificates with bytes that were changed: read as something else, refused, or unreadable; never taken, and never an error of ours. */
import { X509Certificate } from "node:crypto";
import t from "tap";
import { readCertificate } from "../../../src/certificates/certificate.ts";
import { DerError } from "../../../src/certificates/der.ts";
import { printName } from "../../../src/certificates/names.ts";
import { Authorities } from "../../../src/certificates/path.ts";
import { readProxied } from "../../../src/certificates/proxied.ts";
import { createAuthority, hasOpenssl } from "../../support/certificates.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const NOW = Date.parse("2026-11-30T12:00:00Z");

/** Runs what may refuse; anything but a refusal is passed on. */
function refusing<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

t.test("each byte of a certificate, in five other values", { skip }, async (t) => {
  const root = await createAuthority(t, { subject: "/CN=root" });
  const authorities = Authorities.read(Buffer.from(root.cert));
  const leaf = await root.issue({ subject: "/CN=a/OU=b", names: ["URI:spiffe://td/a", "DNS:a"] });
  const { raw } = new X509Certificate(leaf.cert);
  let readable = 0;
  let taken = 0;
  for (let at = 0; at < raw.length; at++) {
    for (const change of [0x01, 0x80, 0x20, 0xff, 0x7f]) {
      const damaged = Buffer.from(raw);
      damaged[at] = (damaged[at] ?? 0) ^ change;
      const certificate = refusing(() => readCertificate(damaged));
      if (certificate === undefined) continue;
      readable += 1;
      printName(certificate.subject);
      if (authorities.judge(certificate, [certificate], NOW) === undefined) taken += 1;
    }
  }
  t.ok(readable > 100, `${readable} could be read`);
  t.equal(taken, 0);
  t.equal(authorities.judge(readCertificate(raw), [], NOW), undefined);
});

t.test("headers that are cut, doubled, or huge", { skip }, async (t) => {
  const root = await createAuthority(t);
  const leaf = await root.issue();
  const { raw } = new X509Certificate(leaf.cert);
  const escaped = encodeURIComponent(leaf.cert);
  const whole = {
    rfc9440: `:${raw.toString("base64")}:`,
    nginx: escaped,
    envoy: `By=a;Cert="${escaped}";Chain="${escaped}"`,
  } as const;
  for (const format of ["rfc9440", "nginx", "envoy"] as const) {
    const value = whole[format];
    t.ok(readProxied(format, value, undefined), format);
    const cut = Array.from({ length: value.length - 1 }, (_, length) => value.slice(0, length));
    const read = cut.filter((text) => refusing(() => readProxied(format, text, undefined)) !== undefined);
    // PEM is whole without its last line end, Envoy's element without what follows the certificate.
    const end = { rfc9440: undefined, nginx: "-----", envoy: '"' }[format];
    t.ok(
      read.every((text) => end !== undefined && text.endsWith(end)),
      `${format}: cut`,
    );
    for (const text of ["a=", 'a="\\a', "%41", "A=b;", "%2", ":", ",", '"', ";"]) {
      const long = text.repeat(48_000 / text.length);
      t.equal(
        refusing(() => readProxied(format, long, long)),
        undefined,
        `${format}: ${text}`,
      );
    }
  }
});
