/** Two replicas on one Redis, a server that counts what it carries out, and people of two issuers who are asked. */
import type { Test } from "tap";
import {
  type CallOptions,
  type Message,
  PUBLIC_URL,
  type Reply,
  type TestGateway,
} from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { result, startUpstream, type TestUpstream } from "../support/upstream.ts";
import { DISCOVERED } from "./init-scene.ts";
import { openGateway, operated } from "./operators.ts";
import { DONE } from "./rounds.ts";

/** The call that everything is about. */
export const PAY: Message = {
  method: "tools/call",
  params: { name: "transfer", arguments: { to: "acct-9", amount: 50, token: "s3cret-value" } },
};

/** A yes with what was filled in. */
export const yes = (content: object = {}) => ({ action: "accept", content });

export interface Scene {
  /** Replicas that share everything. */
  readonly a: TestGateway;
  readonly b: TestGateway;
  readonly upstream: TestUpstream;
  readonly redis: OwnRedis;
  readonly issuer: string;
  /** Tokens: two people, one more of a group, and the first one's name at another issuer. */
  readonly alice: CallOptions;
  readonly bob: CallOptions;
  readonly carol: CallOptions;
  readonly otherAlice: CallOptions;
  /** How often the server has carried something out. */
  runs(): number;
  /** Another configuration for both. */
  configure(policies: readonly object[], more?: object): Promise<void>;
}

/** Sets the scene; everything ends with the test. */
export async function setScene(t: Test, policies: readonly object[], more: object = {}): Promise<Scene> {
  const redis = await ownRedis(t);
  let runs = 0;
  const upstream = await startUpstream((arrived, response) => {
    if (arrived.json.method === "tools/call") runs++;
    result(arrived, response, arrived.json.method === "server/discover" ? JSON.stringify(DISCOVERED) : DONE);
  });
  t.teardown(() => upstream.close());
  const [first, second] = await Promise.all([startIssuer(), startIssuer()]);
  t.teardown(() => first.close());
  t.teardown(() => second.close());
  const issuers = [first, second].map(({ issuer, jwksUrl }) => ({
    issuer,
    jwks: { url: jwksUrl },
    claims: { groups: "groups" },
  }));
  const sections = (asking: readonly object[]) => ({
    ...operated(t, redis.url),
    authentication: { issuers },
    authorization: { default: "allow", policies: asking },
    ...more,
  });
  const [a, b] = [
    await openGateway(t, upstream.url, sections(policies)),
    await openGateway(t, upstream.url, sections(policies)),
  ];
  const aud = `${PUBLIC_URL}/mcp`;
  const token = async (issuer: typeof first, claims: object): Promise<CallOptions> => ({
    token: await issuer.token({ aud, client_id: "cli", ...claims }),
  });
  return {
    a,
    b,
    upstream,
    redis,
    issuer: first.issuer,
    alice: await token(first, { sub: "alice" }),
    bob: await token(first, { sub: "bob" }),
    carol: await token(first, { sub: "carol", groups: ["finance"] }),
    otherAlice: await token(second, { sub: "alice" }),
    runs: () => runs,
    async configure(asking, change = {}) {
      for (const gateway of [a, b])
        if (!(await gateway.configure({ ...sections(asking), ...change }))) throw new Error("not taken");
    },
  };
}

/** A question as it came: its key, its text and the state to answer it with. */
export interface Asked {
  readonly key: string;
  readonly message: string;
  readonly state: string;
}

/** The question in a reply. @throws Error where there is none */
export function questionIn(reply: Reply): Asked {
  const { requestState, inputRequests } = reply.json?.result ?? {};
  const [[key, question] = []] = Object.entries(
    (inputRequests ?? {}) as Record<string, { readonly params: { readonly message: string } }>,
  );
  if (typeof requestState !== "string" || key === undefined || question === undefined)
    throw new Error(`no question: ${reply.status} ${reply.body}`);
  return { key, message: question.params.message, state: requestState };
}

/** Answers a question in a retry of `message`. */
export const reply = (
  gateway: TestGateway,
  { key, state }: Asked,
  who: CallOptions,
  answer: object = yes(),
  message: Message = PAY,
): Promise<Reply> =>
  gateway.call(
    {
      ...message,
      id: `r${Math.random()}`,
      params: { ...message.params, requestState: state, inputResponses: { [key]: answer } },
    },
    who,
  );
