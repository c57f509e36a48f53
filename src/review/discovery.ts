/**
 * What a server says it has, and what of it a review may call. Lists only; what is called is decided by the operator's word, and by
 * `readOnlyHint` only where the operator says that it counts (the hint is the server's own).
 */
import { isDeepStrictEqual } from "node:util";
import { LIST_METHODS } from "../mcp/methods.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { missingExample, objectExample } from "./example-value.ts";
import type { Exchange } from "./exchange.ts";
import type { PlannedCall } from "./plan.ts";
import { isAway, replyWords } from "./replies.ts";
import type { Unreviewed } from "./unreviewed.ts";

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
  /** What it was asked for this, in order. */
  readonly asked: readonly Exchange[];
}

/** The server cannot be reviewed at all. The message is one line for the operator. */
export class NoReview extends Error {
  override readonly name = "NoReview";
}

const INFO_KEY = "io.modelcontextprotocol/serverInfo";

/**
 * Asks `server/discover` and the lists.
 * @param hasCredential whether one goes along
 * @throws NoReview where nobody answers, or does not take the credential
 */
export async function survey(send: Ask, hasCredential = false): Promise<Listing> {
  const asked: Exchange[] = [];
  const ask: Ask = async (method, params) => {
    const exchange = await send(method, params);
    asked.push(exchange);
    return exchange;
  };
  const { received } = await ask("server/discover");
  if (received.kind === "none" && received.why !== "http") throw new NoReview(`no answer: ${received.words}`);
  // A policy may refuse to be asked for this, and allow the calls; that is an error and no bare status.
  if (received.status === 401 || (received.status === 403 && received.kind === "none"))
    throw new NoReview(`HTTP ${received.status}: ${credentialWords(received.status, hasCredential)}`);
  if (received.kind === "none") {
    const isServer = (received.status ?? 0) >= 500;
    const words = isServer ? "so the server, or what is behind it, is away" : "so it is no MCP endpoint";
    throw new NoReview(`${received.words}, ${words}`);
  }
  const result = received.kind === "result" ? received.result : {};
  const meta = own(result, "_meta");
  const info = own(result, "serverInfo") ?? (isObject(meta) ? own(meta, INFO_KEY) : undefined);
  const about = isObject(info) ? info : {};
  const versions = own(result, "supportedVersions");
  const listing = {
    name: text(own(about, "name")),
    version: text(own(about, "version")),
    versions: Array.isArray(versions) ? versions.filter((one) => typeof one === "string") : [],
    tools: await list(ask, "tools/list"),
    prompts: await list(ask, "prompts/list"),
    resources: await list(ask, "resources/list"),
    asked,
  };
  if (asked.every(isAway)) throw new NoReview(unanswered(listing));
  return listing;
}

function credentialWords(status: number, hasCredential: boolean): string {
  if (!hasCredential) return "the endpoint wants a credential that it was not given";
  return status === 401
    ? "the credential that was given was not accepted"
    : "the credential that was given is not enough";
}

/** Whether the server answered anything of what it was asked. */
export const isAnswered = ({ asked }: Pick<Listing, "asked">): boolean =>
  asked.some(({ received }) => received.kind === "result");

/** Says of a server that answered nothing what came instead. */
export function unanswered({ asked }: Pick<Listing, "asked">): string {
  const words = [...new Set(asked.map(replyWords))].join("; ");
  return `none of ${asked.length} requests for what the server has was answered: ${words}`;
}

/** Lists that could not be read, each with what came instead; a server need not have every list. */
export function unreadLists({ asked }: Pick<Listing, "asked">): readonly string[] {
  return asked
    .filter(
      ({ received }) => received.kind === "none" || (received.kind === "error" && received.code !== -32_601),
    )
    .map((exchange) => `${String(own(exchange.sent.message, "method"))}: ${replyWords(exchange)}`);
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
  /** What the operator named and cannot be called. */
  readonly unreviewed: readonly Unreviewed[];
}

/** The calls that are allowed, in the order of the lists. Each may be carried out: that is what the word of the operator means. */
export function discoveredCalls(listing: Listing, allowed: Allowed): Discovered {
  const left: string[] = [];
  if (allowed === "nothing") {
    left.push(
      "nothing was allowed to be called: --plan FILE, --allow read-only or --allow NAME,NAME allows it",
    );
    return { calls: [], left, unreviewed: [] };
  }
  const calls: PlannedCall[] = [];
  const unreviewed: Unreviewed[] = [];
  const add = (method: PlannedCall["method"], target: string, schema: unknown): void => {
    const one = objectExample(schema);
    const made = objectExample(schema, "other");
    if ("value" in one) {
      const other = "value" in made && !isDeepStrictEqual(one.value, made.value) ? made.value : undefined;
      calls.push(plannedCall(method, target, one.value, other));
      return;
    }
    const words = `its arguments cannot be made from its schema (${missingExample(one)}), a plan file can give them`;
    if (allowed === "read-only") left.push(`${target}: ${words}`);
    else unreviewed.push({ name: target, words, exchanges: [] });
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
      else unreviewed.push({ name, ...notListed(listing) });
    }
  }
  return {
    calls: calls.map((call, index) => ({ ...call, otherTarget: neighbour(calls, index) })),
    left,
    unreviewed,
  };
}

function notListed(listing: Listing): Omit<Unreviewed, "name"> {
  const words = "the server lists no tool, prompt or resource of this name, so nothing was tried on it";
  const unread = unreadLists(listing);
  return {
    words: unread.length === 0 ? words : `${words}; lists that could not be read: ${unread.join("; ")}`,
    exchanges: listing.asked.filter((exchange) =>
      [...LIST_METHODS.keys()].includes(String(own(exchange.sent.message, "method"))),
    ),
  };
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
