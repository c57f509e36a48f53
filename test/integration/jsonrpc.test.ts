/** JSON-RPC at the gateway's edge: which ids there are and how they come back, and what is no request. */
import t from "tap";
import { startGateway, VERSION } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, DONE, TRANSFER, textOf } from "./rounds.ts";

const upstream = await startUpstream(answers(DONE));
t.teardown(() => upstream.close());
const gateway = await startGateway(upstream.url, {
  routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
});
t.teardown(() => gateway.close(0));

const BOTH = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MODERN = {
  ...BOTH,
  "mcp-protocol-version": VERSION,
  "mcp-method": "tools/call",
  "mcp-name": "transfer",
};
const call = (id: string): string => textOf(id, TRANSFER);
const legacy = (id: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x"}}`;

const IDS = [
  "1",
  "0",
  "-1",
  "-0",
  "9007199254740993",
  "123456789012345678901234567890",
  '"1"',
  '""',
  '"\\u0031"',
  '"é\\n"',
  '"\ud83d\ude00"',
];
const NO_IDS = [
  "1.0",
  "1e0",
  "1E0",
  "10e-1",
  "1.5",
  "-1.0",
  "null",
  "true",
  "[1]",
  "{}",
  '"\\ud800"',
  '["1"]',
];

t.test("an id comes back in its own spelling, in either era", async (t) => {
  for (const id of IDS) {
    for (const [body, headers] of [
      [call(id), MODERN],
      [legacy(id), BOTH],
    ] as const) {
      const reply = await gateway.send({ headers, body });
      t.equal(reply.body, `{"jsonrpc":"2.0","id":${id},"result":${DONE}}`);
      t.equal(upstream.arrived.at(-1)?.body, body);
    }
  }
});

t.test("other spellings and other values are no ids, in either era", async (t) => {
  const before = upstream.arrived.length;
  for (const id of NO_IDS) {
    for (const [body, headers] of [
      [call(id), MODERN],
      [legacy(id), BOTH],
    ] as const) {
      const { status, json } = await gateway.send({ headers, body });
      t.equal(status, 400);
      t.match(json, { id: null, error: { code: -32600, data: { reason: "invalid_request" } } }, id);
    }
  }
  t.equal(upstream.arrived.length, before);
});

t.test("a client has nothing to answer, and says one thing at a time", async (t) => {
  const before = upstream.arrived.length;
  for (const [body, id] of [
    ['{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}', 1],
    ['{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}', "a"],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"result":{}}', 1],
    ['{"jsonrpc":"2.0","id":1}', 1],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"transfer"}}', null],
    ['{"jsonrpc":"2.0","id":1,"method":"notifications/progress"}', 1],
    [`[${call("1")}]`, null],
  ] as const) {
    const { status, json } = await gateway.send({ headers: MODERN, body });
    t.equal(status, 400, body);
    t.match(json, { id, error: { code: -32600, data: { reason: "invalid_request" } } });
  }
  t.equal(upstream.arrived.length, before);
});

t.test("a notification is taken with 202 and no body, and nothing else is", async (t) => {
  const note =
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';
  for (const headers of [{ ...MODERN, "mcp-method": "notifications/progress" }, BOTH]) {
    upstream.script = (_arrived, response) => void response.writeHead(202).end();
    const reply = await gateway.send({ headers, body: note });
    t.equal(reply.status, 202);
    t.equal(reply.body, "");
    t.equal(upstream.arrived.at(-1)?.body, note);
  }
  upstream.script = answers(DONE);
  t.equal((await gateway.send({ headers: MODERN, body: call("1") })).status, 200);
});

t.test(
  "headers of a tool's parameters go up with characters that a header may have, and only so",
  async (t) => {
    for (const [value, arrives] of [
      ["eu-west", true],
      ["a\tb, c", true],
      ["caf\u00e9", false],
      ["\u0080", false],
    ] as const) {
      const headers = { ...MODERN, "mcp-param-region": value, "mcp-param-other": "1", "x-region": "1" };
      const before = upstream.arrived.length;
      const reply = await gateway.send({ headers, body: call("1") });
      t.equal(reply.status, arrives ? 200 : 400, JSON.stringify(value));
      t.equal(upstream.arrived.length - before, arrives ? 1 : 0);
      if (!arrives) continue;
      const got = upstream.arrived.at(-1)?.headers;
      t.equal(got?.["mcp-param-region"], value);
      t.equal(got?.["mcp-param-other"], "1");
      t.equal(got?.["x-region"], undefined);
    }
  },
);
