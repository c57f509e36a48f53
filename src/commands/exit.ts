/** Exit codes (sysexits.h where it has one) and their meaning; commands that know it more exactly say it in their help. */
export const EXIT = {
  ok: [0, "success"],
  unhealthy: [
    1,
    "not healthy or not ready, or no answer; the server can be reached around the gateway; ended without having drained",
  ],
  failed: [2, "a review found a check that fails"],
  undecided: [3, "a review could not decide: a check is inconclusive, or there was nothing to review"],
  usage: [64, "the command line is wrong"],
  data: [65, "the token would be refused now; there is no such entry"],
  input: [66, "the configuration file cannot be read"],
  unavailable: [
    69,
    "the system refused something, for example an address in use, or a server cannot be used",
  ],
  fault: [70, "a fault of the program"],
  create: [73, "a file exists already or cannot be written"],
  later: [75, "too early for this step, nothing was changed"],
  denied: [77, "policy does not allow the call"],
  config: [78, "the configuration has problems, all of them printed"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;
