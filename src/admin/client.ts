/**
 * The admin verbs from outside, for commands. What comes back is a gateway's answer and shown as it is read: entries are parsed as
 * strictly as any.
 */
import type { GrantOrder, RevocationOrder } from "../overrides/orders.ts";
import type { Presented } from "../overrides/shown.ts";

const TIMEOUT_MS = 10_000;
const MAX_TEXT = 512;

/** The gateway did not do it. The message is one line for the operator. */
export class AdminRefused extends Error {
  override readonly name = "AdminRefused";
}

/** Where the listener is, and its token. */
export interface AdminPlace {
  /** Origin, such as `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly token: string;
}

type Kind = "revocations" | "grants";

/** What is in force. @throws AdminRefused */
export async function listThere(place: AdminPlace, kind: Kind): Promise<Presented[]> {
  const list = ((await ask(place, "GET", `/v1/${kind}`)) as Record<string, unknown>)[kind];
  if (!Array.isArray(list)) throw new AdminRefused(`${place.url} does not answer as a gateway does`);
  return list as Presented[];
}

/** Sets an entry. @throws AdminRefused */
export async function setThere(place: AdminPlace, order: RevocationOrder | GrantOrder): Promise<Presented> {
  if ("target" in order) {
    const { target, ...rest } = order;
    return (await ask(place, "POST", "/v1/revocations", { ...rest, ...target })) as Presented;
  }
  const { ttl, ...rest } = order;
  const body = { ...rest, ...(ttl === undefined ? {} : { ttl: `${ttl}ms` }) };
  return (await ask(place, "POST", "/v1/grants", body)) as Presented;
}

/** Takes an entry back; undefined where there is none. @throws AdminRefused */
export async function removeThere(place: AdminPlace, kind: Kind, id: string): Promise<Presented | undefined> {
  return (await ask(place, "DELETE", `/v1/${kind}/${encodeURIComponent(id)}`)) as Presented | undefined;
}

async function ask(
  { url, token }: AdminPlace,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, url), {
      method,
      // A token goes where it was meant to go, and nowhere else.
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new AdminRefused(
      `${url} cannot be asked: ${cause instanceof Error ? cause.message : "unknown cause"}`,
    );
  }
  const value = parsed(text);
  if (response.ok && value !== undefined) return value;
  const said = typeof value?.["error"] === "string" ? `: ${printable(value["error"])}` : "";
  if (response.status === 404 && method === "DELETE" && said.endsWith("no such entry")) return undefined;
  if (response.status === 401) throw new AdminRefused(`${url} does not accept the token of --token-file`);
  if (response.status === 404) {
    throw new AdminRefused(
      `${url} has no admin verbs: set admin.token there, and use the address of admin.listen`,
    );
  }
  throw new AdminRefused(`${url} answers with ${response.status}${said}`);
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
