/** Rules of the base protocol, of tasks and of caching, broken and kept. */
import { type Message, meta, mirrored, type Reply } from "../support/gateway.ts";
import { result as answer } from "../support/upstream.ts";
import { failed, replied } from "./http-cases.ts";
import { ACCEPT, FINAL, retry } from "./mrtr-cases.ts";
import {
  asksOne,
  CALL,
  DONE,
  FORM,
  LIST,
  notification,
  READ,
  type RuleCase,
  SERVER,
  type Stage,
  tools,
} from "./stage.ts";

type Id = RuleCase["rule"];
const HINTS = '"ttlMs":60000,"cacheScope":"public"';
const contents = (text: string, hints = HINTS): string =>
  `{"resultType":"complete","contents":[${text}],${hints},${SERVER}}`;
const TEXT = '{"uri":"file:///notes/a.txt","text":"x"}';
const DISCOVER: Message = { method: "server/discover" };

/** A result that breaks a rule, and one that does not. */
const result = (
  rule: Id,
  rows: number[],
  message: Message,
  bad: string,
  honest: string,
  more: Partial<RuleCase> = {},
): RuleCase => ({
  rule,
  rows,
  bad: (stage) => stage.answered(message, bad),
  honest: (stage) => stage.answered(message, honest),
  ...more,
});

/** Members of a request's `_meta` that break a rule, and such that do not. */
const requested = (rule: Id, rows: number[], bad: object, honest: object, name = ""): RuleCase => ({
  rule,
  rows,
  name,
  bad: (stage) => stage.answered(withMeta(bad), DONE),
  honest: (stage) => stage.answered(withMeta(honest), DONE),
});

const withMeta = (members: object): Message => {
  const _meta = Object.fromEntries(
    Object.entries({ ...meta(), ...members }).filter(([, value]) => value !== undefined),
  );
  return { ...CALL, params: { ...CALL.params, _meta } };
};

const raw = (stage: Stage, change: (body: string) => string): Promise<Reply> => {
  const params = { _meta: meta(), ...CALL.params };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: CALL.method, params });
  stage.upstream.script = (arrived, response) => answer(arrived, response, DONE);
  return stage.gateway.send({ headers: mirrored(CALL), body: change(body) });
};

/** A server that answers with a whole JSON-RPC message. */
const message = (rule: Id, rows: number[], bad: string, honest: string): RuleCase => {
  const send = (stage: Stage, text: string): Promise<Reply> => {
    stage.upstream.script = (arrived, response) => {
      const body = text.replaceAll("$ID", JSON.stringify(arrived.json.id));
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    return stage.gateway.call(CALL);
  };
  return {
    rule,
    rows,
    bad: (stage) => send(stage, bad),
    honest: (stage) => send(stage, honest),
    acted: (reply) => reply.json.error?.data?.reason === "upstream_fault",
  };
};

/** A code of an error, and one with nothing wrong; acted on if another reaches the client. */
const code = (rule: Id, bad: number, honest: number): RuleCase => ({
  rule,
  rows: [rule === "protocol/new-code" ? 101 : 100],
  name: String(bad),
  bad: (stage) => failed(stage, bad, READ),
  honest: (stage) => failed(stage, honest, READ),
  acted: (reply) => ![bad, honest].includes(reply.json.error.code),
});

const progress = (value: number | string, token = '"p"'): string =>
  notification("progress", `"progressToken":${token},"progress":${value},"message":"seen ${value}"`);
const PROGRESSING = withMeta({ progressToken: "p" });
/** What came on the stream of a call. */
const streamed = (
  rule: Id,
  rows: number[],
  asking: Message,
  bad: string[],
  honest: string[],
  mark: RegExp,
  asked = asking,
): RuleCase => ({
  rule,
  rows,
  bad: (stage) => stage.streamed(asking, [...bad, FINAL]),
  honest: (stage) => stage.streamed(asked, [...honest, FINAL]),
  acted: (reply) => !mark.test(reply.body),
});

const LISTEN: Message = {
  method: "subscriptions/listen",
  params: { notifications: { toolsListChanged: true } },
};
const ID = '"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}';
const OTHER = ID.replace("$ID", '"other"');
const acknowledged = notification("subscriptions/acknowledged", `${ID},"notifications":{}`);
const changed = (what: string, id = ID): string => notification(`${what}/list_changed`, id);
/** A subscription; its record is written when it opens, so what comes later is only counted. */
const subscribed = (rule: Id, bad: string[], honest: string[]): RuleCase => ({
  ...streamed(rule, [95], LISTEN, bad, honest, /list_changed/),
  noted: false,
});

const PAGE = (scope: string): string =>
  tools('{"name":"a"}', `"ttlMs":5000,"cacheScope":"${scope}","nextCursor":"2"`);
async function pages(stage: Stage, second: string): Promise<Reply> {
  await stage.answered(LIST, PAGE("private"));
  return stage.answered({ ...LIST, params: { cursor: "2" } }, PAGE(second));
}
async function lists(stage: Stage, names: string): Promise<Reply> {
  let reply: Reply | undefined;
  for (const name of names)
    reply = await stage.answered(LIST, tools(`{"name":"${name}"}`, '"ttlMs":5000,"cacheScope":"public"'));
  if (reply === undefined) throw new Error("no list");
  return reply;
}
const isUncacheable = (reply: Reply): boolean =>
  reply.json.result?.ttlMs === 0 && reply.json.result.cacheScope === "private";

export const PROTOCOL_CASES: readonly RuleCase[] = [
  {
    rule: "protocol/json",
    rows: [98],
    bad: (stage) => raw(stage, (body) => body.replace('{"a":1}', `${"[".repeat(80)}${"]".repeat(80)}`)),
    honest: (stage) =>
      raw(stage, (body) => body.replace('{"a":1}', '{"a":{"$ref":"https://evil.example/schema"}}')),
  },
  {
    rule: "protocol/error-answer",
    rows: [17],
    bad: (stage) => replied(stage, "text/plain", "boom", 500),
    honest: (stage) => failed(stage, -32603),
    acted: (reply) => reply.json.error.data?.reason === "upstream_fault",
  },
  result("protocol/result-type-missing", [19, 28], CALL, DONE.replace('"resultType":"complete",', ""), DONE, {
    acted: (reply) => /"resultType":"complete"\}\}$/.test(reply.body),
  }),
  result("protocol/result-type-unknown", [20, 28], CALL, DONE.replace("complete", "partial"), DONE),
  requested(
    "protocol/no-elicitation-mode",
    [36],
    { "io.modelcontextprotocol/clientCapabilities": { elicitation: { voice: {} } } },
    { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } },
  ),
  {
    rule: "protocol/retired-code",
    rows: [50, 100],
    bad: (stage) => failed(stage, -32042),
    honest: (stage) => failed(stage, -32602),
    acted: (reply) => reply.json.error.data?.reason === "upstream_fault",
  },
  {
    rule: "protocol/request-id",
    rows: [85],
    bad: (stage) => raw(stage, (body) => body.replace('"id":1', '"id":null')),
    honest: (stage) => raw(stage, (body) => body.replace('"id":1', '"id":"null"')),
  },
  requested("protocol/meta", [86], { "io.modelcontextprotocol/clientCapabilities": undefined }, {}),
  {
    rule: "protocol/version",
    rows: [87],
    bad: (stage) =>
      stage.gateway.call(withMeta({ "io.modelcontextprotocol/protocolVersion": "2027-01-01" }), {
        headers: { "mcp-protocol-version": "2027-01-01" },
      }),
    honest: (stage) => stage.answered(CALL, DONE),
  },
  {
    rule: "protocol/discover",
    rows: [90],
    bad: (stage) => failed(stage, -32601, DISCOVER),
    honest: (stage) => failed(stage, -32603, DISCOVER),
    acted: (reply) => reply.json.error.data?.reason === "upstream_fault",
  },
  result("protocol/server-info", [91], CALL, DONE.replace("serverInfo", "other"), DONE),
  streamed(
    "protocol/log-unasked",
    [78, 92],
    withMeta({ "io.modelcontextprotocol/logLevel": undefined }),
    [notification("message", '"level":"info","data":"logged"')],
    [notification("message", '"level":"info","data":"logged"')],
    /logged/,
    CALL,
  ),
  requested("protocol/progress-token", [93], { progressToken: true }, { progressToken: "p" }),
  requested("protocol/progress-token", [93], { progressToken: 1.5 }, { progressToken: 7 }, "fraction"),
  streamed(
    "protocol/progress-unknown",
    [78, 94],
    PROGRESSING,
    [progress(1, '"other"')],
    [progress(1)],
    /seen 1/,
  ),
  streamed("protocol/progress-unknown", [94], CALL, [progress(1)], [progress(1)], /seen 1/, PROGRESSING),
  streamed(
    "protocol/progress-order",
    [94],
    PROGRESSING,
    [progress(2), progress(1)],
    [progress(0.5), progress(1)],
    /seen 1/,
  ),
  streamed(
    "protocol/progress-order",
    [94],
    PROGRESSING,
    [progress("9007199254740993"), progress("9007199254740993.0")],
    [progress("9007199254740992"), progress("9007199254740993.0")],
    /seen 9007199254740993\.0/,
  ),
  subscribed("protocol/listen-order", [changed("tools")], [acknowledged, changed("tools")]),
  subscribed("protocol/listen-type", [acknowledged, changed("prompts")], [acknowledged, changed("tools")]),
  subscribed("protocol/listen-id", [acknowledged, changed("tools", OTHER)], [acknowledged, changed("tools")]),
  subscribed(
    "protocol/listen-id-missing",
    [acknowledged, changed("tools", "")],
    [acknowledged, changed("tools")],
  ),
  message("protocol/response-shape", [97], FINAL.replace("$ID", '"other"'), FINAL),
  message(
    "protocol/response-shape",
    [102],
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602}}',
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}',
  ),
  {
    rule: "protocol/list-varies",
    rows: [99],
    bad: (stage) => lists(stage, "aba"),
    honest: (stage) => lists(stage, "ccdd"),
    acted: isUncacheable,
  },
  code("protocol/reserved-code", -32002, -32600),
  code("protocol/reserved-code", -32050, -32022),
  code("protocol/new-code", -32010, -31999),
  result("protocol/missing-resource", [103], READ, contents(""), contents(TEXT)),
  {
    rule: "tasks/method",
    rows: [111],
    bad: (stage) =>
      stage.answered({ method: "tasks/get", params: { taskId: "t" } }, DONE, {
        headers: { "mcp-name": "t" },
      }),
    honest: (stage) => stage.answered(CALL, DONE),
  },
  result(
    "tasks/unasked-task",
    [96],
    CALL,
    `{"resultType":"task","taskId":"t","status":"working",${SERVER}}`,
    DONE,
  ),
  result(
    "cache/hints-missing",
    [112],
    READ,
    `{"resultType":"complete","contents":[${TEXT}],${SERVER}}`,
    contents(TEXT),
    {
      acted: isUncacheable,
    },
  ),
  result("cache/bad-hints", [113], READ, contents(TEXT, HINTS.replace("60000", "-1")), contents(TEXT), {
    acted: isUncacheable,
  }),
  result(
    "cache/hints-on-question",
    [114],
    CALL,
    asksOne(FORM).replace("{", `{${HINTS},`),
    asksOne(FORM).replace("{", '{"ttlMs_":1,'),
    { noted: false, acted: (reply) => !/ttlMs/.test(reply.body) },
  ),
  {
    rule: "cache/answered-result",
    rows: [115],
    noted: false,
    bad: async (stage) =>
      retry(stage, await stage.asked(READ, asksOne(FORM)), ACCEPT, { message: READ, text: contents(TEXT) }),
    honest: (stage) => stage.answered(READ, contents(TEXT)),
    acted: isUncacheable,
  },
  {
    rule: "cache/personal-result",
    rows: [116],
    noted: false,
    bad: async (stage) => {
      await stage.answered(READ, contents(TEXT));
      return stage.answered(
        { ...READ, params: { uri: "file:///notes/b.txt" } },
        contents(TEXT.replace('"x"', '"y"')),
      );
    },
    honest: (stage) => stage.answered(READ, contents(TEXT)),
    acted: (reply) => reply.json.result.contents[0].text === "y",
  },
  {
    rule: "cache/scope-varies",
    rows: [118],
    bad: (stage) => pages(stage, "public"),
    honest: (stage) => pages(stage, "private"),
    acted: isUncacheable,
  },
];
