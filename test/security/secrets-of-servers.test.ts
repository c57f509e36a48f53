/** What a server says must not be repeated to the operator or in a refusal: questions, states, errors, headers, broken bytes. */

import t from "tap";
import type { Arrived, Script } from "../support/upstream.ts";
import { plant, secret } from "./planted.ts";
import { answers } from "./scene.ts";

const { scene, call, keep, search, kept } = await plant(t);

const asks = (key: string, question: object): Script =>
  answers(
    JSON.stringify({
      resultType: "input_required",
      requestState: secret(),
      inputRequests: { [key]: question },
    }),
  );
const elicit = (params: object): Script => asks(secret(), { method: "elicitation/create", params });
const property = () => ({ type: "string", title: secret(), description: secret(), default: secret() });
const head =
  (status: number, headers: Record<string, string>, body = secret()): Script =>
  (_arrived, response) =>
    void response.writeHead(status, headers).end(body);
const socket =
  (text: string): Script =>
  (_arrived, response) =>
    void response.socket?.end(text);
const stream = (text: string): Script => head(200, { "content-type": "text/event-stream" }, text);
const error =
  (code: number): Script =>
  (arrived: Arrived, response) => {
    const data = { hint: secret(), requiredCapabilities: { [secret()]: {}, elicitation: { url: {} } } };
    response.writeHead(400, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, error: { code, message: secret(), data } }),
    );
  };

const SAYS: readonly (readonly [string, Script])[] = [
  [
    "a question",
    elicit({ message: secret(), requestedSchema: { type: "object", properties: { f: property() } } }),
  ],
  ["a question of no known kind", asks(secret(), { method: secret(), params: { message: secret() } })],
  [
    "a url that was not declared",
    elicit({ mode: "url", message: secret(), url: `https://${secret()}.example/` }),
  ],
  ["a url that is none", elicit({ mode: "url", message: secret(), url: `javascript:${secret()}` })],
  ["a mode of its own", elicit({ mode: secret(), message: secret() })],
  ["a schema that is none", elicit({ message: secret(), requestedSchema: secret() })],
  [
    "a schema too deep",
    elicit({
      message: secret(),
      requestedSchema: { type: "object", properties: { [secret()]: { type: secret() } } },
    }),
  ],
  [
    "sampling",
    asks("s", {
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: { type: "text", text: secret() } }], maxTokens: 1 },
    }),
  ],
  ["an unknown result type", answers(`{"resultType":"${secret()}","${secret()}":1}`)],
  ["questions in a complete result", answers(`{"resultType":"complete","inputRequests":{"${secret()}":1}}`)],
  ["a state in a complete result", answers(`{"resultType":"complete","requestState":"${secret()}"}`)],
  ["no JSON", answers(secret())],
  ["a key twice", answers('{"Zq7xPlantedSecret":1,"Zq7xPlantedSecret":2}')],
  [
    "another id",
    head(200, { "content-type": "application/json" }, `{"jsonrpc":"2.0","id":"${secret()}","result":{}}`),
  ],
  ["a page", head(500, { "content-type": "text/html" })],
  ["a challenge", head(401, { "www-authenticate": secret(), "content-type": "text/plain" })],
  ["a redirect", head(302, { location: `http://${secret()}.example` })],
  ["a coding", head(200, { "content-type": "application/json", "content-encoding": secret() })],
  ["a media type", head(200, { "content-type": secret(), "set-cookie": secret(), server: secret() })],
  ["a broken header", socket(`HTTP/1.1 200 OK\r\n${secret()}\x01\r\n\r\n`)],
  ["a broken status line", socket(`${secret()}\r\n\r\n`)],
  [
    "a broken chunk",
    socket(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${secret()}`,
    ),
  ],
  [
    "half a body",
    socket(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"${secret()}"`),
  ],
  ["nothing", (_arrived, response) => void response.socket?.destroy()],
  ["an error", error(-32603)],
  ["an error that asks", error(-32042)],
  ["an error for want of a capability", error(-32021)],
  [
    "events",
    stream(
      `: ${secret()}\nid: ${secret()}\nevent: ${secret()}\ndata: {"jsonrpc":"2.0","method":"notifications/${secret()}","params":{"requestState":"${secret()}"}}\n\n`,
    ),
  ],
  ["a request", stream(`data: {"jsonrpc":"2.0","id":"${secret()}","method":"${secret()}"}\n\n`)],
  ["an event that is no message", stream(`data: ${secret()}\n\n`)],
  ["an event that is no text", stream(`data: ${secret()}\xff\n\n`)],
  [
    "tasks",
    stream(`data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"${secret()}"}}\n\n`),
  ],
];

for (const [name, script] of SAYS) {
  t.test(name, async (t) => {
    scene.upstream.script = script;
    for (const [method, params] of [
      ["tools/call", {}],
      ["prompts/get", { arguments: { p: secret() } }],
      [
        "resources/read",
        { uri: `https://u:${secret()}@files.example/a?key=${secret()}#${secret()}`, name: undefined },
      ],
      ["tools/list", {}],
    ] as const) {
      const reply = await call(method, params);
      // An error of the server's own is its answer to the client, and no refusal of ours.
      if (reply.json?.error?.data?.reason !== undefined) keep(reply);
      t.not(reply.status, 500, reply.body);
    }
  });
}

t.test("nothing of it is anywhere", async (t) => {
  t.ok(kept.length > 60, `${kept.length} refusals`);
  await search(t);
});
