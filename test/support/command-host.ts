/** The child of commands.ts: runs command lines as src/main.ts does, and gives back what each printed. Not for import. */
import { Readable } from "node:stream";
import { run } from "../../src/command-line.ts";

interface Order {
  readonly id: number;
  readonly args: readonly string[];
  readonly input: string;
}

const told = { out: "", err: "" };
for (const [name, stream] of [
  ["out", process.stdout],
  ["err", process.stderr],
] as const) {
  // Each run adds a listener of its own.
  stream.setMaxListeners(0);
  stream.write = (piece: string | Uint8Array, ...rest: unknown[]): boolean => {
    told[name] += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    const done = rest.at(-1);
    if (typeof done === "function") setImmediate(() => done());
    return true;
  };
}

let last: Promise<unknown> = Promise.resolve();

process.on("message", ({ id, args, input }: Order) => {
  last = last.then(async () => {
    Object.assign(told, { out: "", err: "" });
    Object.defineProperty(process, "stdin", {
      value: Readable.from([Buffer.from(input)]),
      configurable: true,
    });
    const code = await run(args);
    process.send?.({ id, outcome: { code, ...told } });
  });
});
