/** State and questions outside the one result that may hold them: there they would pass unsealed and unasked-for. */
import type { JsonText, Node } from "../json/scan.ts";

const NAMES = ["requestState", "inputRequests"] as const;

/** The first member of a round trip that stands in any of the places, whatever its value; undefined where none does. */
export function misplacedMember(
  doc: JsonText,
  places: readonly (Node | undefined)[],
): (typeof NAMES)[number] | undefined {
  for (const place of places) for (const name of NAMES) if (doc.get(place, name) !== undefined) return name;
  return undefined;
}
