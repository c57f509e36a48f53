/**
 * What a client can be asked, as it declares in every modern request, and what a question needs of it.
 * Source: MCP 2026-07-28 schema, ClientCapabilities; error -32021.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { CAPABILITIES_KEY } from "./era.ts";
import { fold, hasTwin, knownNames } from "./twins.ts";

/** What one request declares. Never carried over from another request. */
export interface Declared {
  readonly form: boolean;
  readonly url: boolean;
  readonly sampling: boolean;
  readonly samplingTools: boolean;
  readonly samplingContext: boolean;
  readonly roots: boolean;
}

/** One thing that a question may need. */
export type Need = keyof Declared;

/** The extension whose questions travel without a `requestState`; served where `routes[].tasks` says so. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const CAPABILITY_NAMES = knownNames("elicitation", "sampling", "roots", "extensions");
const ELICITATION_NAMES = knownNames("form", "url");
const EXTENSION_NAMES = knownNames(TASKS_EXTENSION);
const SAMPLING_NAMES = knownNames("tools", "context");

/** Need → the path of names that stands for it in ClientCapabilities. */
const PATHS: Readonly<Record<Need, readonly string[]>> = {
  form: ["elicitation", "form"],
  url: ["elicitation", "url"],
  sampling: ["sampling"],
  samplingTools: ["sampling", "tools"],
  samplingContext: ["sampling", "context"],
  roots: ["roots"],
};

/** The value of the declared capabilities in a `_meta`; undefined when there is none. */
export function capabilitiesOf(doc: JsonText, meta: Node | undefined): Node | undefined {
  return doc.get(meta, CAPABILITIES_KEY);
}

/**
 * Reads the untrusted declaration out of a request's `_meta`; nothing declared when it has none. `elicitation: {}` means
 * form, `elicitation: { url: {} }` does not. Throws Refusal `invalid_params` on wrong types and on twins by case.
 */
export function parseDeclared(doc: JsonText, meta: Node | undefined): Declared {
  const capabilities = member(doc, meta, CAPABILITIES_KEY);
  const elicitation = member(doc, capabilities, "elicitation");
  const sampling = member(doc, capabilities, "sampling");
  const extensions = member(doc, capabilities, "extensions");
  if (
    hasTwin(doc, capabilities, CAPABILITY_NAMES) ||
    hasTwin(doc, elicitation, ELICITATION_NAMES) ||
    hasTwin(doc, sampling, SAMPLING_NAMES) ||
    hasTwin(doc, extensions, EXTENSION_NAMES)
  )
    throw new Refusal("invalid_params", "capability_case_twin");
  const form = member(doc, elicitation, "form");
  const url = member(doc, elicitation, "url");
  return {
    form: form !== undefined || (elicitation !== undefined && url === undefined),
    url: url !== undefined,
    sampling: sampling !== undefined,
    samplingTools: member(doc, sampling, "tools") !== undefined,
    samplingContext: member(doc, sampling, "context") !== undefined,
    roots: member(doc, capabilities, "roots") !== undefined,
  };
}

function member(doc: JsonText, object: Node | undefined, key: string): Node | undefined {
  const node = doc.get(object, key);
  if (node !== undefined && doc.kind(node) !== "object") throw new Refusal("invalid_params", "capabilities");
  return node;
}

/**
 * What of `needs` is not declared, as a ClientCapabilities object for `data.requiredCapabilities`; undefined when nothing is
 * missing. Only the missing part is named: `{ elicitation: { url: {} } }` to a client that does forms.
 */
export function missingCapabilities(
  needs: Iterable<Need>,
  declared: Declared,
): Readonly<Record<string, unknown>> | undefined {
  const missing = Array.from(needs).filter((need) => !declared[need]);
  return missing.length === 0 ? undefined : capabilitiesFor(missing);
}

/** The ClientCapabilities object that declares exactly `needs`. */
export function capabilitiesFor(needs: Iterable<Need>): Readonly<Record<string, unknown>> {
  const capabilities: Record<string, Record<string, object>> = {};
  for (const need of needs) {
    const [name = "", mode] = PATHS[need];
    capabilities[name] ??= {};
    if (mode !== undefined) capabilities[name][mode] = {};
  }
  return capabilities;
}

/** Whether a request declares the tasks extension, by an object, as extensions are. Not for what `parseDeclared` refuses. */
export function declaresTasks(doc: JsonText, meta: Node | undefined): boolean {
  const extension = doc.get(doc.get(capabilitiesOf(doc, meta), "extensions"), TASKS_EXTENSION);
  return extension !== undefined && doc.kind(extension) === "object";
}

/** Whether a name is the tasks extension, in whatever case. */
export function isTasksExtension(name: string): boolean {
  return fold(name) === TASKS_EXTENSION;
}
