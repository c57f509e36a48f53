/** Where the demo's parts listen: at the addresses of the configuration, or at free ports when another process has those. */
import { createServer, type Server } from "node:net";

/** A host and a port to listen on. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Fail when the port is taken, where others were told that it is this one. */
  readonly exact?: boolean;
}

/**
 * Makes a server listen at `wanted`, or on a free port of the same host when that one is taken and need not be that one.
 * @returns the port it got
 * @throws Error for any other failure to listen
 */
export async function listenNear(server: Server, wanted: Address): Promise<number> {
  try {
    return await listen(server, wanted);
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!taken || wanted.exact === true) throw error;
    return listen(server, { ...wanted, port: 0 });
  }
}

/** A port that can be listened on now: that of `wanted` if it is free. For what must know its port before it listens. */
export async function freePort(wanted: Address): Promise<number> {
  const probe = createServer();
  const port = await listenNear(probe, wanted);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function listen(server: Server, { host, port }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
