/**
 * TLS of the listener for clients: what it is opened with, and what a client showed while the connection was made. A client is asked
 * for a certificate and may have none, so that one listener serves both; one that is shown and not good is still remembered, to be
 * refused for each request that comes. Source: RFC 8446 sections 4.3.2 and 4.4.2.
 */
import { constants, type X509Certificate } from "node:crypto";
import type { TLSSocket, TlsOptions } from "node:tls";
import { type Certificate, readCertificate } from "../certificates/certificate.ts";
import { DerError } from "../certificates/der.ts";
import { MAX_PRESENTED } from "../certificates/path.ts";

/** What the listener speaks TLS with. */
export interface ListenerTls {
  /** PEM. */
  readonly cert: Buffer;
  readonly key: Buffer;
  /** PEM of the authorities of clients; without it nobody is asked for a certificate. */
  readonly clientCa?: Buffer | undefined;
}

/** The certificate that a client showed, as it was judged then. */
export interface Handshake {
  /** Undefined for one that cannot be read. */
  readonly leaf: Certificate | undefined;
  /** What else came with it, or was found to belong to it. */
  readonly others: readonly Certificate[];
  /** By OpenSSL, the authorities of that moment and the system's clock. */
  readonly verified: boolean;
}

/** Options of the server; also what takes the place of its certificates later. */
export function tlsOptions({ cert, key, clientCa }: ListenerTls): TlsOptions {
  const options = { cert, key, minVersion: "TLSv1.2" } as const;
  // Who renegotiates may become somebody else in the middle of a connection.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  if (clientCa === undefined) return { ...options, secureOptions };
  return {
    ...options,
    // A resumed session would bring a verdict of long ago, and no chain that it could be judged by again.
    secureOptions: secureOptions | constants.SSL_OP_NO_TICKET,
    ca: clientCa,
    requestCert: true,
    rejectUnauthorized: false,
  };
}

/** What a client showed; undefined for nothing. To be asked once, when the connection is made. */
export function readHandshake(socket: TLSSocket): Handshake | undefined {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return undefined;
  const others: Certificate[] = [];
  let last: X509Certificate | undefined = shown;
  while (others.length < MAX_PRESENTED) {
    last = last?.issuerCertificate;
    const certificate = last && readable(last);
    if (certificate === undefined || others.some(({ raw }) => raw.equals(certificate.raw))) break;
    others.push(certificate);
  }
  return { leaf: readable(shown), others, verified: socket.authorized && !socket.isSessionReused() };
}

function readable({ raw }: X509Certificate): Certificate | undefined {
  try {
    return readCertificate(raw);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}
