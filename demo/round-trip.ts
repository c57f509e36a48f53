/**
 * A client that goes through a gateway somewhere else: round trips, and the attacks that two replicas with one store must
 * refuse. It knows nothing of the gateway but its address, so it tells from outside whether a deployment works.
 */
import { type BareCall, connect, type Seen, send } from "./client.ts";
import { encodeState } from "./server.ts";
import { createTeller, type Outcome } from "./terminal.ts";

/** Where the parts are, as this client reaches them. */
export interface Places {
  /** The gateway's MCP endpoint. */
  readonly url: string;
  /** What tokens are for: the endpoint's public URL. */
  readonly resource: string;
  readonly issuer: string;
  /** The MCP server behind the gateway, which must not be reachable from here. */
  readonly hidden?: string;
  readonly rounds: number;
}

const TIMEOUT_MS = 5_000;
const FIFTY = { to: "acct-9", amount: 50 } as const;
const ASK: BareCall = { tool: "transfer", arguments: FIFTY };
const YES = { confirm: { action: "accept", content: { ok: true } } } as const;
const BAD_STATE = "400 invalid_request_state";

/** Prints a line for each step. @returns 0 if every one came out as it should, else 1 */
export async function roundTrip({ url, resource, issuer, hidden, rounds }: Places): Promise<number> {
  const teller = createTeller((line) => process.stdout.write(`${line}\n`));
  const token = (subject: string): Promise<string> => fetchToken(issuer, subject, resource);
  const post = async (call: BareCall, subject = "alice"): Promise<Seen> =>
    send(url, await token(subject), call);
  const asked = async (): Promise<string> => {
    const seen = await post(ASK);
    const state = seen.result?.requestState ?? "";
    if (!state.startsWith("sg1.")) throw new Error(`no sealed state: ${words(seen).sees}`);
    return state;
  };

  await teller.step("SDK client, a transfer", { sees: "Send 50 to acct-9? yes → sent 50 to acct-9" }, () =>
    callWithSdk(url, () => token("alice")),
  );
  await teller.step(
    `${rounds} round trips by hand`,
    { sees: `${rounds} × 200 sent 50 to acct-9` },
    async () => {
      const seen = new Set<string>();
      for (let round = 0; round < rounds; round++) {
        const state = await asked();
        seen.add(words(await post({ ...ASK, state, answers: YES })).sees);
      }
      return { sees: `${rounds} × ${[...seen].join(", ")}` };
    },
  );
  await teller.step("replayed, eight times", { sees: "8 × 400 already_redeemed" }, async () => {
    const call = { ...ASK, state: await asked(), answers: YES };
    const first = words(await post(call)).sees;
    if (first !== "200 sent 50 to acct-9") return { sees: `first: ${first}` };
    const again = await Promise.all(Array.from({ length: 8 }, async () => words(await post(call)).sees));
    return { sees: `8 × ${[...new Set(again)].join(", ")}` };
  });
  await teller.step("at once, eight times", { sees: "1 × sent, 7 × already_redeemed" }, async () => {
    const call = { ...ASK, state: await asked(), answers: YES };
    const all = await Promise.all(Array.from({ length: 8 }, async () => words(await post(call)).sees));
    const count = (word: string): number => all.filter((seen) => seen.includes(word)).length;
    return { sees: `${count("sent 50")} × sent, ${count("already_redeemed")} × already_redeemed` };
  });
  await teller.step("a state the client made", { sees: BAD_STATE }, async () =>
    words(await post({ ...ASK, state: encodeState({ to: "mallory", amount: 5000 }), answers: YES })),
  );
  await teller.step("used by bob", { sees: BAD_STATE }, async () =>
    words(await post({ ...ASK, state: await asked(), answers: YES }, "bob")),
  );
  await teller.step("a hidden tool", { sees: "200 unknown_tool" }, async () =>
    words(await post({ tool: "delete_everything" })),
  );
  await teller.step("no token", { sees: "401" }, async () => ({
    sees: String((await send(url, undefined, ASK)).status),
  }));
  if (hidden !== undefined) {
    await teller.step("past the gateway", { sees: "not reachable" }, () => knock(hidden));
  }
  const { steps, failed } = teller;
  process.stdout.write(
    failed === 0 ? `All ${steps} steps came out as they should.\n` : `${failed} of ${steps} did not.\n`,
  );
  return failed === 0 ? 0 : 1;
}

async function callWithSdk(url: string, token: () => Promise<string>): Promise<Outcome> {
  const questions: string[] = [];
  const client = await connect(url, token, (question) => questions.push(question));
  try {
    const { content } = await client.callTool({ name: "transfer", arguments: { ...FIFTY } });
    const text = content[0]?.type === "text" ? content[0].text : "nothing";
    return { sees: `${questions.join(" ")} yes → ${text}` };
  } finally {
    await client.close();
  }
}

/** RFC 6749 section 4.4 with the resource of RFC 8707, as the demo's issuer takes it. */
async function fetchToken(issuer: string, subject: string, resource: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: subject, resource });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${issuer}/token`, { method: "POST", body, signal });
  const { access_token: token } = (await response.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`the issuer gave no token: ${response.status}`);
  return token;
}

/** An answer in a few words: HTTP status, then a result's text, or an error's reason or message. */
function words({ status, result, error }: Seen): Outcome {
  const said = error?.data?.reason ?? error?.message ?? result?.content?.[0]?.text ?? result?.resultType;
  return { sees: `${status} ${said ?? "nothing"}` };
}

/** Any answer at all means that the server can be reached. */
async function knock(url: string): Promise<Outcome> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
    await answer.body?.cancel();
    return { sees: `answered ${answer.status}` };
  } catch {
    return { sees: "not reachable" };
  }
}
