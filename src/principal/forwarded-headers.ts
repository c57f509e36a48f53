/**
 * Plain headers of a trusted proxy that has asked the caller itself. They are as good as the network: from any other peer they are
 * refused before they are read (http/peers.ts), and here once more. Pure.
 */
import { isUtf8 } from "node:buffer";
import { compileNetworks } from "../config/networks.ts";
import type { Config } from "../config/schema.ts";
import { compileGlobs } from "../glob.ts";
import { subjectOf } from "./client-certificate.ts";
import { CredentialFault, type Identity } from "./credential.ts";
import type { Presented } from "./principal.ts";

type Terms = NonNullable<NonNullable<Config["authentication"]["forwarded"]>["headers"]>;

const MAX_VALUE = 1_024;
const MAX_GROUPS = 16 * 1_024;

/** Reads what a proxy says of its caller. */
export interface ForwardedHeaders {
  /** Whether the request carries such a header that is not empty. A proxy sends an empty one for a caller it does not know. */
  claims(presented: Presented): boolean;
  /** @throws CredentialFault */
  read(presented: Presented): Identity;
}

/** A reader of the headers that `authentication.forwarded.headers` names. */
export function createForwardedHeaders(terms: Terms): ForwardedHeaders {
  const isListed = compileNetworks(terms.from);
  const isProxy = compileGlobs(terms.proxyCertificate?.names ?? []);
  const names = [terms.user, terms.client, terms.tenant, terms.groups].filter((name) => name !== undefined);
  return {
    claims: ({ headers }) => names.some((name) => (headers.get(name) ?? "") !== ""),
    read({ headers, peer }) {
      if (!isListed(peer.address)) throw new CredentialFault("forwarded_untrusted");
      if (terms.proxyCertificate !== undefined) {
        const { proxyCertificate: certificate } = peer;
        const proxy =
          certificate && subjectOf(certificate, { subject: terms.proxyCertificate.subject }, isProxy);
        if (proxy?.ok !== true) throw new CredentialFault("forwarded_proxy_certificate");
      }
      const read = (name: string | undefined, most: number): string | undefined =>
        name === undefined ? undefined : textOf(headers.get(name), most);
      const subject = read(terms.user, MAX_VALUE);
      if (subject === undefined) throw new CredentialFault("forwarded_no_user");
      const client = read(terms.client, MAX_VALUE);
      const tenant = read(terms.tenant, MAX_VALUE);
      const principal = Object.freeze({
        anonymous: false,
        issuer: terms.issuer,
        subject,
        ...(client === undefined ? {} : { client }),
        ...(tenant === undefined ? {} : { tenant }),
        groups: Object.freeze(groupsOf(read(terms.groups, MAX_GROUPS))),
        scopes: Object.freeze([]),
      });
      return Object.freeze({ principal, kind: "forwarded" });
    },
  };
}

/** A value as text: headers come as bytes, and those have to be UTF-8. Empty is absent. */
function textOf(value: string | undefined, most: number): string | undefined {
  if (value === undefined || value === "") return undefined;
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  if (bytes.length > most || !isUtf8(bytes) || !/^[^\p{Cc}]+$/u.test(text)) {
    throw new CredentialFault("forwarded_value");
  }
  return text;
}

function groupsOf(value: string | undefined): string[] {
  if (value === undefined) return [];
  const groups = value.split(",").map((group) => group.trim());
  return [...new Set(groups.filter((group) => group !== ""))];
}
