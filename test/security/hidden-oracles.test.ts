/** What else could tell a name that policy hides from one that nobody has: every check that looks at the request and not at the name. */
import t from "tap";
import { type CallOptions, type Message, type Reply, startGateway } from "../support/gateway.ts";
import type { Script } from "../support/upstream.ts";
import { asksOnce, passes, setScene, YES } from "./scene.ts";

process.env["SG_KEY_ORACLE"] = "one secret for the gateway before and after";
const keys = { primary: "k", ring: [{ id: "k", secret: { env: "SG_KEY_ORACLE" } }] };
const authorization = {
  default: "allow",
  policies: [
    { id: "names", effect: "deny", tools: ["hidden*"], prompts: ["hidden*"], resources: ["hid:*"] },
    { id: "methods", effect: "deny", methods: ["vendor/hidden"] },
  ],
};
const rejections = ["error", "tool-error", "reprompt"];
const answered = ["refuse", "drop", "forward"];
const scene = await setScene(t, {
  sections: (url) => ({
    keys,
    authorization,
    routes: [
      { path: "/mcp", upstream: { url } },
      ...rejections.map((rejection) => ({ path: `/${rejection}`, upstream: { url }, roundTrip: { rejection } })), // biome-ignore format: one item, one line
      ...answered.map((answersWithoutState) => ({ path: `/${answersWithoutState}`, upstream: { url }, roundTrip: { answersWithoutState } })), // biome-ignore format: one item, one line
    ],
  }),
});

/** Knows nothing, and says so in words of its own. */
const knowsNothing: Script = (arrived, response) => {
  const { id, method, params } = arrived.json;
  const error = {
    "tools/call": { code: -32602, message: `Unknown tool: ${params.name}` },
    "prompts/get": { code: -32602, message: `Prompt "${params.name}" not found` },
    "resources/read": { code: -32602, message: `Resource ${params.uri} not found` },
  }[String(method)] ?? { code: -32601, message: `Method not found: ${method}`, data: { from: "server" } };
  response.writeHead(error.code === -32601 ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
};

const PAIRS: Readonly<Record<string, readonly [hidden: Message, unknown: Message]>> = {
  tools: [
    { method: "tools/call", params: { name: "hidden_one" } },
    { method: "tools/call", params: { name: "no_such_one" } },
  ],
  prompts: [
    { method: "prompts/get", params: { name: "hidden_one" } },
    { method: "prompts/get", params: { name: "no_such_one" } },
  ],
  resources: [
    { method: "resources/read", params: { uri: "hid:one" } },
    { method: "resources/read", params: { uri: "no-:one" } },
  ],
  methods: [{ method: "vendor/hidden" }, { method: "vendor/no_such" }],
};

/** All that a caller sees, but for what differs between any two requests. */
const seen = ({ status, headers, body }: Reply) => ({
  status,
  headers: { ...headers, date: "", "x-request-id": "", "content-length": "" },
  body: body.replace(/"requestId":"[^"]*"/, ""),
});

const FORGED = ["x", "", "sg1.", "sg1.AAAA", 7, {}, [], true, `sg1.${"A".repeat(400)}`, "x".repeat(200_000)];
const ANSWERS = [{}, [], "yes", null, YES, { confirm: { action: "decline" } }, { confirm: 1 }];
type Variant = readonly [label: string, params: Readonly<Record<string, unknown>>, options?: CallOptions];
const VARIANTS: readonly Variant[] = [
  ["nothing odd", {}],
  ...FORGED.map((requestState) => [`state ${JSON.stringify(requestState).slice(0, 20)}`, { requestState }] satisfies Variant), // biome-ignore format: one item, one line
  ...ANSWERS.map((inputResponses) => [`answers ${JSON.stringify(inputResponses)}`, { inputResponses }] satisfies Variant), // biome-ignore format: one item, one line
  ...ANSWERS.map((inputResponses) => [`both, ${JSON.stringify(inputResponses)}`, { inputResponses, requestState: "x" }] satisfies Variant), // biome-ignore format: one item, one line
  ...[{ elicitation: 1 }, { sampling: [] }, { Elicitation: {} }, { extensions: "x" }, { roots: null }].map((capabilities) => [`capabilities ${JSON.stringify(capabilities)}`, {}, { capabilities }] satisfies Variant), // biome-ignore format: one item, one line
  ["mirrored header", {}, { headers: { "mcp-name": "other", "mcp-method": "other" } }],
  ["arguments", { arguments: [] }],
  ["meta", { _meta: 1 }],
];

t.test("hidden and unknown read the same, whatever else is wrong", async (t) => {
  scene.upstream.script = knowsNothing;
  for (const [kind, pair] of Object.entries(PAIRS)) {
    for (const path of ["/mcp", ...[...rejections, ...answered].map((name) => `/${name}`)]) {
      for (const [label, params, options = {}] of VARIANTS) {
        const [hidden, unknown] = await Promise.all(
          pair.map(
            (message) =>
            scene.gateway.call({ id: 4, method: message.method, params: { ...message.params, ...params } }, { ...options, path }), // biome-ignore format: one call, one line
          ),
        );
        if (hidden === undefined || unknown === undefined) throw new Error("no reply");
        t.same(seen(hidden), seen(unknown), `${kind} ${path} ${label}: ${hidden.body.slice(0, 120)}`);
      }
    }
  }
  const seenUp = scene.upstream.arrived.filter(({ body }) => /hidden|hid:/.test(body));
  t.same(seenUp, [], "nothing hidden went up");
});

t.test("a full house reads the same too", async (t) => {
  const upstream = scene.upstreamUrl;
  const gateway = await startGateway(upstream, { authorization, server: { listen: "127.0.0.1:0", publicUrl: "http://gateway.test", allowedHosts: ["127.0.0.1"], limits: { inFlight: 1 } } }); // biome-ignore format: one call, one line
  t.teardown(() => gateway.close(0));
  let arrived = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const gone = new AbortController();
  scene.upstream.script = () => arrived();
  const held = gateway.call({ method: "tools/call", params: { name: "slow" } }, { signal: gone.signal }).catch(() => undefined); // biome-ignore format: one call, one line
  await waiting;
  for (const [hidden, unknown] of Object.values(PAIRS)) {
    const [a, b] = [await gateway.call({ ...hidden, id: 4 }), await gateway.call({ ...unknown, id: 4 })];
    t.same(seen(a), seen(b));
    t.equal(a.status, 429);
  }
  gone.abort();
  await held;
});

t.test("audit says what it was", async (t) => {
  scene.upstream.script = knowsNothing;
  const [hidden] = PAIRS["tools"] ?? [];
  if (hidden === undefined) throw new Error("no message");
  await scene.gateway.call(hidden);
  t.match(scene.gateway.audit.at(-1), { code: "unknown_tool", cause: "policy", policy: "names", target: { name: "hidden_one" } }); // biome-ignore format: one case, one line
  await scene.gateway.call({ ...hidden, params: { ...hidden.params, requestState: "x" } });
  t.match(scene.gateway.audit.at(-1), { code: "invalid_request_state", cause: "prefix", policy: "names" });
  await scene.gateway.call({ method: "vendor/no_such" });
  t.match(scene.gateway.audit.at(-1), { code: "method_not_found", cause: "upstream" });
});

t.test("a good state for a name that was hidden since: unknown, and not redeemed", async (t) => {
  scene.upstream.script = asksOnce;
  const before = await startGateway(scene.upstreamUrl, { keys });
  t.teardown(() => before.close(0));
  const message: Message = { method: "tools/call", params: { name: "hidden_one", arguments: { a: 1 } } };
  const { requestState } = (await before.call(message)).json.result;
  const bytes = scene.bytesUp();
  for (let times = 0; times < 2; times++) {
    const retry = {
      ...message,
      id: `r${times}`,
      params: { ...message.params, requestState, inputResponses: YES },
    };
    const reply = await scene.gateway.call(retry);
    t.match(reply.json.error, { code: -32602, message: "Unknown tool" });
    t.match(scene.gateway.audit.at(-1), { code: "unknown_tool", cause: "policy", state: "opened" });
  }
  t.equal(scene.bytesUp(), bytes, "not a byte went up");
});

t.test("honest: what is shown is called, asked and answered", async (t) => {
  scene.upstream.script = asksOnce;
  const state = await scene.ask();
  await passes(t, scene, () => scene.retry(state));
});
