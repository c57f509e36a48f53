/**
 * How ioredis opens a link. Its own connector listens for one error per socket, and the second one (a TLS alert behind a
 * refused certificate) would end the process; this one listens as long as the socket lives, and it asks anew for each
 * link where the server is.
 */
import { connect as connectTcp, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector } from "ioredis";
import { type Address, type TlsTrust, tlsOptions } from "./target.ts";

/** Where the next link goes; a rejection counts as a link that failed. */
export type Locate = () => Address | Promise<Address>;

/** Makes the class that ioredis makes its connector of. */
export function linkConnector(locate: Locate, tls: TlsTrust | undefined) {
  return class LinkConnector extends AbstractConnector {
    constructor(options: unknown) {
      super((options as { readonly disconnectTimeout?: number }).disconnectTimeout ?? 0);
    }

    /** A socket that is connecting, or has failed already. Rejects when the link was given up meanwhile. */
    override async connect(): Promise<Socket> {
      this.connecting = true;
      const stream = await Promise.resolve().then(locate).then(open).catch(failed);
      if (!this.connecting) {
        stream.destroy();
        throw new Error("Connection is closed.");
      }
      // One that has failed already says so to nobody any more.
      if (stream.errored !== null) this.firstError = stream.errored;
      stream.once("error", (error) => {
        this.firstError = error;
      });
      stream.on("error", () => undefined);
      this.stream = stream;
      return stream;
    }
  };

  function open({ host, port }: Address): Socket {
    return tls === undefined
      ? connectTcp({ host, port })
      : connectTls({ host, port, ...tlsOptions(host, tls) });
  }
}

/** ioredis tries again after a socket that failed, and gives up after a connector that did. */
function failed(error: unknown): Socket {
  const stream = new Socket();
  stream.on("error", () => undefined);
  stream.destroy(error instanceof Error ? error : new Error("the server could not be found"));
  return stream;
}
