/** A question for consent must not tell a name that policy hides from one that nobody has: neither by being put, nor by what follows. */
import t, { type Test } from "tap";
import type { CallOptions, Message, Reply } from "../support/gateway.ts";
import type { Script } from "../support/upstream.ts";
import { type Scene, setScene } from "./scene.ts";

const HIDDEN = "hidden_one";
const UNKNOWN = "no_such_one";
const call = (name: string): Message => ({
  id: "q",
  method: "tools/call",
  params: { name, arguments: { a: 1 } },
});

const knowsNothing: Script = (arrived, response) => {
  const { id, params } = arrived.json;
  response.writeHead(200, { "content-type": "application/json" });
  const error = { code: -32602, message: `Unknown tool: ${params.name}` };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
};

async function open(t: Test, authorization: object, more: object = {}, legacy = "refuse"): Promise<Scene> {
  return setScene(t, {
    users: true,
    script: knowsNothing,
    sections: (url, { issuer, jwksUrl }) => ({
      authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
      authorization,
      routes: [{ path: "/mcp", upstream: { url }, legacy }],
      ...more,
    }),
  });
}

/** All that a caller sees, but for what differs between any two requests. */
const seen = ({ status, headers, body }: Reply) => ({
  status,
  headers: { ...headers, date: "", "x-request-id": "", "content-length": "" },
  body: body
    .replace(/"requestId":"[^"]*"/, "")
    .replace(/"requestState":"[^"]*"/, "")
    .replace(/Code: [^"\\]*/, "")
    .replaceAll(HIDDEN, "NAME")
    .replaceAll(UNKNOWN, "NAME"),
});

const DENIES = [
  { id: "plain", effect: "deny", tools: [HIDDEN] },
  { id: "pattern", effect: "deny", tools: ["hidden*"] },
];
const AUTHORIZATIONS: Readonly<Record<string, object>> = {
  "asked about all": { default: "allow", policies: [{ id: "ask", effect: "approve" }] },
  "asked by a pattern": { default: "allow", policies: [{ id: "ask", effect: "approve", tools: ["*_one"] }] },
  "asked about others": { default: "allow", policies: [{ id: "ask", effect: "approve", tools: ["pay"] }] },
  "asked about it by name": {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", tools: [HIDDEN, "pay"] }],
  },
  "by its annotations": {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", tools: ["*"], when: ["destructive"] }],
  },
  "allowed by approval only": { default: "deny", policies: [{ id: "ask", effect: "approve", tools: ["*"] }] },
  "not allowed": { default: "deny", policies: [{ id: "ask", effect: "approve", tools: ["pay"] }] },
  "by arguments": {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", tools: ["*"], arguments: [{ path: "/a", equals: 1 }] }],
  },
  "by other arguments": {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", tools: ["*"], arguments: [{ path: "/a", equals: 2 }] }],
  },
  remembered: {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", approval: { remember: "5m" } }],
  },
  "with a word to type": {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", approval: { confirm: "YES" } }],
  },
};

const ANSWERS = [
  { action: "accept", content: {} },
  { action: "accept", content: { confirm: "YES" } },
  { action: "decline" },
  { action: "cancel" },
  { action: "perhaps" },
  undefined,
];

for (const [name, authorization] of Object.entries(AUTHORIZATIONS)) {
  for (const deny of DENIES) {
    t.test(`${name}, denied by ${deny.id}`, async (t) => {
      const given = authorization as { policies: object[] };
      const all = { ...authorization, policies: [...given.policies, deny] };
      const scene = await open(t, all, { redemption: { store: "memory", results: "5m" } });
      const own = { token: scene.owner };
      const alike = async (send: (name: string) => Promise<Reply>, what: string): Promise<Reply> => {
        const before = scene.upstream.arrived.length;
        const hidden = await send(HIDDEN);
        t.equal(scene.upstream.arrived.length, before, "what is hidden never goes up");
        t.same(seen(hidden), seen(await send(UNKNOWN)), what);
        return hidden;
      };
      for (const options of [
        { capabilities: {} },
        { capabilities: { elicitation: { url: {} } } },
        {},
      ] as CallOptions[])
        await alike((one) => scene.gateway.call(call(one), { ...own, ...options }), "the first call");
      for (const answer of ANSWERS) {
        const states = new Map<string, unknown>();
        await alike(async (one) => {
          const reply = await scene.gateway.call(call(one), own);
          states.set(one, reply.json.result?.requestState);
          return reply;
        }, "asked");
        if (states.get(HIDDEN) === undefined) continue;
        for (const id of ["a", "b"]) {
          await alike(
            (one) => {
              const { params } = call(one);
              const more = { requestState: states.get(one), inputResponses: { approval: answer } };
              return scene.gateway.call({ method: "tools/call", id, params: { ...params, ...more } }, own);
            },
            `answered with ${JSON.stringify(answer)}, ${id}`,
          );
        }
      }
    });
    t.test(`${name}, denied by ${deny.id}, in an older revision`, async (t) => {
      const given = authorization as { policies: object[] };
      const scene = await open(t, { ...authorization, policies: [...given.policies, deny] }, {}, "pass");
      const send = (one: string) =>
        scene.gateway.send({
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            authorization: `Bearer ${scene.owner}`,
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...call(one) }),
        });
      const [hidden, unknown] = [await send(HIDDEN), await send(UNKNOWN)];
      const reasons = [hidden, unknown].map(({ json }) => json.error?.data?.reason);
      t.equal(reasons[0] === "approval_required", reasons[1] === "approval_required", reasons.join());
    });
  }
}
