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
}

/** Starts a relay to a port of loopback; it ends at teardown. */
export async function startRelay(t: { teardown(run: () => unknown): void }, target: number): Promise<Relay> {
  const links = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(relay.target, "127.0.0.1");
    let losing = false;
    const reset = () => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    links.add(client);
    client.on("close", () => links.delete(client) && upstream.destroy());
    client.on("error", () => upstream.destroy());
    upstream.on("error", reset);
    upstream.on("close", () => client.destroy());
    client.on("data", (chunk) => {
      const fate = relay.fate(chunk.toString("latin1"));
      if (fate === "lose") return reset();
      losing ||= fate === "lose-reply";
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => (losing ? reset() : client.write(chunk)));
  });
  const relay: Relay = {
    port: 0,
    target,
    fate: () => "pass",
    cut: () => {
      for (const link of links) link.resetAndDestroy();
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    relay.cut();
    server.close();
  });
  return Object.assign(relay, { port: (server.address() as AddressInfo).port });
}
