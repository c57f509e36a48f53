/** The story: what works, what goes wrong without the gateway, and what the gateway makes of the same attacks. */
import { type BareCall, connect, type Seen, send } from "./client.ts";
import { decodeState, encodeState } from "./server.ts";
import type { Stage } from "./stage.ts";
import { type Outcome, shorten, type Teller } from "./terminal.ts";

const MINUTE_MS = 60_000;
const FIFTY = { to: "acct-9", amount: 50 } as const;
const YES = { confirm: { action: "accept", content: { ok: true } } } as const;
const ASK: BareCall = { tool: "transfer", arguments: FIFTY };
const BAD_STATE = "400 Invalid or expired requestState";

/** Tells all of it. Never throws; what did not come out as told is counted by the teller. */
export async function tell(stage: Stage, teller: Teller): Promise<void> {
  for (const part of [tellRoundTrips, tellWithout, tellAttacks, tellQuestions]) {
    try {
      await part(stage, teller);
    } catch (error) {
      await teller.step("this part could not go on", { sees: "no error" }, () => Promise.reject(error));
    }
  }
}

async function tellRoundTrips({ issuer, gatewayUrl }: Stage, teller: Teller): Promise<void> {
  teller.heading(
    1,
    "Through the gateway: it works",
    "client and server are the official SDK's and know nothing of it",
  );
  const questions: string[] = [];
  const token = (): Promise<string> => issuer.token("alice", gatewayUrl);
  const client = await connect(gatewayUrl, token, (question) => questions.push(question));
  /** What was asked on the way, then what came back. */
  const told = (text: string | undefined): Outcome => ({
    sees: [...questions.splice(0).map((question) => `"${question}" yes →`), text ?? "nothing"].join(" "),
  });
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Outcome> => {
    const { content } = await client.callTool({ name, arguments: args });
    return told(content[0]?.type === "text" ? content[0].text : undefined);
  };
  await teller.step("tools/list", { sees: "connect_account, summarize, transfer" }, async () => {
    const { tools } = await client.listTools();
    return told(
      tools
        .map(({ name }) => name)
        .sort()
        .join(", "),
    );
  });
  await teller.step("call delete_everything", { sees: "Unknown tool (hidden by policy)" }, async () => {
    const refused = await call("delete_everything").catch((error: Error) => error);
    return told(refused instanceof Error ? `${refused.message} (hidden by policy)` : refused.sees);
  });
  await teller.step("call transfer", { sees: '"Send 50 to acct-9?" yes → sent 50 to acct-9' }, () =>
    call("transfer", FIFTY),
  );
  await teller.step("call connect_account", { sees: '"Sign in to your bank" yes → account connected' }, () =>
    call("connect_account"),
  );
  await teller.step(
    "prompt letter",
    { sees: '"Which tone?" yes → Write a friendly letter to my bank.' },
    async () => {
      const { messages } = await client.getPrompt({ name: "letter" });
      const content = messages[0]?.content;
      return told(content?.type === "text" ? content.text : undefined);
    },
  );
  await teller.step("resource bank://rates", { sees: "1 EUR = 1.10 USD" }, async () => {
    const { contents } = await client.readResource({ uri: "bank://rates" });
    const content = contents[0];
    return told(content !== undefined && "text" in content ? content.text : undefined);
  });
  await client.close();
}

async function tellWithout({ server }: Stage, teller: Teller): Promise<void> {
  teller.heading(2, "Without it: the client rewrites the order", "a bare client talks to the server itself");
  const asked = await send(server.url, undefined, ASK);
  const state = stateOf(asked);
  const forged = encodeState({ to: "mallory", amount: 5000 });
  teller.fact("alice is asked for", "50 to acct-9, and gets the state");
  teller.fact("", state);
  await teller.step("anyone can read it", { sees: '{"to":"acct-9","amount":50}' }, async () => ({
    sees: JSON.stringify(decodeState(state)),
  }));
  teller.fact("and write another", forged);
  await teller.step("the server obeys", { sees: "200 sent 5000 to mallory" }, async () =>
    seenBy(await send(server.url, undefined, { ...ASK, state: forged, answers: YES })),
  );
  await teller.step("and again, same state", { sees: "200 sent 5000 to mallory" }, async () =>
    seenBy(await send(server.url, undefined, { ...ASK, state: forged, answers: YES })),
  );
  await teller.step("url never declared", { sees: "200 asked: url https://bank.example/connect" }, async () =>
    seenBy(await send(server.url, undefined, { tool: "connect_account" })),
  );
}

async function tellAttacks(stage: Stage, teller: Teller): Promise<void> {
  const { server, gatewayUrl, issuer } = stage;
  const post = async (subject: string, call: BareCall): Promise<Seen> =>
    send(gatewayUrl, await issuer.token(subject, gatewayUrl), call);
  const refusals = new Set<string>();
  const attack = async (call: BareCall, subject = "alice"): Promise<Outcome> => {
    const seen = await post(subject, { answers: YES, ...call });
    if (seen.error?.data?.reason === "invalid_request_state") refusals.add(withoutId(seen.body));
    const { state, cause } = await stage.audit(seen.requestId);
    return { ...seenBy(seen), cause: cause ?? state ?? "none" };
  };
  teller.heading(
    3,
    "Through it: the same server, the same attacks",
    "what an attacker sees never tells why; the audit record does",
  );
  const state = stateOf(await post("alice", ASK));
  teller.fact("the state alice gets now", `${shorten(state, 44)} (${state.length} characters)`);
  teller.blank();
  teller.columns("the client sees", "true cause (audit)");
  const before = { arrivals: server.arrivals(), orders: server.ledger.length };
  await teller.step("read it", { sees: "no word of it readable", cause: "-" }, async () => {
    const bytes = Buffer.from(state.slice(state.indexOf(".") + 1), "base64url").toString("latin1");
    const words = ["acct-9", "amount", "alice", "confirm", "transfer"];
    const readable = words.filter((word) => bytes.includes(word) || state.includes(word));
    return { sees: readable.length === 0 ? "no word of it readable" : `readable: ${readable}`, cause: "-" };
  });
  const middle = Math.floor(state.length / 2);
  const edited = `${state.slice(0, middle)}${state[middle] === "A" ? "B" : "A"}${state.slice(middle + 1)}`;
  await teller.step("one character edited", { sees: BAD_STATE, cause: "aead" }, () =>
    attack({ ...ASK, state: edited }),
  );
  await teller.step("forged as in 2", { sees: BAD_STATE, cause: "prefix" }, () =>
    attack({ ...ASK, state: encodeState({ to: "mallory", amount: 5000 }) }),
  );
  await teller.step("used by bob", { sees: BAD_STATE, cause: "principal" }, () =>
    attack({ ...ASK, state }, "bob"),
  );
  await teller.step("used for 5000, not 50", { sees: BAD_STATE, cause: "params" }, () =>
    attack({ ...ASK, arguments: { ...FIFTY, amount: 5000 }, state }),
  );
  await teller.step("used for another tool", { sees: BAD_STATE, cause: "target" }, () =>
    attack({ tool: "connect_account", arguments: FIFTY, state }),
  );
  await teller.step("alice, as it was meant", { sees: "200 sent 50 to acct-9", cause: "redeemed" }, () =>
    attack({ ...ASK, state }),
  );
  await teller.step(
    "replayed",
    { sees: "400 This requestState was already redeemed", cause: "already_redeemed" },
    () => attack({ ...ASK, state }),
  );
  const late = stateOf(await post("alice", ASK));
  stage.setClock(11 * MINUTE_MS);
  await teller.step("11 minutes later", { sees: BAD_STATE, cause: "expired" }, () =>
    attack({ ...ASK, state: late }),
  );
  stage.setClock(0);
  await teller.step("the refused six compared", { sees: "the same bytes, but for the id" }, async () => ({
    sees: refusals.size === 1 ? "the same bytes, but for the id" : `${refusals.size} different answers`,
  }));
  // One request asked for each of the two states; of the retries only the honest one may have arrived.
  await teller.step("what reached the server", { sees: "1 retry of 8, 1 transfer" }, async () => {
    const retries = server.arrivals() - before.arrivals - 1;
    return { sees: `${retries} retry of 8, ${server.ledger.length - before.orders} transfer` };
  });
}

async function tellQuestions(stage: Stage, teller: Teller): Promise<void> {
  const { gatewayUrl, issuer } = stage;
  teller.heading(
    4,
    "Through it: questions nobody agreed to",
    "the server asks whatever it likes; not a word of it reaches the client",
  );
  teller.columns("the client sees", "true cause (audit)");
  const ask = async (call: BareCall): Promise<Outcome> => {
    const seen = await send(gatewayUrl, await issuer.token("alice", gatewayUrl), call);
    const leaked = ["bank.example", "Sign in", "Sum up"].find((word) => seen.body.includes(word));
    if (leaked !== undefined) return { sees: `leaked: ${leaked}` };
    return { ...seenBy(seen), cause: (await stage.audit(seen.requestId)).cause ?? "none" };
  };
  await teller.step(
    "url, never declared",
    { sees: '400 requires {"elicitation":{"url":{}}}', cause: "undeclared" },
    () => ask({ tool: "connect_account" }),
  );
  await teller.step(
    "sampling, policy forbids it",
    { sees: "403 question_forbidden", cause: "sampling" },
    () => ask({ tool: "summarize", capabilities: { sampling: {} } }),
  );
}

function stateOf({ result, error }: Seen): string {
  if (result?.requestState !== undefined) return result.requestState;
  throw new Error(`no requestState came: ${error?.message ?? result?.resultType ?? "nothing"}`);
}

const withoutId = (body: string): string => body.replace(/"id":\d+/, '"id":0');

/** An answer in a few words: HTTP status, then a result's text, a question, or an error's text. */
function seenBy({ status, result, error }: Seen): Outcome {
  const question = Object.values(result?.inputRequests ?? {})[0] as
    | { params?: { mode?: string; url?: string; message?: string } }
    | undefined;
  const words =
    error?.data?.requiredCapabilities !== undefined
      ? `requires ${JSON.stringify(error.data.requiredCapabilities)}`
      : error !== undefined
        ? brief(error)
        : question !== undefined
          ? `asked: ${question.params?.mode ?? "form"} ${question.params?.url ?? question.params?.message}`
          : (result?.content?.[0]?.text ?? "nothing");
  return { sees: `${status} ${words}` };
}

/** The first clause of an error's message; its reason where that is too long for a line. */
function brief({ message, data }: NonNullable<Seen["error"]>): string {
  const clause = message.split(";")[0] ?? message;
  return clause.length <= 40 ? clause : (data?.reason ?? shorten(clause, 40));
}
