/** Rules of the HTTP transport, broken and kept. */
import { type CallOptions, type Message, meta, mirrored, type Reply } from "../support/gateway.ts";
import { FINAL } from "./mrtr-cases.ts";
import { CALL, DONE, LIST, notification, type RuleCase, type Stage, tools } from "./stage.ts";

type Id = RuleCase["rule"];
const STREAM = { "content-type": "text/event-stream" };
const bodyOf = (message: Message, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, ...message, params: { _meta: meta(), ...message.params } });

/** A call whose headers break a rule, and one whose headers do not. */
const headers = (
  rule: Id,
  rows: number[],
  bad: CallOptions["headers"],
  {
    honest = {},
    message = CALL,
    ...more
  }: Partial<Omit<RuleCase, "honest">> & { honest?: CallOptions["headers"]; message?: Message } = {},
): RuleCase => ({
  rule,
  rows,
  bad: (stage) => stage.answered(message, DONE, { headers: bad ?? {} }),
  honest: (stage) => stage.answered(message, DONE, { headers: honest ?? {} }),
  ...more,
});

/** Sends a body as it stands, with the headers of a call. */
const raw = (stage: Stage, body: string, more: Record<string, string> = {}): Promise<Reply> =>
  stage.gateway.send({ headers: { ...mirrored(CALL), ...more }, body });

/** A tool whose parameter is copied into a header. */
const tool = (name: string, field: string): string =>
  `{"name":"${name}","inputSchema":{"type":"object","properties":{"region":${field},"note":{"type":"string"}}}}`;
const REGION = tool("route", '{"type":"string","x-mcp-header":"Region"}');
const COUNT = tool("count", '{"type":"integer","x-mcp-header":"Count"}');

/** A call of a tool whose list has been seen. */
async function routed(
  stage: Stage,
  args: object,
  given: CallOptions["headers"],
  [name, item] = ["route", REGION],
): Promise<Reply> {
  await stage.answered(LIST, tools(item));
  return stage.answered({ method: "tools/call", params: { name, arguments: args } }, DONE, {
    headers: given ?? {},
  });
}

const isRefused = (reason: string) => (reply: Reply) => reply.json?.error?.data?.reason === reason;
const TASK: Message = { method: "tasks/get", params: { taskId: "t-1" } };

export const HTTP_CASES: readonly RuleCase[] = [
  headers("http/host", [], { host: "evil.example" }),
  headers("http/origin", [62], { origin: "https://evil.example" }),
  {
    rule: "http/one-message",
    rows: [63],
    bad: (stage) => raw(stage, `[${bodyOf(CALL)}]`),
    honest: (stage) => raw(stage, bodyOf(CALL)),
  },
  headers("http/accept", [64], { accept: "application/json" }),
  headers("http/version-header", [65], { "mcp-protocol-version": undefined }),
  headers("http/method-header", [66], { "mcp-method": "Tools/Call" }),
  headers("http/name-header", [67], { "mcp-name": "sub" }, { honest: { "mcp-name": "=?base64?YWRk?=" } }),
  headers(
    "http/name-header",
    [68],
    { "mcp-name": "t-2" },
    {
      message: TASK,
      honest: { "mcp-name": "t-1" },
      acted: isRefused("header_mismatch"),
    },
  ),
  headers(
    "http/encoded-header",
    [69],
    { "mcp-name": "=?base64?YWR?=" },
    { honest: { "mcp-name": "=?base64?YWRk?=" } },
  ),
  {
    rule: "http/param-header-differs",
    rows: [70],
    bad: (stage) => routed(stage, { region: "eu" }, { "mcp-param-region": "us" }),
    honest: (stage) => routed(stage, { region: "eu" }, { "mcp-param-region": "eu" }),
  },
  {
    rule: "http/param-header-differs",
    rows: [70],
    name: "encoded",
    bad: (stage) => routed(stage, { region: "Köln" }, { "mcp-param-region": "=?base64?S8O2bG4?=" }),
    honest: (stage) => routed(stage, { region: "Köln" }, { "mcp-param-region": "=?base64?S8O2bG4=?=" }),
  },
  {
    rule: "http/param-header-differs",
    rows: [70],
    name: "no argument",
    bad: (stage) => routed(stage, { region: null }, { "mcp-param-region": "eu" }),
    honest: (stage) => routed(stage, { region: null }, {}),
  },
  {
    rule: "http/param-header-differs",
    rows: [73],
    bad: (stage) => routed(stage, { region: 42 }, { "mcp-param-count": "42.1" }, ["count", COUNT]),
    honest: (stage) => routed(stage, { region: 42 }, { "mcp-param-count": "42.0" }, ["count", COUNT]),
  },
  {
    rule: "http/param-header-missing",
    rows: [70],
    bad: (stage) => routed(stage, { region: "eu" }, {}),
    honest: (stage) => routed(stage, {}, {}),
  },
  headers(
    "http/param-header-unknown",
    [71],
    { "mcp-param-other": "  =?base64?!?=" },
    {
      noted: false,
      acted: (_reply, stage) => stage.last()?.headers["mcp-param-other"] === "=?base64?!?=",
    },
  ),
  headers(
    "http/header-characters",
    [72],
    { "mcp-param-other": "caf\u00e9" },
    { honest: { "mcp-param-other": "cafe" } },
  ),
  headers(
    "http/error-status",
    [74],
    { "mcp-name": "sub" },
    { noted: false, acted: (reply) => reply.status === 400 },
  ),
  {
    rule: "http/old-version",
    rows: [75],
    bad: (stage) =>
      raw(stage, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { "mcp-protocol-version": "2025-11-25" }),
    honest: (stage) => raw(stage, bodyOf(CALL)),
  },
  {
    rule: "http/response-type",
    rows: [76],
    bad: (stage) => replied(stage, "text/html", "<p>hello</p>"),
    honest: (stage) => stage.answered(CALL, DONE),
  },
  {
    rule: "http/notification-answer",
    rows: [77],
    noted: false,
    bad: (stage) => notified(stage, 200),
    honest: (stage) => notified(stage, 202),
    acted: (reply, stage) =>
      reply.status === 202 && reply.body === "" && stage.gateway.audit.at(-1)?.upstreamStatus === 200,
  },
  {
    rule: "http/unrelated-notification",
    rows: [78],
    bad: (stage) => stage.streamed(CALL, [notification("tools/list_changed", ""), FINAL]),
    honest: (stage) => stage.streamed(CALL, [notification("other", '"list_changed":1'), FINAL]),
    acted: (reply) => !reply.body.includes("list_changed"),
  },
  {
    rule: "http/stream-end",
    rows: [79],
    noted: false,
    bad: (stage) => stage.streamed(CALL, [FINAL]),
    honest: (stage) => stage.answered(CALL, DONE),
    acted: (reply) => reply.headers["x-accel-buffering"] === "no" && reply.body.trim().endsWith("}"),
  },
  {
    rule: "http/disconnect",
    rows: [80],
    noted: false,
    bad: left,
    honest: (stage) => stage.answered(CALL, DONE),
    acted: (reply) => reply.status === 0,
  },
  {
    rule: "http/unknown-method",
    rows: [81],
    noted: false,
    bad: (stage) => failed(stage, -32601),
    honest: (stage) => failed(stage, -32602),
    acted: (reply) => reply.status === 404,
  },
  {
    rule: "http/other-verbs",
    rows: [82],
    bad: (stage) => stage.gateway.send({ method: "GET", headers: { accept: "text/event-stream" } }),
    honest: (stage) => stage.answered(CALL, DONE),
    acted: (reply) => reply.status === 405,
  },
  ...Object.entries({
    empty: '{"type":"string","x-mcp-header":""}',
    "a blank": '{"type":"string","x-mcp-header":"My Region"}',
    "a line end": '{"type":"string","x-mcp-header":"a\\r\\nX: y"}',
    "a number": '{"type":"number","x-mcp-header":"Region"}',
    "no type": '{"x-mcp-header":"Region"}',
    "in a list": '{"type":"array","items":{"type":"string","x-mcp-header":"Region"}}',
    "in a choice": '{"anyOf":[{"type":"string","x-mcp-header":"Region"}]}',
    "spelt with an escape": '{"type":"number","x-mcp-h\\u0065ader":"Region"}',
    twice:
      '{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"r"}}}',
  }).map(
    ([name, field]): RuleCase => ({
      rule: "http/param-annotation",
      rows: [83],
      name,
      bad: (stage) => stage.answered(LIST, tools(`${REGION},${tool("bad", field)}`)),
      honest: (stage) =>
        stage.answered(
          LIST,
          tools(
            `${REGION},${tool("bad", '{"type":"object","properties":{"x-mcp-header":{"type":"number"}}}')}`,
          ),
        ),
      acted: (reply) => !reply.body.includes('"bad"') && reply.body.includes('"route"'),
    }),
  ),
  {
    rule: "http/secret-annotation",
    rows: [84],
    bad: (stage) => stage.answered(LIST, tools(REGION.replaceAll("region", "apiKey"))),
    honest: (stage) => stage.answered(LIST, tools(REGION)),
    acted: (reply) => !reply.body.includes('"route"'),
  },
];

/** A call that is answered with a body of this media type. */
export async function replied(stage: Stage, type: string, body: string, status = 200): Promise<Reply> {
  stage.upstream.script = (_arrived, response) =>
    void response.writeHead(status, { "content-type": type }).end(body);
  return stage.gateway.call(CALL);
}

/** A call that the server answers with an error of this code. */
export async function failed(stage: Stage, code: number, message: Message = CALL): Promise<Reply> {
  stage.upstream.script = (arrived, response) => {
    const error = { jsonrpc: "2.0", id: arrived.json.id, error: { code, message: "no" } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(error));
  };
  return stage.gateway.call(message);
}

async function notified(stage: Stage, status: number): Promise<Reply> {
  stage.upstream.script = (_arrived, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(status === 200 ? "{}" : "");
  return stage.gateway.call({ id: null, method: "notifications/roots/list_changed" });
}

/** A client that leaves in the middle of a stream; resolves when the server has heard of it. */
async function left(stage: Stage): Promise<Reply> {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve, reject) => {
    stage.upstream.script = (arrived, response) => {
      arrived.closed.then(resolve, reject);
      response
        .writeHead(200, STREAM)
        .write(`data: ${notification("message", '"level":"info","data":1')}\n\n`, () => gone.abort());
    };
  });
  await stage.gateway.call(CALL, { signal: gone.signal }).catch(() => undefined);
  await closed;
  return { status: 0, headers: {}, body: "", json: undefined };
}
