/**
 * Over-strictness is a fault too: what a legitimate client may change between two rounds, one line and one test each. What it
 * may not change is in test/security: c01 (caller), c02 (call), c08 (audience, key), c09, principal-appears, other-revision,
 * and in routes.test.ts (route, upstream). docs/envelope.md section 7.
 */
import { Agent, request } from "node:http";
import t from "tap";
import {
  type Message,
  mirrored,
  PUBLIC_URL,
  type Reply,
  startGateway,
  type TestGateway,
} from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { anyRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, INNER, stateOf } from "./rounds.ts";

process.env["SG_TEST_KEY"] = "an operator's secret of more than 32 bytes";
const redis = await anyRedis(t);
const issuer = await startIssuer();
const upstream = await startUpstream(asksOnce);
t.teardown(() => Promise.all([issuer.close(), upstream.close()]));
const sections = {
  redis: { url: redis.url, keyPrefix: redis.keyPrefix },
  redemption: { store: "redis" },
  keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_TEST_KEY" } }] },
  authentication: {
    issuers: [
      { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, claims: { groups: "groups", tenant: "tid" } },
    ],
  },
};
const one = await startGateway(upstream.url, sections);
const two = await startGateway(upstream.url, sections);
t.teardown(() => Promise.all([one.close(0), two.close(0)]));

const WHO = { sub: "u-1001", aud: `${PUBLIC_URL}/mcp`, client_id: "cli", tid: "north" };
const token = await issuer.token({ ...WHO, scope: "read", groups: ["staff"], jti: "t1" });
const CALL: Message = { method: "tools/call", params: { name: "transfer" } };

/** What a request is made of, each part as a client would write it. */
interface Parts {
  readonly gateway: TestGateway;
  /** JSON texts. */
  readonly id: string;
  readonly meta: string;
  readonly arguments: string;
  /** Puts the members of params into an order; `rest` is state and answers, empty on the first round. */
  readonly params: (meta: string, name: string, args: string, rest: string) => string;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
}

const VERSION = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
const INFO = '"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}';
const ABLE = '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}';
const FIRST: Parts = {
  gateway: one,
  id: "7",
  meta: `{${VERSION},${INFO},${ABLE},"progressToken":7}`,
  arguments: '{"to":"acct-9","amount":50,"note":"\u00e9"}',
  params: (meta, name, args, rest) => `{"_meta":${meta},"name":${name},"arguments":${args}${rest}}`,
  token,
  headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
};

const bodyOf = (parts: Parts, rest: string): string =>
  `{"jsonrpc":"2.0","id":${parts.id},"method":"tools/call","params":${parts.params(parts.meta, '"transfer"', parts.arguments, rest)}}`;
const headersOf = (parts: Parts) => ({
  ...mirrored(CALL),
  authorization: `Bearer ${parts.token}`,
  ...parts.headers,
});
const send = (parts: Parts, rest = ""): Promise<Reply> =>
  parts.gateway.send({ headers: headersOf(parts), body: bodyOf(parts, rest) });
const answered = (state: string): string =>
  `,"requestState":"${state}","inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`;

const meta = (...members: string[]): Partial<Parts> => ({ meta: `{${members.join()}}` });

/** Legitimate change → how the retry differs from the first round. */
const CHANGES: readonly (readonly [string, () => Promise<Partial<Parts>> | Partial<Parts>])[] = [
  ["nothing but the id", () => ({})],
  ["the id to a text", () => ({ id: '"r-7f"' })],
  ["the id to a text that looks like the number", () => ({ id: '"7"' })],
  ["the progress token", () => meta(VERSION, INFO, ABLE, '"progressToken":"p-8"')],
  ["the progress token away", () => meta(VERSION, INFO, ABLE)],
  [
    "the trace context",
    () => ({
      headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", tracestate: "v=1" },
    }),
  ],
  ["the trace context away", () => ({ headers: {} })],
  [
    "the trace context into _meta",
    () =>
      meta(VERSION, INFO, ABLE, '"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"'),
  ],
  ["the order of keys in arguments", () => ({ arguments: '{"note":"\u00e9","amount":50,"to":"acct-9"}' })],
  [
    "the order of keys in params",
    () => ({ params: (m, name, args, rest) => `{"arguments":${args},"name":${name}${rest},"_meta":${m}}` }),
  ],
  ["the order of keys in _meta", () => meta(ABLE, '"progressToken":7', INFO, VERSION)],
  [
    "white space",
    () => ({
      arguments: '{ "to" : "acct-9",\r\n\t"amount":50 , "note": "\u00e9" }',
      params: (m, name, args, rest) =>
        `{\n "_meta": ${m},\n "name": ${name},\n "arguments": ${args}${rest}\n}`,
    }),
  ],
  ["escapes in texts", () => ({ arguments: '{"t\\u006f":"acct\\u002d9","amount":50,"note":"\\u00E9"}' })],
  [
    "the client's version",
    () =>
      meta(VERSION, '"io.modelcontextprotocol/clientInfo":{"name":"test","version":"2","title":"T"}', ABLE),
  ],
  [
    "the client's name",
    () => meta(VERSION, '"io.modelcontextprotocol/clientInfo":{"name":"other","version":"1"}', ABLE),
  ],
  [
    "further _meta",
    () => meta(VERSION, INFO, ABLE, '"example.com/session":"s1"', '"example.com/nested":{"a":[1]}'),
  ],
  ["the log level", () => meta(VERSION, INFO, ABLE, '"io.modelcontextprotocol/logLevel":"debug"')],
  [
    "more declared capabilities",
    () =>
      meta(
        VERSION,
        INFO,
        '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}',
      ),
  ],
  [
    "fewer declared capabilities",
    () => meta(VERSION, INFO, '"io.modelcontextprotocol/clientCapabilities":{}'),
  ],
  [
    "a refreshed token",
    async () => ({
      token: await issuer.token({
        ...WHO,
        scope: "read",
        groups: ["staff"],
        jti: "t2",
        iat: Math.floor(Date.now() / 1000) + 1,
      }),
    }),
  ],
  [
    "a token with other scopes and groups",
    async () => ({ token: await issuer.token({ ...WHO, scope: "read write", groups: [], jti: "t3" }) }),
  ],
  [
    "a token signed by the issuer's next key",
    async () => {
      await issuer.rotate();
      return { token: await issuer.token({ ...WHO, jti: "t4" }) };
    },
  ],
  [
    "the user agent and other headers",
    () => ({ headers: { "user-agent": "other/2", "x-anything": "1", "accept-language": "de" } }),
  ],
  [
    "the spelling of the media types",
    () => ({
      headers: {
        "content-type": "Application/JSON; charset=utf-8",
        accept: "text/event-stream, application/json;q=0.9",
      },
    }),
  ],
  ["another replica", () => ({ gateway: two })],
];

const ready = async (gateway: TestGateway): Promise<boolean> =>
  (await send({ ...FIRST, gateway })).status === 200;
t.before(async () => {
  for (const gateway of [one, two]) await until(() => ready(gateway));
});

let serial = 100;
for (const [name, change] of CHANGES) {
  t.test(`may change: ${name}`, async (t) => {
    const state = stateOf(await send(FIRST));
    const parts = { ...FIRST, id: String(serial++), ...(await change()) };
    const before = upstream.arrived.length;
    const reply = await send(parts, answered(state));
    t.match(reply, { status: 200, json: { result: JSON.parse(DONE) } }, reply.body);
    t.equal(upstream.arrived.length, before + 1);
    t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
  });
}

t.test("may change: the TCP connection, or keep it", async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ports: (number | undefined)[] = [];
  const over = (by: Agent | false, id: string, rest = ""): Promise<Reply["json"]> =>
    new Promise((resolve, reject) => {
      const parts = { ...FIRST, id };
      const sent = request(new URL("/mcp", one.url), {
        method: "POST",
        agent: by,
        headers: headersOf(parts),
      });
      sent.on("error", reject).on("response", (response) => {
        ports.push(sent.socket?.localPort);
        let text = "";
        response.on("data", (piece: Buffer) => {
          text += piece.toString();
        });
        response.on("error", reject).on("end", () => resolve(JSON.parse(text)));
      });
      sent.end(bodyOf(parts, rest));
    });
  for (const [first, second] of [
    [agent, agent],
    [agent, false],
    [false, false],
  ] as const) {
    ports.length = 0;
    const asked = await over(first, "1");
    const done = await over(second, "2", answered(asked.result.requestState));
    t.same(done.result, JSON.parse(DONE));
    t.equal(ports[0] === ports[1], first === second && first !== false, "it was what it was to be");
  }
});
