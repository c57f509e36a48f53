/** Exit codes (sysexits.h where it has one) and their meaning. */
export const EXIT = {
  ok: [0, "success"],
  usage: [64, "the command line is wrong"],
  input: [66, "the configuration file cannot be read"],
  unavailable: [69, "the system refused something, for example an address in use"],
  fault: [70, "a fault of the program"],
  create: [73, "the output file exists or cannot be written"],
  config: [78, "the configuration has problems, all of them printed"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;
