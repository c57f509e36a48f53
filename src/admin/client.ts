/**
 * The admin verbs from outside, for commands. What comes back need not be of a gateway: entries are parsed, and what is shown of the
 * rest is printable and short.
 */
import { MOST_SHOWN, parseShown, type ShownApproval } from "../approval/presented.ts";
import { MAX_ENTRIES, MAX_ENTRY_BYTES } from "../overrides/entry.ts";
import type { GrantOrder, RevocationOrder } from "../overrides/orders.ts";
import { type Presented, parsePresented } from "../overrides/shown.ts";

const TIMEOUT_MS = 10_000;
/** Of an answer: all entries that there can be, with their times written out. */
const MAX_BYTES = 2 * MAX_ENTRIES * MAX_ENTRY_BYTES;
const MAX_TEXT = 512;
/** Errors of a connection that was never made: nobody has heard of the request. */
const UNHEARD: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
]);
const UNSURE = "; it may have taken effect all the same: look at the list before you try again";

/**
 * The gateway did not do it, or did not say that it has; then the message says so, too. It is one line for the operator, and
 * printable.
 */
export class AdminRefused extends Error {
  override readonly name = "AdminRefused";
}

/** Where the listener is, and its token. */
export interface AdminPlace {
  /** Origin, such as `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly token: string;
  /** How long to wait for an answer; 10 s by default. */
  readonly timeoutMs?: number;
}

type Kind = "revocations" | "grants";

/**
 * What is in force, oldest first.
 * @throws AdminRefused, also for anything that is no list of entries
 */
export async function listThere(place: AdminPlace, kind: Kind): Promise<Presented[]> {
  const list = (await ask(place, "GET", `/v1/${kind}`))?.[kind];
  if (!Array.isArray(list) || list.length > MAX_ENTRIES) throw foreign(place);
  return list.map((value) => entryOf(place, value));
}

/**
 * Sets an entry.
 * @returns it as the gateway shows it, with its warning if there is one
 * @throws AdminRefused
 */
export async function setThere(place: AdminPlace, order: RevocationOrder | GrantOrder): Promise<Presented> {
  if ("target" in order) {
    const { target, ...rest } = order;
    return entryOf(place, await ask(place, "POST", "/v1/revocations", { ...rest, ...target }), UNSURE);
  }
  const { ttl, ...rest } = order;
  const body = { ...rest, ...(ttl === undefined ? {} : { ttl: `${ttl}ms` }) };
  return entryOf(place, await ask(place, "POST", "/v1/grants", body), UNSURE);
}

/**
 * Takes an entry back.
 * @returns it, or undefined where there is none
 * @throws AdminRefused
 */
export async function removeThere(place: AdminPlace, kind: Kind, id: string): Promise<Presented | undefined> {
  const entry = await ask(place, "DELETE", `/v1/${kind}/${encodeURIComponent(id)}`);
  return entry === undefined ? undefined : entryOf(place, entry, UNSURE);
}

/**
 * Calls that wait for others, or approvals that are remembered, oldest first.
 * @throws AdminRefused, also for anything that is no list of them
 */
export async function listApprovalsThere(
  place: AdminPlace,
  kind: "waiting" | "remembered",
): Promise<ShownApproval[]> {
  const list = (await ask(place, "GET", "/v1/approvals"))?.[kind];
  if (!Array.isArray(list) || list.length > MOST_SHOWN) throw foreign(place);
  return list.map((value) => approvalOf(place, value));
}

/**
 * Says yes or no to a call that waits, or forgets an approval.
 * @returns it, or undefined where there is none
 * @throws AdminRefused
 */
export async function decideThere(
  place: AdminPlace,
  id: string,
  decision: "approve" | "deny" | "forget",
  by: string,
): Promise<ShownApproval | undefined> {
  const path = `/v1/approvals/${encodeURIComponent(id)}`;
  const shown = await ask(place, "POST", path, { decision, by }, true);
  return shown === undefined ? undefined : approvalOf(place, shown, UNSURE);
}

function approvalOf(place: AdminPlace, value: unknown, more = ""): ShownApproval {
  const shown = parseShown(value);
  if (shown === undefined) throw foreign(place, more);
  return shown;
}

function entryOf(place: AdminPlace, value: unknown, more = ""): Presented {
  const entry = parsePresented(value);
  if (entry === undefined) throw foreign(place, more);
  return entry;
}

const foreign = ({ url }: AdminPlace, more = ""): AdminRefused =>
  new AdminRefused(`${url} does not answer as a gateway does${more}`);

/** Sends a request, and reads the object that is answered; undefined where what it is about is not there. @throws AdminRefused */
async function ask(
  { url, token, timeoutMs = TIMEOUT_MS }: AdminPlace,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
  mayMiss = method === "DELETE",
): Promise<Record<string, unknown> | undefined> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, url), {
      method,
      // A token goes where it was meant to go, and nowhere else.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await textOf(response);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const said = cause instanceof Error ? printable(cause.message) : "unknown cause";
    const unheard = cause instanceof Error && "code" in cause && UNHEARD.has(cause.code);
    throw new AdminRefused(`${url} cannot be asked: ${said}${method === "GET" || unheard ? "" : UNSURE}`);
  }
  const value = parsed(text);
  if (response.ok && value !== undefined) return value;
  const said = typeof value?.["error"] === "string" ? `: ${printable(value["error"])}` : "";
  if (response.status === 404 && mayMiss && said.endsWith("no such entry")) return undefined;
  if (response.status === 401) throw new AdminRefused(`${url} does not accept the token of --token-file`);
  if (response.status === 404) {
    throw new AdminRefused(
      `${url} has no admin verbs: set admin.token there, and use the address of admin.listen`,
    );
  }
  // Without a word of the gateway's own, somebody on the way may have given up on it.
  const unsure = method !== "GET" && (response.ok || (response.status >= 500 && said === ""));
  throw new AdminRefused(`${url} answers with ${response.status}${said}${unsure ? UNSURE : ""}`);
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const printable = (text: string): string => text.replace(/\p{C}/gu, "?").slice(0, MAX_TEXT);
