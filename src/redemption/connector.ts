/**
 * How ioredis opens a link. Its own connector listens for one error per socket, and the second one (a TLS alert behind a
 * refused certificate) would end the process; this one listens as long as the socket lives.
 */
import { connect as connectTcp, type NetConnectOpts, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, type RedisOptions } from "ioredis";

/** See the file's header. Made by ioredis from the options of the connection. */
export class LinkConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    const given = options as RedisOptions;
    super(given.disconnectTimeout ?? 0);
    this.#options = given;
  }

  /** A socket that is connecting. Rejects when the link was given up meanwhile, or the options are of no use. */
  override async connect(): Promise<Socket> {
    this.connecting = true;
    await Promise.resolve();
    if (!this.connecting) throw new Error("Connection is closed.");
    const { host, port, tls } = this.#options;
    const place = { host, port } as NetConnectOpts;
    const stream = tls === undefined ? connectTcp(place) : connectTls({ ...place, ...tls });
    stream.once("error", (error) => {
      this.firstError = error;
    });
    stream.on("error", () => undefined);
    this.stream = stream;
    return stream;
  }
}
