/**
 * What a server is told of an approval, where policy says so (`approval.offer`): as headers, which no caller can send through the gateway,
 * or as a member of `_meta`, which callers could and which is taken out of every request for that. Pure.
 */

import type { Call } from "../call.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject } from "../json/splice.ts";
import { encodeMirrored } from "../mcp/mirrored-headers.ts";
import { fold } from "../mcp/twins.ts";
import type { FilledField } from "./answer.ts";
import type { Consent, Consents } from "./consent.ts";

/** The member of `_meta`: `{"policies":[…],"fields":{…}}`. */
const OFFER_KEY = "io.sealgate/approval";

/** What is added to a request for it. */
export interface Offers {
  readonly headers: Readonly<Record<string, string>>;
  readonly edits: readonly Edit[];
}

const NOTHING: Offers = { headers: {}, edits: [] };

/** What the server is told of the consent that this request brought; and where any policy tells it in `_meta`, callers do not. */
export function offersOf({ policies }: Consents, { doc, message }: Call, consent: Consent): Offers {
  const { offersMeta } = policies;
  const answer = consent.kind === "given" && consent.by !== undefined && "filled" in consent.by && consent.by;
  if (!offersMeta && !answer) return NOTHING;
  const filled = answer ? answer.filled : [];
  const asked = consent.kind === "given" ? consent.approval.policies : [];
  return {
    headers: offeredHeaders(filled),
    edits: offersMeta ? offeredEdits(doc, message.meta, asked, filled) : [],
  };
}

/** What is taken out of a message that runs on no consent: nobody but the gateway tells servers of approvals. */
export const unofferedEdits = (
  { policies }: Consents,
  doc: JsonText,
  meta: Node | undefined,
): readonly Edit[] => (policies.offersMeta ? offeredEdits(doc, meta, [], []) : []);

/** `Sealgate-Approval-NAME`, encoded as mirrored headers are; `_` becomes `-`, since some servers drop the other. */
function offeredHeaders(filled: readonly FilledField[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, text, offer } of filled) {
    if (offer === "header")
      headers[`sealgate-approval-${name.toLowerCase().replaceAll("_", "-")}`] = encodeMirrored(text);
  }
  return headers;
}

/**
 * The edits to a request's `_meta`, an object.
 * @param filled of the approval that it runs on; empty where it brought none
 */
function offeredEdits(
  doc: JsonText,
  meta: Node | undefined,
  policies: readonly string[],
  filled: readonly FilledField[],
): Edit[] {
  if (meta === undefined || doc.kind(meta) !== "object") return [];
  const offered = filled.filter(({ offer }) => offer === "meta");
  const remove = new Set(doc.members(meta).flatMap(({ key }) => (fold(key) === OFFER_KEY ? [key] : [])));
  if (offered.length === 0) return remove.size === 0 ? [] : editObject(doc, meta, { remove });
  const fields = Object.fromEntries(offered.map(({ name, text }) => [name, text]));
  remove.delete(OFFER_KEY);
  return editObject(doc, meta, { set: { [OFFER_KEY]: JSON.stringify({ policies, fields }) }, remove });
}
