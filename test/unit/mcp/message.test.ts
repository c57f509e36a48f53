import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import { parseClientMessage, parseServerMessage, sameId } from "../../../src/mcp/message.ts";

const read = (text: string) => scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });
const client = (text: string) => parseClientMessage(read(text));
const server = (text: string) => parseServerMessage(read(text));
const call = (members: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call"${members}}`;

t.test("reads what clients may send", async (t) => {
  const requests: [text: string, id: string, method: string][] = [
    [call(""), "1", "tools/call"],
    [call(',"params":{}'), "1", "tools/call"],
    [call(',"params":{"_meta":{},"name":"x","arguments":{"ID":1,"id":2}}'), "1", "tools/call"],
    ['\n {"id":"a","method":"ping","jsonrpc":"2.0"}\n', '"a"', "ping"],
    ['{"jsonrpc":"2.0","id":"","method":"ping"}', '""', "ping"],
    ['{"jsonrpc":"2.0","id":-7,"method":"ping"}', "-7", "ping"],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', "9007199254740993", "ping"],
    ['{"jsonrpc":"2.0","id":"\\u0061","method":"p\\u0069ng"}', '"\\u0061"', "ping"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","extra":{"Method":1}}', "1", "ping"],
  ];
  for (const [text, id, method] of requests) t.match(client(text), { type: "request", id, method }, text);

  t.match(client('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'), {
    type: "notification",
    method: "notifications/cancelled",
  });
  t.match(client('{"jsonrpc":"2.0","id":1,"result":{}}'), { type: "result", id: "1" });
  t.match(client('{"jsonrpc":"2.0","id":"a","error":{"code":1}}'), { type: "error", id: '"a"' });
  t.match(client('{"jsonrpc":"2.0","id":null,"error":{}}'), { type: "error", id: undefined });
  t.match(client('{"jsonrpc":"2.0","error":{}}'), { type: "error", id: undefined });
});

t.test("params and _meta are handed out where they are", async (t) => {
  const doc = read(call(',"params":{"_meta":{"a":1},"name":"x"}'));
  const message = parseClientMessage(doc);
  if (message.type !== "request") throw new Error("a request");
  t.equal(message.params === undefined ? "" : doc.raw(message.params), '{"_meta":{"a":1},"name":"x"}');
  t.equal(message.meta === undefined ? "" : doc.raw(message.meta), '{"a":1}');
});

t.test("refuses everything else that a client sends", async (t) => {
  const refused: [text: string, detail: string][] = [
    ["[]", "batch"],
    [`[${call("")}]`, "batch"],
    [`\n  [${call("")},1]`, "batch"],
    ["null", "not_an_object"],
    ['"x"', "not_an_object"],
    ["{}", "jsonrpc"],
    ['{"id":1,"method":"ping"}', "jsonrpc"],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', "jsonrpc"],
    ['{"jsonrpc":2.0,"id":1,"method":"ping"}', "type"],
    ['{"jsonrpc":"2.0","id":1}', "kind"],
    ['{"jsonrpc":"2.0","method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":1.0,"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":1e0,"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":[1],"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "id"],
    ['{"jsonrpc":"2.0","id":1,"method":"\\udc00"}', "lone_surrogate"],
    ['{"jsonrpc":"2.0","id":1,"method":""}', "method"],
    ['{"jsonrpc":"2.0","id":1,"method":null}', "type"],
    ['{"jsonrpc":"2.0","id":1,"method":["tools/call"]}', "type"],
    ['{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}', "id"],
    ['{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}', "id"],
    ['{"jsonrpc":"2.0","method":"Notifications/initialized"}', "id"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', "kind"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","error":null}', "kind"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', "kind"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"params":{}}', "kind"],
    ['{"jsonrpc":"2.0","result":{}}', "id"],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', "id"],
    ['{"jsonrpc":"2.0","id":1,"result":[]}', "result"],
    ['{"jsonrpc":"2.0","id":1,"error":"x"}', "error"],
    ['{"jsonrpc":"2.0","id":1.5,"error":{}}', "id"],
    [call(',"params":null'), "params"],
    [call(',"params":[]'), "params"],
    [call(',"params":"x"'), "params"],
    [call(',"params":{"_meta":null}'), "meta"],
    [call(',"params":{"_meta":[]}'), "meta"],
    ['{"jsonrpc":"2.0","method":"notifications/x","params":[]}', "params"],
  ];
  for (const [text, detail] of refused)
    t.throws(() => client(text), { code: "invalid_request", detail }, text);
});

t.test("a known name in another case is refused, at the top and in params", async (t) => {
  const top = ["JSONRPC", "Id", "ID", "Method", "Params", "Result", "Error", "param\u017f", "re\u017fult"];
  for (const key of top)
    t.throws(
      () => client(call(`,"params":{},"${key}":1`)),
      { code: "invalid_request", detail: "case_twin" },
      key,
    );
  const params = ["_META", "Name", "URI", "Arguments", "inputresponses", "RequestState", "request\u017ftate"];
  for (const key of params) {
    t.throws(
      () => client(call(`,"params":{"name":"x","${key}":1}`)),
      { code: "invalid_request", detail: "case_twin" },
      key,
    );
    const notification = `{"jsonrpc":"2.0","method":"notifications/x","params":{"${key}":1}}`;
    t.throws(
      () => client(notification),
      { code: "invalid_request", detail: "case_twin" },
      `${key} in a notification`,
    );
  }
  t.throws(
    () => client(call(',"params":{"n\\u0041me":1}')),
    { code: "invalid_request", detail: "case_twin" },
    "spelled with an escape",
  );
  t.doesNotThrow(() => client(call(',"params":{"names":1,"Cursor":2}')), "other names are free");
});

t.test("reads what servers may send", async (t) => {
  t.match(server('{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}'), { type: "result", id: "1" });
  t.match(server('{"jsonrpc":"2.0","id":1.0,"result":{}}'), { type: "result", id: "1.0" });
  t.match(server('{"jsonrpc":"2.0","error":{"code":-32603,"message":"m"}}'), {
    type: "error",
    id: undefined,
  });
  t.match(server('{"jsonrpc":"2.0","id":2,"error":{"code":-32021,"message":"m","data":{}}}'), { id: "2" });
  t.match(server('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'), {
    type: "notification",
  });
  t.match(
    server('{"jsonrpc":"2.0","id":1,"method":"roots/list"}'),
    { type: "request" },
    "for the caller to refuse",
  );
});

t.test("what a server breaks is an upstream fault", async (t) => {
  const refused: [text: string, detail: string][] = [
    ['[{"jsonrpc":"2.0","id":1,"result":{}}]', "batch"],
    ['{"jsonrpc":"2.0","id":1,"result":null}', "result"],
    ['{"jsonrpc":"2.0","id":1,"result":[]}', "result"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":null}', "kind"],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', "id"],
    ['{"jsonrpc":"2.0","id":1,"Result":{},"result":{}}', "case_twin"],
    ['{"jsonrpc":"2.0","id":1,"result":{"RequestState":"U1"}}', "case_twin"],
    ['{"jsonrpc":"2.0","id":1,"result":{"inputrequests":{}}}', "case_twin"],
    ['{"jsonrpc":"2.0","id":1,"result":{"resulttype":"input_required"}}', "case_twin"],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1e400,"message":"m"}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":null}', "error"],
    ['{"id":1,"result":{}}', "jsonrpc"],
  ];
  for (const [text, detail] of refused)
    t.throws(() => server(text), { code: "upstream_fault", detail }, text);
});

t.test("ids are compared by type and value", async (t) => {
  const same: [string, string][] = [
    ["1", "1"],
    ["1", "1.0"],
    ["10", "1e1"],
    ["1000000", "1e+06"],
    ["0", "-0"],
    ["0", "0.000"],
    ['"a"', '"\\u0061"'],
    ["9007199254740993", "9007199254740993.0"],
    ["1e99999999999999999999", "1e99999999999999999999"],
  ];
  const different: [string, string][] = [
    ["1", '"1"'],
    ["1", "2"],
    ["1", "-1"],
    ["9007199254740992", "9007199254740993"],
    ["1e400", "1e401"],
    ["1", "1.0000000000000000000001"],
    ["1e99999999999999999999", "1e99999999999999999998"],
    ['"a"', '"A"'],
    ['"1"', '"1.0"'],
  ];
  for (const [a, b] of same) t.ok(sameId(a, b) && sameId(b, a), `${a} is ${b}`);
  for (const [a, b] of different) t.notOk(sameId(a, b) || sameId(b, a), `${a} is not ${b}`);
});
