/**
 * Who has the other end of a connection, and with which client certificate: shown to our own listener, or to a proxy that ended TLS
 * and says so in a header. Each is judged for each request, by the authorities in force and the clock of now: a connection may
 * outlive both the certificate and the trust in whoever issued it. The peer is that of TCP, never what a header says.
 */
import type { Certificate } from "../certificates/certificate.ts";
import { DerError } from "../certificates/der.ts";
import { Authorities, type PathFault } from "../certificates/path.ts";
import { type Presented, readProxied } from "../certificates/proxied.ts";
import type { LoadedConfig } from "../config/load.ts";
import { compileNetworks } from "../config/networks.ts";
import { Refusal } from "../errors.ts";
import type { Headers } from "../headers.ts";
import { refuseMissing } from "../principal/bearer.ts";
import type { Peer } from "../principal/principal.ts";
import type { Handshake } from "./handshake.ts";
import { chainHeader, compileIdentityHeaders, type IdentityHeaders } from "./identity-headers.ts";

/** What is known of one request before anybody is asked who calls. */
export interface Arrival {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly headers: Headers;
  /** Of the peer of the connection. */
  readonly address: string;
  /** What the peer showed when the connection was made. */
  readonly handshake: Handshake | undefined;
  /** Of the route, for challenges. */
  readonly metadataUrl: string;
}

/** See the file's header. */
export class Peers {
  readonly #identityHeaders: IdentityHeaders;
  readonly #isProxy: (address: string) => boolean;
  readonly #own: Authorities | undefined;
  readonly #proxied: Authorities | undefined;
  readonly #header: NonNullable<LoadedConfig["config"]["authentication"]["clientCertificates"]>["header"];
  readonly #writesCertificate: (address: string) => boolean;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch. @throws DerError for authorities that `loadMaterial` would not have taken */
  constructor({ config, secrets }: LoadedConfig, now: () => number) {
    const { authentication } = config;
    const { clientCertificates, forwarded } = authentication;
    this.#identityHeaders = compileIdentityHeaders(authentication);
    this.#header = clientCertificates?.header;
    this.#writesCertificate = compileNetworks(this.#header?.from ?? []);
    this.#isProxy = compileNetworks([
      ...(this.#header?.from ?? []),
      ...(forwarded?.headers?.from ?? []),
      ...(forwarded?.assertion?.from ?? []),
    ]);
    const { clientCa, proxiedCa } = secrets;
    this.#own = clientCa && Authorities.read(clientCa);
    this.#proxied = proxiedCa && Authorities.read(proxiedCa);
    this.#now = now;
  }

  /** @throws Refusal `untrusted_header`, or `invalid_client_certificate` for any certificate that is there and not good */
  of({ rawHeaders, headers, address, handshake, metadataUrl }: Arrival): Peer {
    this.#identityHeaders.check(rawHeaders, address);
    try {
      return this.#withCertificates({ headers, address, handshake });
    } catch (error) {
      if (error instanceof CertificateRefused) throw refusalOf(error, metadataUrl);
      throw error;
    }
  }

  #withCertificates({ headers, address, handshake }: Omit<Arrival, "rawHeaders" | "metadataUrl">): Peer {
    const shown = handshake && this.#judgeHandshake(handshake);
    if (!this.#isProxy(address)) return shown === undefined ? { address } : { address, certificate: shown };
    const forwarded = this.#readHeader(headers, address);
    return {
      address,
      ...(shown === undefined ? {} : { proxyCertificate: shown }),
      ...(forwarded === undefined ? {} : { certificate: forwarded }),
    };
  }

  #judgeHandshake({ leaf, others, verified }: Handshake): Certificate {
    if (leaf === undefined || this.#own === undefined) throw new CertificateRefused("malformed", true);
    const fault = this.#own.judge(leaf, others, this.#now()) ?? (verified ? undefined : "handshake");
    if (fault !== undefined) throw new CertificateRefused(fault, true);
    return leaf;
  }

  #readHeader(headers: Headers, address: string): Certificate | undefined {
    if (this.#header === undefined || !this.#writesCertificate(address)) return undefined;
    const { name, format, verified } = this.#header;
    const value = headers.get(name) ?? "";
    // So a proxy says that its client has none.
    if (value === "") return undefined;
    const { leaf, others } = readOrRefuse(() => readProxied(format, value, headers.get(chainHeader(name))));
    const now = this.#now();
    if (verified === "byGateway") {
      const fault = this.#proxied === undefined ? "untrusted" : this.#proxied.judge(leaf, others, now);
      if (fault !== undefined) throw new CertificateRefused(fault);
    } else if (now < leaf.notBefore || now > leaf.notAfter) {
      // Also a proxy keeps connections for longer than a certificate lives.
      throw new CertificateRefused(now < leaf.notBefore ? "not_yet" : "expired");
    }
    return leaf;
  }
}

function readOrRefuse(read: () => Presented): Presented {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) throw new CertificateRefused("malformed");
    throw error;
  }
}

class CertificateRefused extends Error {
  readonly fault: PathFault | "malformed" | "handshake";
  /** Whether it is that of the connection. */
  readonly ofConnection: boolean;

  constructor(fault: PathFault | "malformed" | "handshake", ofConnection = false) {
    super(fault);
    this.fault = fault;
    this.ofConnection = ofConnection;
  }
}

/** There is no challenge for certificates (RFC 9110 section 11.6.1 wants one); that of tokens says where to read on. */
function refusalOf({ fault, ofConnection }: CertificateRefused, metadataUrl: string): Refusal {
  const { headers } = refuseMissing("certificate", { metadataUrl, scopes: [] });
  return new Refusal("invalid_client_certificate", `certificate_${fault}`, {
    // A new connection is judged anew, and may be good.
    headers: ofConnection ? { ...headers, connection: "close" } : headers,
  });
}
