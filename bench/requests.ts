/** What is sent to a proxy: the calls that are measured, of a caller with a token. */
import { type KeyObject, sign } from "node:crypto";
import { Pool } from "undici";

/** `_meta` of every request. */
export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const ARGUMENTS = { account: "acct-9", amount: 50, note: "n".repeat(600) };
/** Who the token is from, and for. */
export const ISSUER = "https://login.bench.example";
export const AUDIENCE = "http://127.0.0.1:8080/mcp";

const STALLED_MS = 30_000;

let id = 0;

/** A caller: connections to one proxy, and a token or none. */
export interface Caller {
  readonly pool: Pool;
  readonly token?: string | undefined;
}

export const callerAt = (url: string, connections: number, token?: string): Caller => ({
  // What stalls is an error here, not a pause.
  pool: new Pool(new URL(url).origin, { connections, headersTimeout: STALLED_MS, bodyTimeout: STALLED_MS }),
  token,
});

/** Calls a tool. @returns the body, of a 200 only */
async function call({ pool, token }: Caller, name: string, extra: object = {}): Promise<string> {
  id += 1;
  const params = { name, arguments: ARGUMENTS, ...extra, _meta: { ...META, progressToken: "p" } };
  const response = await pool.request({
    path: "/mcp",
    method: "POST",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
  return text;
}

/** A call without a state: what every ordinary request costs. */
export const plainCall = async (caller: Caller): Promise<void> => void (await call(caller, "plain"));

/** A call whose result is of about so many bytes. */
export const largeCall =
  (bytes: number) =>
  async (caller: Caller): Promise<void> =>
    void (await call(caller, `large-${bytes}`));

/** A call that is answered by a stream of ten progress events and the result. */
export const streamedCall = async (caller: Caller): Promise<void> => {
  const text = await call(caller, "progress");
  if (!text.includes('"progress":10') || !text.includes('"complete"')) throw new Error(text);
};

/** A first call, which asks. @returns the state */
export async function firstRound(caller: Caller): Promise<string> {
  return JSON.parse(await call(caller, "ask")).result.requestState as string;
}

/** The retry of a first call, with its answer. */
export async function secondRound(caller: Caller, requestState: string): Promise<void> {
  const answer = { action: "accept", content: { ok: true } };
  await call(caller, "ask", { requestState, inputResponses: { q: answer } });
}

/** An access token that an ES256 key signed, good for an hour. */
export function tokenBy(key: KeyObject): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: "alice", client_id: "bench", iat: now, exp: now + 3_600 };
  const text = `${part({ alg: "ES256", kid: "b", typ: "at+jwt" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}
