/** A DNS server like Docker's: one name, and as many addresses as containers run under it. RFC 1035 section 4. */
import { createSocket } from "node:dgram";

export interface Dns {
  readonly port: number;
  /** IPv4 addresses by name; any other name does not exist. Change it at will. */
  readonly names: Map<string, readonly string[]>;
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const IS_A = 1;
const NO_SUCH_NAME = 3;
/** What Docker's says, in seconds; who believes it never sees a replica that came later. */
const TTL_SECONDS = 600;

/** Starts a server on a free UDP port of `host`. */
export async function startDns(host: string): Promise<Dns> {
  const names = new Map<string, readonly string[]>();
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = question(query);
    const known = names.get(name);
    const addresses = type === IS_A ? (known ?? []) : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (known === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    header.fill(0, 8, HEADER_BYTES);
    const answers = addresses.map((address) => {
      const answer = Buffer.from([
        0xc0,
        HEADER_BYTES,
        0,
        IS_A,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        4,
        ...address.split(".").map(Number),
      ]);
      answer.writeUInt32BE(TTL_SECONDS, 6);
      return answer;
    });
    socket.send(
      Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, host, resolve));
  return {
    port: socket.address().port,
    names,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** The first question of a query, and where it ends. */
function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}
