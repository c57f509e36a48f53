/** `sealgate reach`: tries from where it runs whether a server can be reached, to be run where only the gateway should be reachable. */
import { addressesOf, dialAll, endpointOf, printEndpoint, THIS_MACHINE } from "../upstream/reach.ts";
import { EXIT } from "./exit.ts";

/**
 * Opens a connection to each address of the server, sends nothing, and prints a line for each.
 * @param url the server, as in `upstream.url`
 * @returns the exit code: 0 if none answers, 1 if one does, 69 if the name has no address here, which proves nothing
 */
export async function reach(url: string): Promise<number> {
  const { host, port } = endpointOf(url);
  const addresses = await addressesOf(host, THIS_MACHINE);
  if (addresses.length === 0) {
    process.stderr.write(
      `sealgate: ${host} has no address here: another name or an address may lead there, try the server's address\n`,
    );
    return EXIT.unavailable[0];
  }
  const open = await dialAll(addresses, port, THIS_MACHINE);
  for (const address of addresses) {
    const words = open.includes(address)
      ? "answers: it can be used around the gateway"
      : "does not answer here";
    process.stdout.write(`${printEndpoint(address, port)}: ${words}\n`);
  }
  return open.length === 0 ? EXIT.ok[0] : EXIT.unhealthy[0];
}
