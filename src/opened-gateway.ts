/** What the stages of a request work with, as it was opened for one configuration. The list of stages is in gateway.ts. */
import type { Allowances } from "./allowance/allowance.ts";
import type { Consents } from "./approval/consent.ts";
import type { Authorizer } from "./authorization.ts";
import type { Needs } from "./capability/needs.ts";
import type { Config } from "./config/schema.ts";
import type { Witnesses } from "./journey.ts";
import type { Limits } from "./limits.ts";
import type { Load } from "./load.ts";
import type { Repeats } from "./round-trip/repeat.ts";
import type { RoundTripContext } from "./round-trip/retry.ts";

/** See the file's header. */
export interface Gateway extends Witnesses {
  readonly config: Config;
  readonly authorizer: Authorizer;
  /** What needs the user's consent, and how it is asked for. */
  readonly consents: Consents;
  readonly roundTrip: RoundTripContext;
  /** Where answers are kept for a repeat, if they are. */
  readonly repeats: Repeats | undefined;
  readonly limits: Limits;
  /** What each caller may do. */
  readonly allowances: Allowances;
  readonly load: Load;
  /** What servers turned out to ask of clients that cannot answer. */
  readonly needs: Needs;
}
