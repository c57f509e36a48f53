/**
 * The headers in which proxies say who is calling, judged on the raw list before anybody reads them. From a peer that is not listed
 * such a header is refused, and so is one that stands twice or in a spelling that others read as the same name: whoever passed it
 * on may have written one and overlooked the other. So is a request that has one taken out, by its name in `Connection`. A refusal
 * is seen where a header that is dropped is not.
 */
import { compileNetworks } from "../config/networks.ts";
import type { Config } from "../config/schema.ts";
import { Refusal } from "../errors.ts";

/** A header, and whose word it is. */
interface Entry {
  readonly name: string;
  readonly isListed: (address: string) => boolean;
}

/** See the file's header. */
export interface IdentityHeaders {
  /**
   * @param raw names and values in turn, as they came
   * @param address of the peer of the connection
   * @throws Refusal `untrusted_header`
   */
  check(raw: readonly string[], address: string): void;
}

/** CGI and its heirs read `_` as `-`; whatever else may stand in a name is taken for it as well. */
const folded = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "-");

/** The name of the header with the rest of the chain (RFC 9440 section 2.3). */
export const chainHeader = (name: string): string => `${name}-chain`;

const ANYBODY = (): boolean => true;

/** @param authentication resolved; its names are in lower case, without `_` */
export function compileIdentityHeaders(authentication: Config["authentication"]): IdentityHeaders {
  const entries = new Map<string, Entry>();
  const add = (names: readonly (string | undefined)[], from: readonly string[] | undefined): void => {
    const isListed = from === undefined ? ANYBODY : compileNetworks(from);
    for (const name of names) if (name !== undefined) entries.set(name, { name, isListed });
  };
  const certificate = authentication.clientCertificates?.header;
  const { assertion, headers } = authentication.forwarded ?? {};
  if (assertion !== undefined) add([assertion.header], assertion.from);
  if (headers !== undefined)
    add([headers.user, headers.client, headers.tenant, headers.groups], headers.from);
  if (certificate !== undefined) {
    const { name, format } = certificate;
    add([name, format === "rfc9440" ? chainHeader(name) : undefined], certificate.from);
  }
  return {
    check(raw, address) {
      if (entries.size === 0) return;
      const seen = new Set<string>();
      const refuse = ({ name }: Entry, detail: string): never => {
        throw new Refusal("untrusted_header", detail, { data: { header: name } });
      };
      for (let at = 0; at < raw.length; at += 2) {
        const given = raw[at] ?? "";
        // Whoever is asked to take such a header out may have done so already, on the way here.
        if (given.toLowerCase() === "connection") {
          for (const option of (raw[at + 1] ?? "").split(",")) {
            const named = entries.get(folded(option.trim()));
            if (named !== undefined) refuse(named, "connection_names_header");
          }
        }
        const entry = entries.get(folded(given));
        if (entry === undefined) continue;
        if (!entry.isListed(address)) refuse(entry, "peer");
        if (given.toLowerCase() !== entry.name) refuse(entry, "spelling");
        if (seen.has(entry.name)) refuse(entry, "repeated_header");
        seen.add(entry.name);
      }
    },
  };
}
