/** Network namespaces for tests: machines of their own as far as the network goes, joined by virtual cables. Linux, as root. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { program } from "./debian.ts";

const run = promisify(execFile);
let made = 0;

/** Network namespaces, made by name. */
export interface Networks {
  /** Makes a namespace with nothing but loopback. */
  machine(): Promise<string>;
  /** Joins two namespaces by a network of their own; an address with its prefix length for each end, and an IPv6 one if given. */
  join(a: readonly [string, ...string[]], b: readonly [string, ...string[]]): Promise<void>;
  /** What to put before a command to run it there. */
  inside(name: string): readonly [string, ...string[]];
}

/** Whether this kernel and user can have them: undefined, or why not. */
export async function noNetworks(): Promise<string | undefined> {
  if (process.platform !== "linux") return "needs Linux for network namespaces";
  if (process.getuid?.() !== 0) return "needs root for network namespaces";
  const ip = await program("ip", { debian: "iproute2" });
  const name = `sg-${process.pid}-try`;
  try {
    await run(ip, ["netns", "add", name]);
    await run(ip, ["-n", name, "link", "add", "name", "sg-a", "type", "veth", "peer", "name", "sg-b"]);
    return undefined;
  } catch {
    return "this kernel refuses network namespaces or virtual cables";
  } finally {
    await run(ip, ["netns", "delete", name]).catch(() => undefined);
  }
}

/** Everything it makes is gone with the test. */
export async function networks(t: { teardown(run: () => unknown): void }): Promise<Networks> {
  const ip = await program("ip", { debian: "iproute2" });
  const inNamespace = (name: string, ...args: string[]) => run(ip, ["-n", name, ...args]);
  return {
    async machine() {
      made += 1;
      const name = `sg-${process.pid}-${made}`;
      await run(ip, ["netns", "add", name]);
      t.teardown(() => run(ip, ["netns", "delete", name]));
      await inNamespace(name, "link", "set", "lo", "up");
      return name;
    },
    async join([a, ...addressesOfA], [b, ...addressesOfB]) {
      made += 1;
      const [end, other] = [`sg${made}a`, `sg${made}b`];
      await inNamespace(a, "link", "add", "name", end, "type", "veth", "peer", "name", other, "netns", b);
      for (const [name, device, addresses] of [
        [a, end, addressesOfA],
        [b, other, addressesOfB],
      ] as const) {
        // Without the wait for a neighbour that has the address already, an IPv6 address can be used at once.
        for (const address of addresses)
          await inNamespace(
            name,
            "address",
            "add",
            address,
            "dev",
            device,
            ...(address.includes(":") ? ["nodad"] : []),
          );
        await inNamespace(name, "link", "set", device, "up");
      }
    },
    inside: (name) => [ip, "netns", "exec", name],
  };
}
