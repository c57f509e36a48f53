/**
 * Callers who are known by a client certificate. Whether the certificate is good was judged before (http/peers.ts); this says whose
 * it is: by exactly one name in it, byte for byte. Several names that fit are a choice, and nobody makes it.
 */
import type { Certificate } from "../certificates/certificate.ts";
import { commonNames, organizationalUnits, printName, type SanKind } from "../certificates/names.ts";
import type { CERTIFICATE_SUBJECTS } from "../config/identity-settings.ts";
import type { Config } from "../config/schema.ts";
import { compileGlob } from "../glob.ts";
import { type CredentialAuthenticator, CredentialFault, type Identity } from "./credential.ts";

/** Which name of a certificate is the subject (`clientCertificates.subject`). */
export type CertificateSubject = (typeof CERTIFICATE_SUBJECTS)[number];
type Terms = NonNullable<Config["authentication"]["clientCertificates"]>;

/** Why a good certificate is nobody's here; one word for audit. */
export type NameFault =
  | "certificate_no_name"
  | "certificate_names"
  | "certificate_trust_domain"
  | "certificate_groups";

/** SPIFFE ID section 2: no query, fragment, port or user; segments that are not empty, nor dots. */
const SPIFFE_ID = /^spiffe:\/\/([a-z0-9._-]{1,255})((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+)$/;

/** Builds the authenticator of client certificates. */
export function createCertificateAuthenticator(terms: Terms): CredentialAuthenticator {
  const fits = compileGlob(terms.pattern ?? "*");
  return {
    kind: "certificate",
    claims: ({ presented }) => presented.peer.certificate !== undefined,
    authenticate({ presented }): Identity {
      const { certificate } = presented.peer;
      if (certificate === undefined) throw new CredentialFault("certificate_no_name");
      const subject = subjectOf(certificate, terms, fits);
      if (!subject.ok) throw new CredentialFault(subject.fault);
      const principal = Object.freeze({
        anonymous: false,
        issuer: terms.issuer,
        subject: subject.name,
        groups: Object.freeze(groupsOf(certificate, terms)),
        scopes: Object.freeze([]),
      });
      return Object.freeze({ principal, kind: "certificate" });
    },
    available: () => true,
  };
}

/**
 * The one name of a certificate.
 * @param fits says which names count; with a trust domain there must be one URI in all, and it has to fit
 */
export function subjectOf(
  certificate: Certificate,
  { subject, trustDomain }: Pick<Terms, "subject" | "trustDomain">,
  fits: (name: string) => boolean,
): { readonly ok: true; readonly name: string } | { readonly ok: false; readonly fault: NameFault } {
  const names = namesOf(certificate, subject);
  if (trustDomain !== undefined) {
    // X.509-SVID section 5.2: exactly one URI.
    if (names.length > 1) return { ok: false, fault: "certificate_names" };
    if (names[0] !== undefined && SPIFFE_ID.exec(names[0])?.[1] !== trustDomain) {
      return { ok: false, fault: "certificate_trust_domain" };
    }
  }
  const [name, ...more] = names.filter(fits);
  if (name === undefined) return { ok: false, fault: "certificate_no_name" };
  return more.length > 0 ? { ok: false, fault: "certificate_names" } : { ok: true, name };
}

function namesOf(certificate: Certificate, subject: CertificateSubject): readonly string[] {
  if (subject === "subject.cn") return commonNames(certificate.subject) ?? [];
  if (subject === "subject") {
    const name = printName(certificate.subject);
    return name === undefined ? [] : [name];
  }
  const names = certificate.altNames[subject.slice("san.".length) as SanKind];
  // A wildcard is many hosts, and so nobody.
  return subject === "san.dns" ? names.filter((name) => !name.includes("*")) : names;
}

/** A unit that cannot be read would be a group that a deny does not see. */
function groupsOf(certificate: Certificate, { groups }: Terms): string[] {
  if (groups === undefined) return [];
  const units = organizationalUnits(certificate.subject);
  if (units === undefined) throw new CredentialFault("certificate_groups");
  return [...new Set(units)];
}
