/** A modern state or answer, smuggled as traffic of an older revision on a route with `legacy: pass`, never reaches the server. */
import t from "tap";
import { result } from "../support/upstream.ts";
import { answers, asksOnce, DONE, META, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const state = await scene.ask();
scene.upstream.script = answers(DONE);

type Given = Record<string, string | undefined>;
const BARE: Given = { "mcp-method": undefined, "mcp-name": undefined, "mcp-protocol-version": undefined };
const HEADERS: readonly (readonly [string, Given])[] = [
  ["no version header", BARE],
  ...["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2025-12-31", "0000-00-00", " 2025-06-18 "].map(
    (version) => [version, { ...BARE, "mcp-protocol-version": version }] as const,
  ),
  ["an old version beside modern mirrors", { "mcp-protocol-version": "2025-06-18" }],
  ["modern mirrors alone", { "mcp-protocol-version": undefined }],
  ["the modern version alone", { ...BARE, "mcp-protocol-version": "2026-07-28" }],
  ["everything modern", {}],
  ["a version to come", { "mcp-protocol-version": "2027-01-01" }],
  ["no version at all", { ...BARE, "mcp-protocol-version": "latest" }],
  ["an old session", { ...BARE, "mcp-protocol-version": "2025-06-18", "mcp-session-id": "s-1" }],
];

const TARGET = '"name":"transfer","arguments":{"to":"acct-9","amount":50}';
const YES = '{"confirm":{"action":"accept","content":{"ok":true}}}';
const STATE = `"requestState":"${state}"`;
const CARRIERS = [
  `${STATE},"inputResponses":${YES}`,
  STATE,
  `"inputResponses":${YES}`,
  '"requestState":"U1=="',
  `"requestState":null,"inputResponses":${YES}`,
  `"requestSt\\u0061te":"${state}"`,
  `"\\u0069nputResponses":${YES}`,
  `"RequestState":"${state}"`,
  `"requeststate":"${state}","INPUTRESPONSES":${YES}`,
  `"reque\u017ftState":"${state}"`,
  `"inputRe\\u017fponses":${YES}`,
  `${STATE},${STATE}`,
  `${STATE},"requestSt\\u0061te":"${state}"`,
  `"requestState":["${state}"]`,
  '"inputResponses":{}',
];
/** Metas that are missing, half or in disguise. A whole one is modern, and judged as such. */
const METAS = [
  "",
  '"_meta":{},',
  '"_meta":{"progressToken":1},',
  '"_meta":null,',
  '"_meta":[],',
  '"_Meta":{},',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"},',
  '"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},',
  '"_meta":{"IO.MODELCONTEXTPROTOCOL/PROTOCOLVERSION":"2026-07-28"},',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":20260728,"io.modelcontextprotocol/clientCapabilities":{}},',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null},',
];
const params = (carriers: string): string[] => METAS.map((meta) => `{${meta}${TARGET},${carriers}}`);
const call = (text: string, method = "tools/call", id = '"id":1,'): string =>
  `{"jsonrpc":"2.0",${id}"method":"${method}","params":${text}}`;

const BODIES: readonly string[] = [
  ...CARRIERS.flatMap((carriers) => params(carriers).map((text) => call(text))),
  ...[
    "initialize",
    "ping",
    "prompts/get",
    "resources/read",
    "tools/list",
    "logging/setLevel",
    "vendor/run",
    "Tools/Call",
  ].flatMap((method) =>
    CARRIERS.slice(0, 3).map((carriers) => call(`{"uri":"file:///a",${TARGET},${carriers}}`, method)),
  ),
  ...["notifications/initialized", "notifications/cancelled", "notifications/elicitation/complete"].flatMap(
    (method) => CARRIERS.slice(0, 3).map((carriers) => call(`{${carriers}}`, method, "")),
  ),
  call(`{${TARGET},${STATE}}`, "tools/call", ""),
  call(`{${TARGET},${STATE}}`, "notifications/x", '"id":1,'),
  ...CARRIERS.map((carriers) => `{"jsonrpc":"2.0","id":1,"result":{${carriers}}}`),
  `[${call(`{${TARGET},${STATE}}`)}]`,
  `[${call("{}", "ping")},${call(`{${TARGET},${STATE}}`)}]`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${TARGET}},"Params":{${TARGET},${STATE}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${TARGET}},"params":{${TARGET},${STATE}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[{${TARGET},${STATE}}]}`,
  `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{${TARGET},${STATE}}}`,
  `{"id":1,"method":"tools/call","params":{${TARGET},${STATE}}}`,
  // Beside the params, and inside _meta, no reader looks; there is no honest reason for it either.
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${TARGET}},${STATE}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{${STATE}},${TARGET}}}`,
  `{"jsonrpc":"2.0","id":1,"result":{"_meta":{${STATE}}}}`,
  `{"jsonrpc":"2.0","id":1,"result":{},${STATE}}`,
  `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x",${STATE}}}`,
];

for (const [name, headers] of HEADERS) {
  t.test(name, async (t) => {
    const before = scene.bytesUp();
    for (const body of BODIES) {
      const reply = await scene.raw(body, undefined, headers);
      const seen = scene.bytesUp() - before;
      if (reply.status < 400 || seen > 0) t.fail(`${reply.status} ${body}`);
    }
    t.equal(scene.bytesUp(), before, `${BODIES.length} bodies, not a byte went up`);
  });
}

t.test("GET and DELETE carry nothing up, and none of them is modern", async (t) => {
  const body = call(`{${TARGET},${STATE}}`);
  const length = String(body.length);
  for (const method of ["GET", "DELETE"]) {
    for (const version of ["2026-07-28", "2027-01-01", "latest", "2025-12-31"]) {
      const before = scene.bytesUp();
      const headers = { "mcp-protocol-version": version, "content-length": length };
      const reply = await scene.gateway.send({ method, headers, body });
      t.equal(reply.status, 405, `${method} ${version}`);
      t.equal(scene.bytesUp(), before);
    }
    const headers = {
      "mcp-protocol-version": "2025-06-18",
      "content-type": "application/json",
      "content-length": length,
    };
    await scene.gateway.send({ method, path: `/mcp?requestState=${state}`, headers, body });
    const arrived = scene.upstream.arrived.at(-1);
    t.equal(arrived?.method, method);
    t.equal(arrived?.body, "");
    t.notMatch(JSON.stringify(arrived), /requestState|sg1\./);
  }
});

t.test("honest: older traffic passes as it was sent", async (t) => {
  scene.upstream.script = (arrived, response) => {
    if (arrived.json.method !== undefined && arrived.json.id !== undefined) result(arrived, response, DONE);
    else response.writeHead(202).end();
  };
  for (const body of [
    call(`{${TARGET}}`),
    call(`{"_meta":{"progressToken":1},${TARGET}}`),
    call(`{"name":"x","arguments":{"requestState":"mine","inputResponses":{"a":1.10}}}`),
    call(
      '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}',
      "initialize",
    ),
    call("{}", "ping"),
    call("{}", "notifications/initialized", ""),
    '{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"requestState":"mine"}}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
  ]) {
    for (const headers of [BARE, { ...BARE, "mcp-protocol-version": "2025-06-18" }]) {
      const before = scene.upstream.arrived.length;
      const reply = await scene.raw(body, undefined, headers);
      t.ok(reply.status < 300, reply.body);
      t.equal(scene.upstream.arrived.length, before + 1);
      t.equal(scene.upstream.arrived.at(-1)?.body, body);
    }
  }
});

t.test("honest: the state itself is unspent, and works as what it is", async (t) => {
  scene.upstream.script = asksOnce;
  const reply = await scene.retry(state);
  t.match(reply, { status: 200, json: { result: { resultType: "complete" } } });
});

t.test("misplaced carriers are refused in modern messages too", async (t) => {
  const modern = (text: string, more = ""): string => call(`{"_meta":${text},${TARGET}}${more}`);
  for (const body of [modern(META, `,${STATE}`), modern(META.replace("{", `{"inputResponses":${YES},`))]) {
    const before = scene.bytesUp();
    const reply = await scene.raw(body);
    t.match(reply, { status: 400, json: { error: { data: { reason: "invalid_request_state" } } } });
    t.equal(scene.bytesUp(), before);
  }
});

t.test("a server of an older revision cannot ask in rounds either", async (t) => {
  for (const text of ['{"requestState":"inner"}', `{"resultType":"input_required","inputRequests":{}}`]) {
    scene.upstream.script = answers(text);
    const reply = await scene.raw(call(`{${TARGET}}`), undefined, BARE);
    t.equal(reply.json.error.code, -32603);
    t.notMatch(reply.body, /inner|input_required/);
  }
});
