/**
 * What a server says it has, and what of it a review may call. Lists only; what is called is decided by the operator's word, and by
 * `readOnlyHint` only where the operator says that it counts (the hint is the server's own).
 */
import { isDeepStrictEqual } from "node:util";
import { LIST_METHODS } from "../mcp/methods.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { exampleObject } from "./example-value.ts";
import type { Exchange } from "./exchange.ts";
import type { PlannedCall } from "./plan.ts";

const MAX_PAGES = 50;
const MAX_ENTRIES = 1_000;
const MAX_CURSOR = 8_192;

/** Asks something that only reads. */
export type Ask = (method: string, params?: Json) => Promise<Exchange>;

/** What the server says of itself. All of it is untrusted. */
export interface Listing {
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** As it says it. */
  readonly versions: readonly string[];
  readonly tools: readonly Json[];
  readonly prompts: readonly Json[];
  readonly resources: readonly Json[];
}

/** The server cannot be reviewed at all. The message is one line for the operator. */
export class NoReview extends Error {
  override readonly name = "NoReview";
}

const INFO_KEY = "io.modelcontextprotocol/serverInfo";

/** Asks `server/discover` and the lists. @throws NoReview where nobody answers, or not without a credential */
export async function survey(ask: Ask): Promise<Listing> {
  const { received } = await ask("server/discover");
  if (received.kind === "none" && received.why !== "http") throw new NoReview(`no answer: ${received.words}`);
  if (received.status === 401 || received.status === 403)
    throw new NoReview(`HTTP ${received.status}: the endpoint wants a credential that it was not given`);
  if (received.kind === "none") throw new NoReview(`${received.words}, so it is no MCP endpoint`);
  const result = received.kind === "result" ? received.result : {};
  const meta = own(result, "_meta");
  const info = own(result, "serverInfo") ?? (isObject(meta) ? own(meta, INFO_KEY) : undefined);
  const about = isObject(info) ? info : {};
  const versions = own(result, "supportedVersions");
  return {
    name: text(own(about, "name")),
    version: text(own(about, "version")),
    versions: Array.isArray(versions) ? versions.filter((one) => typeof one === "string") : [],
    tools: await list(ask, "tools/list"),
    prompts: await list(ask, "prompts/list"),
    resources: await list(ask, "resources/list"),
  };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** All pages of a list; what there is, where the server has no such list or stops. */
async function list(ask: Ask, method: string): Promise<Json[]> {
  const member = LIST_METHODS.get(method)?.items ?? "";
  const entries: Json[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && entries.length < MAX_ENTRIES; page += 1) {
    const { received } = await ask(method, cursor === undefined ? {} : { cursor });
    const items = received.kind === "result" ? own(received.result, member) : undefined;
    if (received.kind !== "result" || !Array.isArray(items)) return entries;
    entries.push(...items.filter(isObject).slice(0, MAX_ENTRIES - entries.length));
    const next = text(own(received.result, "nextCursor"));
    if (next === undefined || next.length > MAX_CURSOR) return entries;
    cursor = next;
  }
  return entries;
}

/** What the server lists of a target. */
export function listedOf(
  listing: Listing,
  { method, target }: Pick<PlannedCall, "method" | "target">,
): Json | undefined {
  const member = method === "resources/read" ? "uri" : "name";
  const from = {
    "tools/call": listing.tools,
    "prompts/get": listing.prompts,
    "resources/read": listing.resources,
  };
  return from[method].find((entry) => own(entry, member) === target);
}

/** Whether the server says that a tool only reads. */
export function isReadOnly(tool: Json): boolean {
  const annotations = own(tool, "annotations");
  return isObject(annotations) && own(annotations, "readOnlyHint") === true;
}

/** What the operator allows beside a plan file. */
export type Allowed = "nothing" | "read-only" | readonly string[];

/** Calls that may be tried, and a sentence for everything that could not be allowed. */
export interface Discovered {
  readonly calls: readonly PlannedCall[];
  readonly left: readonly string[];
}

/** The calls that are allowed, in the order of the lists. Each may be carried out: that is what the word of the operator means. */
export function discoveredCalls(listing: Listing, allowed: Allowed): Discovered {
  const left: string[] = [];
  if (allowed === "nothing") {
    left.push(
      "nothing was allowed to be called: --plan FILE, --allow read-only or --allow NAME,NAME allows it",
    );
    return { calls: [], left };
  }
  const calls: PlannedCall[] = [];
  const add = (method: PlannedCall["method"], target: string, schema: unknown): void => {
    const one = exampleObject(schema);
    const other = exampleObject(schema, "other");
    if (one === undefined)
      left.push(`${target}: its arguments cannot be made from its schema, a plan file can give them`);
    else calls.push(plannedCall(method, target, one, isDeepStrictEqual(one, other) ? undefined : other));
  };
  if (allowed === "read-only") {
    for (const tool of listing.tools.filter(isReadOnly)) {
      const name = text(own(tool, "name"));
      if (name !== undefined) add("tools/call", name, own(tool, "inputSchema"));
    }
    const others = listing.tools.length - calls.length - left.length;
    if (others > 0) left.push(`tools that do not say they only read: ${others}`);
  } else {
    for (const name of new Set(allowed)) {
      const tool = listing.tools.find((entry) => own(entry, "name") === name);
      if (tool !== undefined) add("tools/call", name, own(tool, "inputSchema"));
      else if (listing.prompts.some((entry) => own(entry, "name") === name))
        add("prompts/get", name, promptSchema(listing, name));
      else if (listing.resources.some((entry) => own(entry, "uri") === name)) add("resources/read", name, {});
      else left.push(`${name}: the server lists no tool, prompt or resource of this name`);
    }
  }
  return { calls: calls.map((call, index) => ({ ...call, otherTarget: neighbour(calls, index) })), left };
}

/** The arguments of a prompt as a schema: all of them are texts. */
function promptSchema(listing: Listing, name: string): Json {
  const prompt = listing.prompts.find((entry) => own(entry, "name") === name) ?? {};
  const args = own(prompt, "arguments");
  const needed = (Array.isArray(args) ? args : []).filter(
    (one) => isObject(one) && own(one, "required") === true,
  );
  const names = needed.map((one: Json) => String(own(one, "name")));
  return { properties: Object.fromEntries(names.map((one) => [one, { type: "string" }])), required: names };
}

/** Another allowed call of the same method. */
function neighbour(calls: readonly PlannedCall[], index: number): PlannedCall["otherTarget"] {
  const { method } = calls[index] ?? {};
  const other = [...calls.slice(index + 1), ...calls.slice(0, index)].find((call) => call.method === method);
  return other === undefined ? undefined : { target: other.target, arguments: other.arguments };
}

function plannedCall(
  method: PlannedCall["method"],
  target: string,
  args: Json,
  other: Json | undefined,
): PlannedCall {
  return {
    name: target,
    method,
    target,
    arguments: args,
    answers: {},
    otherArguments: other,
    otherTarget: undefined,
    complete: true,
    maxRounds: undefined,
    retryLimit: undefined,
    expiryMs: undefined,
    consentSurface: undefined,
    dataSensitivity: undefined,
    sideEffects: undefined,
  };
}
