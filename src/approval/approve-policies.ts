/**
 * Which approve policies ask for consent to an operation. Pure: the authorizer says which match (authorization.ts), and here what the
 * server says of its tool decides on those with `when`.
 */
import type { Config } from "../config/schema.ts";
import { type Hints, UNKNOWN } from "./hints.ts";

type Policy = Config["authorization"]["policies"][number];

/** Most policies that one question is put for; of a configuration in which more match, nothing runs. */
export const MAX_POLICIES = 32;

/** See the file's header. */
export class ApprovePolicies {
  readonly #policies: ReadonlyMap<string, Policy>;
  /** Whether any policy asks what servers say of their tools. */
  readonly readsHints: boolean;
  /** Whether any tells servers of approvals in `_meta`: then callers cannot. */
  readonly offersMeta: boolean;

  constructor({ policies }: Config["authorization"]) {
    const approving = policies.filter(({ effect }) => effect === "approve");
    this.#policies = new Map(approving.map((policy) => [policy.id, policy]));
    this.offersMeta = approving.some(({ approval }) => approval?.offer === "meta");
    this.readsHints = approving.some(({ when }) => when !== undefined);
  }

  /**
   * The policies that ask, of those that match.
   * @param ids `Decision.approvals`
   * @param hints of the tool that is called; undefined where its list was not seen, and then all ask
   */
  demanded(ids: readonly string[], hints: Hints | undefined): readonly Policy[] {
    return (this.named(ids) ?? []).filter(({ when }) => isDemanded(when, hints ?? UNKNOWN));
  }

  /** The policies of these ids, which all have to be there. */
  named(ids: readonly string[]): readonly Policy[] | undefined {
    const policies = ids.flatMap((id) => this.#policies.get(id) ?? []);
    return policies.length === ids.length ? policies : undefined;
  }
}

function isDemanded(when: Policy["when"], hints: Hints): boolean {
  if (when === undefined) return true;
  return (
    (when.includes("destructive") && hints.destructive) || (when.includes("notReadOnly") && hints.notReadOnly)
  );
}
