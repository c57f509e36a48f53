/** The audit record of what somebody did, or tried to do, on the admin listener. It holds no token. */
import type * as z from "zod";
import type { adminRecord } from "./admin-schema.ts";
import type { Frozen } from "./members.ts";

/** One deed, as it is written: what each member means stands in `admin-schema.ts`. */
export type AdminRecord = Omit<Frozen<z.output<typeof adminRecord>>, "entry"> & {
  readonly entry?: Readonly<Record<string, unknown>>;
};

/** What can be done; `unknown` where the token was refused before anybody looked. */
export type AdminAction = AdminRecord["action"];
