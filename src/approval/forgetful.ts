/** Approvals of a gateway that has nowhere to keep them: none is remembered, and none waits for others. */
import type { Sealing } from "../keyring.ts";
import type { Approvals } from "./approvals.ts";

/** See the file's header. */
export function forgetfulApprovals({ keys, now }: Pick<Sealing, "keys" | "now">): Approvals {
  return {
    code: (matter) =>
      keys.ring
        .sealer(now() / 1_000)
        .mac(Buffer.from(JSON.stringify(["sealgate/approval-code/1", matter])))
        .toString("hex", 0, 4)
        .toUpperCase(),
    recall: async () => undefined,
    remember: async () => undefined,
    needsOthers: () => false,
    waitingFor: async () => undefined,
    waiting: async () => undefined,
    standing: async () => ({ outcome: "expired" }),
    vote: async () => "closed",
  };
}
