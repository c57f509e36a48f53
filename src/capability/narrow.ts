/**
 * Request half: what the client declares, cut down to what policy lets this route and tool ask for, so that an honest
 * server never asks in vain. What comes back is checked all the same (check.ts).
 */
import type { Ask } from "../config/schema.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject } from "../json/splice.ts";
import { capabilitiesOf, isTasksExtension } from "../mcp/capabilities.ts";

/**
 * The edits that narrow the declaration in a request's `_meta`, which `parseDeclared` has accepted. No byte changes where
 * nothing is taken away; nothing is ever added.
 * @param keepsTasks the tasks extension is served here; elsewhere it always goes, since its questions carry no state
 */
export function narrow(
  doc: JsonText,
  meta: Node | undefined,
  allow: ReadonlySet<Ask>,
  keepsTasks = false,
): Edit[] {
  const capabilities = capabilitiesOf(doc, meta);
  if (capabilities === undefined || doc.kind(capabilities) !== "object") return [];
  const remove = new Set<string>();
  const edits: Edit[] = [];

  const elicitation = doc.get(capabilities, "elicitation");
  if (elicitation !== undefined) {
    const hasUrl = doc.get(elicitation, "url") !== undefined;
    const hasForm = doc.get(elicitation, "form") !== undefined || !hasUrl;
    const keepsForm = hasForm && allow.has("elicitation.form");
    const keepsUrl = hasUrl && allow.has("elicitation.url");
    // An emptied `elicitation: {}` would declare form again.
    if (!keepsForm && !keepsUrl) remove.add("elicitation");
    else if (keepsForm !== hasForm)
      edits.push(...editObject(doc, elicitation, { remove: new Set(["form"]) }));
    else if (keepsUrl !== hasUrl) edits.push(...editObject(doc, elicitation, { remove: new Set(["url"]) }));
  }
  for (const ask of ["sampling", "roots"] as const)
    if (!allow.has(ask) && doc.get(capabilities, ask) !== undefined) remove.add(ask);

  const extensions = doc.get(capabilities, "extensions");
  if (!keepsTasks && extensions !== undefined && doc.kind(extensions) === "object") {
    const tasks = Array.from(doc.members(extensions), ({ key }) => key).filter(isTasksExtension);
    if (tasks.length > 0) edits.push(...editObject(doc, extensions, { remove: new Set(tasks) }));
  }
  return remove.size === 0 ? edits : [...edits, ...editObject(doc, capabilities, { remove })];
}
