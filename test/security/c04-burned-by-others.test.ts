/** C04: forged or misdirected attempts must not use up somebody's state. */
import { type ClientRequest, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { type Reply, startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, passes, refuses, refusesState, type Scene, setScene, TRANSFER, YES } from "./scene.ts";

const scene = await setScene(t, {
  users: true,
  sections: (url, { issuer, jwksUrl }) => ({
    server: {
      listen: "127.0.0.1:0",
      publicUrl: "http://gateway.test",
      allowedHosts: ["127.0.0.1"],
      limits: { body: "64KiB", inFlight: 1 },
    },
    authentication: { issuers: [{ issuer, jwks: { url: jwksUrl }, requiredScopes: ["mcp"] }] },
    routes: [{ path: "/mcp", upstream: { url } }],
  }),
});
const aud = "http://gateway.test/mcp";
const owner = await scene.issuer.token({ sub: "u-1001", aud, scope: "mcp" });
const stranger = await scene.issuer.token({ sub: "u-2002", aud, scope: "mcp" });
const unscoped = await scene.issuer.token({ sub: "u-1001", aud, scope: "other" });
const own = { token: owner };

const flip = (state: string, at: number): string => {
  const characters = [...state];
  characters[at] = characters[at] === "A" ? "B" : "A";
  return characters.join("");
};

type Attempt = (scene: Scene, state: string) => Promise<Reply>;
const STATE_REFUSED: readonly (readonly [string, Attempt, string])[] = [
  ["a byte of the tag flipped", (s, state) => s.retry(flip(state, state.length - 3), {}, own), "aead"],
  ["a byte of the nonce flipped", (s, state) => s.retry(flip(state, 14), {}, own), "aead"],
  ["a byte of the key id flipped", (s, state) => s.retry(flip(state, 5), {}, own), "unknown_key"],
  ["cut short", (s, state) => s.retry(state.slice(0, -4), {}, own), "aead"],
  ["made longer", (s, state) => s.retry(`${state}AAAA`, {}, own), "aead"],
  ["another principal", (s, state) => s.retry(state, {}, { token: stranger }), "principal"],
  [
    "another principal, whose answers do not fit either",
    (s, state) => s.retry(state, { inputResponses: "yes" }, { token: stranger }),
    "principal",
  ],
  [
    "other arguments",
    (s, state) => s.retry(state, { params: { name: "transfer", arguments: { to: "acct-1" } } }, own),
    "params",
  ],
  [
    "on a method that has no rounds",
    (s, state) => s.retry(state, { method: "tools/list" }, own),
    "unsupported_method",
  ],
];

const OTHERWISE: readonly (readonly [string, Attempt, Parameters<typeof refuses>[3]])[] = [
  ...[[], "yes", 1, false].map((answers): readonly [string, Attempt, Parameters<typeof refuses>[3]] => [
    `answers that are no object: ${JSON.stringify(answers)}`,
    (s, state) => s.retry(state, { inputResponses: answers }, own),
    { status: 400, code: -32602, reason: "invalid_input_responses" },
  ]),
  [
    "an answer of another kind",
    (s, state) => s.retry(state, { inputResponses: { confirm: { roots: [] } } }, own),
    { status: 400, reason: "invalid_input_responses" },
  ],
  [
    "content that breaks the form",
    (s, state) =>
      s.retry(state, { inputResponses: { confirm: { action: "accept", content: { ok: "y" } } } }, own),
    { status: 400, reason: "invalid_input_responses" },
  ],
  [
    "a body over the limit",
    (s, state) => s.retry(state, { params: { ...TRANSFER.params, pad: "x".repeat(70_000) } }, own),
    { status: 413, reason: "body_too_large" },
  ],
  [
    "no token",
    (s, state) => s.retry(state, {}, { headers: { authorization: undefined } }),
    { status: 401, reason: "unauthorized" },
  ],
  ["a token without the scope", (s, state) => s.retry(state, {}, { token: unscoped }), { status: 403 }],
  [
    "a mirrored header that differs",
    (s, state) => s.retry(state, {}, { ...own, headers: { "mcp-name": "other" } }),
    { status: 400, code: -32020 },
  ],
  [
    "the id of the answered request",
    (s, state) => s.retry(state, { id: "first" }, own),
    { status: 400, code: -32600, reason: "same_request_id" },
  ],
];

const seal = (): Promise<string> => scene.ask({ ...TRANSFER, id: "first" }, own);
const redeems = (t: Parameters<typeof passes>[0], state: string) =>
  t.test("then the owner's own retry works", async (t) => {
    await passes(t, scene, () => scene.retry(state, {}, own));
  });

for (const [name, attempt, cause] of STATE_REFUSED) {
  t.test(name, async (t) => {
    const state = await seal();
    await refusesState(t, scene, () => attempt(scene, state), { cause });
    await redeems(t, state);
  });
}

for (const [name, attempt, expected] of OTHERWISE) {
  t.test(name, async (t) => {
    const state = await seal();
    await refuses(t, scene, () => attempt(scene, state), expected);
    await redeems(t, state);
  });
}

t.test("while the gateway is at its limit", async (t) => {
  const state = await seal();
  const { promise: reached, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  scene.upstream.script = async (arrived, response) => {
    arrive();
    await held;
    return asksOnce(arrived, response);
  };
  const first = scene.gateway.call(TRANSFER, own);
  await reached;
  await refuses(t, scene, () => scene.retry(state, {}, own), { status: 429, reason: "too_many_requests" });
  release();
  await first;
  await redeems(t, state);
});

t.test("while the upstream refuses connections, so that it surely got nothing", async (t) => {
  const home = await startUpstream(asksOnce);
  const server = createServer((request, response) => void request.pipe(connectTo(home.url, response)));
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const gateway = await startGateway(`http://127.0.0.1:${port}/mcp`);
  t.teardown(() => Promise.all([gateway.close(0), home.close(), server.close()]));
  const { requestState } = (await gateway.call(TRANSFER)).json.result;
  const retry = { ...TRANSFER, params: { ...TRANSFER.params, requestState, inputResponses: YES } };
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  t.match(await gateway.call(retry), {
    status: 502,
    json: { error: { data: { reason: "upstream_unreachable" } } },
  });
  t.match(gateway.audit.at(-1), { state: "released", cause: "connection_refused" });
  await listen(port);
  t.match(await gateway.call(retry), { status: 200, json: { result: { resultType: "complete" } } });
  t.equal(home.arrived.length, 2);
});

/** A request on to `url` whose answer goes to `response`. */
function connectTo(url: string, response: ServerResponse): ClientRequest {
  return request(url, { method: "POST", headers: { connection: "close" } }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, { "content-type": "application/json", connection: "close" });
    answer.pipe(response);
  });
}
