/** What the gateway does not change arrives as it was sent, both ways: numbers, key order, escapes, white space. */
import type { ServerResponse } from "node:http";
import t, { type Test } from "tap";
import { event, eventsOf } from "../support/events.ts";
import { meta, startGateway, VERSION } from "../support/gateway.ts";
import { type Arrived, startUpstream } from "../support/upstream.ts";

/** JSON that any parser and printer would spell another way. */
const ODD = String.raw`{ "z":12345678901234567890,"a" : 1.10,"1":1e2 ,"0":-0,"e":[1E+2,0.0,-1.50e-07 , [ ],{ } ],
	"\u006bey":"\u00e9\/é\ud83d\ude00😀\t","__proto__":{"constructor":null},"":[true , false]}`;
const CR_LF = ODD.replace("\n", "\r\n");

const IDS = [
  "7",
  "0",
  "-3",
  "9007199254740993",
  "12345678901234567890",
  String.raw`"\u0061\/b"`,
  '"é"',
  '"1"',
];

/** A server may send half a surrogate pair; a client may not. */
const ODDER = ODD.replace("😀", String.raw`😀\ud800`);

type Wire = "json" | "sse";

/** Answers with `message`, whose `ID` stands for the request's own id, as one JSON body or as an event after another. */
function answer(wire: Wire, message: string) {
  return (arrived: Arrived, response: ServerResponse): void => {
    const text = message.replace("ID", () => idOf(arrived.body));
    response.writeHead(200, { "content-type": wire === "json" ? "application/json" : "text/event-stream" });
    response.end(wire === "json" ? text : event(NOTIFICATION) + event(text));
  };
}

const NOTIFICATION = `{"method":"notifications/message" , "params":{"level":"info","data":${ODDER}},"jsonrpc":"2.0"}`;

/** The `id` member as these tests spell it. */
const idOf = (body: string): string => /"id":\t("(?:[^"\\]|\\.)*"|-?\d+) /.exec(body)?.[1] ?? "null";

const META = JSON.stringify(meta({ elicitation: { form: {} }, sampling: {} })).replace("{", "{ ");

/** A request with everything in an unusual order and spelling; `more` are further members of its params. */
const request = (id: string, odd: string, more = ""): string =>
  `\r\n {"params" : {"arguments":${odd}, "name":"t\\u006fol","_meta":${META}${more}},"method":"tools\\/call","id":\t${id} ,"jsonrpc":"2.0" }\n`;

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": VERSION,
  "mcp-method": "tools/call",
  "mcp-name": "tool",
};

async function setUp(t: Test, sections: Record<string, unknown> = {}) {
  const upstream = await startUpstream(answer("json", '{"jsonrpc":"2.0","id":ID,"result":{}}'));
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const reply = await gateway.send({ headers: { ...HEADERS, ...headers }, body });
    const events = eventsOf(reply.body);
    return { ...reply, message: events.at(-1) ?? reply.body, events };
  };
  return { upstream, gateway, send };
}

for (const odd of [ODD, CR_LF]) {
  t.test(`a request goes up as it came ${odd === ODD ? "" : "with CR LF"}`, async (t) => {
    const { upstream, send } = await setUp(t);
    for (const id of IDS) {
      const body = request(id, odd);
      t.equal((await send(body)).status, 200);
      t.equal(upstream.arrived.at(-1)?.body, body, id);
    }
  });
}

const ANSWERS: Record<string, string> = {
  result: `\t{"result" : {"structuredContent":${ODDER}, "content":[ ],"resultType":"complete"} , "id":ID,"jsonrpc":"2.0"}`,
  "a result without resultType": `{"jsonrpc":"2.0","id": ID ,"result":{"content":[{"type":"text","text":"\\u00e9"}]}}`,
  error: `{"error":{"message":"\\u0062ad","data":${ODDER},"code":-32000},"jsonrpc" : "2.0","id":ID}`,
};

for (const wire of ["json", "sse"] as const) {
  for (const [name, message] of Object.entries(ANSWERS)) {
    t.test(`${name} comes down as it was sent, by ${wire}`, async (t) => {
      const { upstream, send } = await setUp(t);
      upstream.script = answer(wire, message);
      for (const id of IDS) {
        const reply = await send(request(id, "{}"));
        t.equal(
          reply.message,
          message.replace("ID", () => id),
          id,
        );
        if (wire === "sse") t.equal(reply.events[0], NOTIFICATION);
      }
    });
  }

  t.test(`an answer with the id in another spelling gets the client's own, by ${wire}`, async (t) => {
    const { upstream, send } = await setUp(t);
    const spelt = { "7": "7.0", "100": "1e2", '"a/é"': String.raw`"\u0061\/\u00e9"` };
    for (const [own, other] of Object.entries(spelt)) {
      const message = `{ "jsonrpc":"2.0" ,"id" : ${other} ,"result":{"content":[],"n":1.10}}`;
      upstream.script = answer(wire, message);
      t.equal(
        (await send(request(own, "{}"))).message,
        message.replace(other, () => own),
      );
    }
  });

  t.test(`an error that knows no id gets the request's own, by ${wire}`, async (t) => {
    const { upstream, send } = await setUp(t);
    const error = `{ "message":"\\u0062ad","data":${ODDER} ,"code":-32000}`;
    for (const id of IDS) {
      upstream.script = answer(wire, `{"jsonrpc":"2.0", "id" : null ,"error":${error}}`);
      t.equal((await send(request(id, "{}"))).message, `{"jsonrpc":"2.0", "id" : ${id} ,"error":${error}}`);
      upstream.script = answer(wire, `{"error":${error} , "jsonrpc":"2.0" }`);
      t.equal((await send(request(id, "{}"))).message, `{"error":${error} , "jsonrpc":"2.0","id":${id} }`);
    }
  });

  t.test(`around a sealed state nothing changes, by ${wire}; nor around it in the retry`, async (t) => {
    const { upstream, send } = await setUp(t);
    const question = `{ "method":"elicitation\\/create","params":{"message":"\\u00dc \\/ 1.10","requestedSchema":{"properties":{"n":{"minimum":1.10,"type":"number"}},"type":"object"}} }`;
    const states = [String.raw`"pl\u00e4in \/ \ud83d\ude00"`, '""', '"12345678901234567890"'];
    for (const state of states) {
      const message = `{"id":ID,"result":{ "requestState" : ${state},"_meta":{"x":${ODD}},"inputRequests":{"q\\u0031":${question}} ,"resultType":"input_required"},"jsonrpc":"2.0"}`;
      upstream.script = answer(wire, message);
      const asked = await send(request("1", ODD));
      const token = /sg1\.[A-Za-z0-9_-]+/.exec(asked.message)?.[0] ?? "none";
      t.equal(
        asked.message.replace(JSON.stringify(token), () => state),
        message.replace("ID", "1"),
      );

      upstream.script = answer(wire, ANSWERS["result"] ?? "");
      const answers = String.raw`,"inputResponses" : { "q1":{"content":{"n":1.10e0},"\u0061ction":"accept" , "_meta":{"y":1E2}} }`;
      const retry = (text: string): string => request("2", ODD, `${answers}, "requestState":${text}`);
      t.equal((await send(retry(JSON.stringify(token)))).status, 200);
      t.equal(upstream.arrived.at(-1)?.body, retry(JSON.stringify(JSON.parse(state))));
    }
  });

  t.test(`where the server sent no state, one is added and taken out again, by ${wire}`, async (t) => {
    const { upstream, send } = await setUp(t);
    const message = `{"id":ID,"result":{"resultType":"input_required", "inputRequests":{"q":{"method":"sampling/createMessage","params":{"maxTokens":1e2,"messages":[]}}} },"jsonrpc":"2.0"}`;
    upstream.script = answer(wire, message);
    const asked = await send(request("1", ODD));
    const token = /sg1\.[A-Za-z0-9_-]+/.exec(asked.message)?.[0] ?? "none";
    t.equal(asked.message.replace(`,"requestState":"${token}"`, ""), message.replace("ID", "1"));

    upstream.script = answer(wire, ANSWERS["result"] ?? "");
    const answers = `,"inputResponses" : { "q":{"model":"m","role":"assistant","content":{"type":"text","text":"\\u00e9","n":1.10}} }`;
    t.equal((await send(request("2", ODD, `, "requestState" : "${token}"${answers}`))).status, 200);
    t.equal(upstream.arrived.at(-1)?.body, request("2", ODD, answers));
  });
}

t.test("line ends of other standards stay in a body, and leave an event stream as escapes", async (t) => {
  const { upstream, send } = await setUp(t);
  const text = "a\u2028b\u2029c\u0085d";
  const escaped = String.raw`a\u2028b\u2029c\u0085d`;
  const message = (words: string): string => `{"jsonrpc":"2.0","id":ID,"result":{"content":[ ],"${words}":"${words}","n":1.10}}`; // biome-ignore format: one text
  for (const [wire, left] of [
    ["json", text],
    ["sse", escaped],
  ] as const) {
    upstream.script = answer(wire, message(text));
    const reply = await send(request("1", `{"${text}":"${text}"}`));
    t.equal(reply.message, message(left).replace("ID", "1"), wire);
    t.equal(upstream.arrived.at(-1)?.body, request("1", `{"${text}":"${text}"}`));
  }
});

t.test("narrowed capabilities and filtered lists leave all else alone", async (t) => {
  const { upstream, send } = await setUp(t, {
    capability: { allow: ["elicitation.form"] },
    authorization: { default: "allow", policies: [{ id: "no-b", effect: "deny", tools: ["b"] }] },
  });
  const listed = `{"tools":[ {"name":"a","x":${ODD}} , {"name":"b","x":1} ,{"name":"\\u0063" } ],"ttlMs":0,"cacheScope":"private" , "n":1.10}`;
  upstream.script = answer("json", `{"jsonrpc":"2.0","id":ID,"result":${listed}}`);
  const list = (capabilities: string): string =>
    `{"jsonrpc":"2.0","id":\t1 ,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"${VERSION}","io.modelcontextprotocol/clientCapabilities":${capabilities}, "n":1.10}}}`;
  const reply = await send(list(`{ "x":1.10, "sampling":{ } , "elicitation":{"form":{ }} }`), {
    "mcp-method": "tools/list",
  });
  t.equal(upstream.arrived[0]?.body, list(`{ "x":1.10 , "elicitation":{"form":{ }} }`));
  t.equal(reply.message, `{"jsonrpc":"2.0","id":1,"result":${listed.replace(' , {"name":"b","x":1}', "")}}`);
});

t.test("notifications go up, and legacy traffic goes both ways, as they came", async (t) => {
  const { upstream, gateway, send } = await setUp(t, {});
  const note = ` {"method":"notifications/\\u0070rogress","params":{"progress":1.10,"progressToken":12345678901234567890,"x":${ODD}} ,"jsonrpc":"2.0"}`;
  upstream.script = (_arrived, response) => void response.writeHead(202).end();
  t.equal((await send(note, { "mcp-method": "notifications/progress" })).status, 202);
  t.equal(upstream.arrived.at(-1)?.body, note);
  await gateway.close(0);

  const legacy = await startGateway(upstream.url, {
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
  });
  t.teardown(() => legacy.close(0));
  const headers = { "content-type": "application/json", accept: HEADERS.accept };
  const call = `\n{"params":{"arguments":${CR_LF},"name":"t"},"method":"tools/call","id":\t1e0 ,"jsonrpc":"2.0"}`;
  for (const wire of ["json", "sse"] as const) {
    const message = `{"jsonrpc":"2.0","id":1.0,"result":{"content":[ ],"structuredContent":${ODD}}}`;
    upstream.script = answer(wire, message);
    const body = call.replace("1e0", "10");
    const reply = await legacy.send({ headers, body });
    t.equal(upstream.arrived.at(-1)?.body, body);
    t.equal(eventsOf(reply.body).at(-1) ?? reply.body, message);
  }
  t.equal((await legacy.send({ headers, body: call })).json.error.code, -32600, "an id is an integer's text");
});
