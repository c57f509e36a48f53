/** A TCP relay on loopback that a test can make misbehave: the network between a gateway and its store. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * What to do with bytes from the client: pass them on; swallow them and reset the link; or pass them on, wait for the
 * first byte of the reply, and reset the link in its place.
 */
export type Fate = "pass" | "lose" | "lose-reply";

/** A running relay. */
export interface Relay {
  readonly port: number;
  /** Decides on each chunk from a client; `pass` unless a test sets another. */
  fate: (chunk: string) => Fate;
  /** Sends connections made from now on to another port of loopback. */
  target: number;
  /** Resets every link. */
  cut(): void;
  /** Leads every link, and those to come, to another port, without the client's noticing. */
  swap(port: number): void;
}

/** Starts a relay to a port of loopback; it ends at teardown. */
export async function startRelay(t: { teardown(run: () => unknown): void }, target: number): Promise<Relay> {
  const links = new Set<Socket>();
  const swaps = new Set<() => void>();
  const server = createServer((client) => {
    let losing = false;
    const open = (): Socket => {
      const socket = connect(relay.target, "127.0.0.1");
      socket.on("error", () => socket === upstream && reset());
      socket.on("close", () => socket === upstream && client.destroy());
      socket.on("data", (chunk) => (losing ? reset() : client.write(chunk)));
      return socket;
    };
    let upstream = open();
    const reset = () => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    const swap = () => {
      const old = upstream;
      upstream = open();
      old.destroy();
    };
    links.add(client);
    swaps.add(swap);
    client.on("close", () => links.delete(client) && swaps.delete(swap) && upstream.destroy());
    client.on("error", () => upstream.destroy());
    client.on("data", (chunk) => {
      const fate = relay.fate(chunk.toString("latin1"));
      if (fate === "lose") return reset();
      losing ||= fate === "lose-reply";
      upstream.write(chunk);
    });
  });
  const relay: Relay = {
    port: 0,
    target,
    fate: () => "pass",
    cut: () => {
      for (const link of links) link.resetAndDestroy();
    },
    swap: (port) => {
      relay.target = port;
      for (const swap of swaps) swap();
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    relay.cut();
    server.close();
  });
  return Object.assign(relay, { port: (server.address() as AddressInfo).port });
}
