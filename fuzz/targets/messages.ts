/** The readers of messages: a refusal or exactly one message, which a plain JSON reader would see too. */
import { Refusal } from "../../src/errors.ts";
import { JsonError, type JsonText, scan } from "../../src/json/scan.ts";
import { decideEra } from "../../src/mcp/era.ts";
import { type Message, parseClientMessage, parseServerMessage } from "../../src/mcp/message.ts";
import { listenedResources, mirroredName, targetOf } from "../../src/mcp/methods.ts";
import { JSON_WORDS, jsonText } from "../json-grammar.ts";
import type { Random } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";

const LIMITS = { bytes: 1 << 16, depth: 64 };
const IDS = [
  "1",
  "0",
  "-1",
  '"a"',
  '""',
  "1.0",
  "1e0",
  "1.5",
  "null",
  "9007199254740993",
  "true",
  "[]",
  '"\\ud800"',
  "01",
];
const METHODS = [
  "tools/call",
  "tools/list",
  "prompts/get",
  "resources/read",
  "server/discover",
  "notifications/progress",
  "subscriptions/listen",
  "completion/complete",
  "tasks/get",
  "initialize",
  "ping",
  "",
  "Notifications/x",
  "\ud800",
];
const NAMES = [
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
  "_meta",
  "name",
  "uri",
  "arguments",
  "inputResponses",
  "requestState",
  "resultType",
  "inputRequests",
  "code",
  "message",
];
const TWINS = [
  "ID",
  "Method",
  "PARAMS",
  "re\u017fult",
  "\u212aind",
  "Name",
  "URI",
  "_Meta",
  "requeststate",
  "jsonRPC",
];

export const messages: Target = {
  name: "messages",
  promise: "readers of messages throw refusals only, and what they take is one message to every reader",
  seeds: [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}',
    '{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete"}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
  ].map((text) => Buffer.from(text)),
  dictionary: [
    ...JSON_WORDS,
    ...[...NAMES, ...TWINS, ...METHODS].map((name) => `"${name}"`),
    ...IDS,
    '"2.0"',
    '"jsonrpc":"2.0",',
  ],
  generate: (random) => Buffer.from(messageText(random)),
  check(input) {
    const scanned = attempt(() => scan(input, LIMITS), JsonError);
    if (!("value" in scanned)) return;
    const doc = scanned.value;
    for (const read of [parseClientMessage, parseServerMessage]) {
      const parsed = attempt(() => read(doc), Refusal);
      if (!("value" in parsed)) continue;
      checkMessage(doc, parsed.value, read === parseClientMessage);
    }
  },
};

function checkMessage(doc: JsonText, message: Message, isClient: boolean): void {
  const value = doc.value(doc.root) as Record<string, unknown>;
  same(Array.isArray(value), false, "an array is no message");
  same(value["jsonrpc"], "2.0", "jsonrpc");
  const members = ["method", "result", "error"].filter((name) => Object.hasOwn(value, name));
  same(members.length, 1, "kinds of one message");
  for (const key of Object.keys(value))
    checkSpelling(key, ["jsonrpc", "id", "method", "params", "result", "error"]);
  if ("id" in message && message.id !== undefined) {
    const id: unknown = JSON.parse(message.id);
    same(Object.is(id, value["id"]), true, "id");
    const isInteger = /^-?(0|[1-9][0-9]*)$/.test(message.id);
    same(
      typeof id === "string" || (typeof id === "number" && (isInteger || !isClient)),
      true,
      "id is a string or an integer",
    );
  }
  if (!("method" in message)) return;
  same(message.method, value["method"], "method");
  same(
    message.type === "notification",
    message.method.startsWith("notifications/"),
    "only notifications/* lack an id",
  );
  same(message.type === "notification", !Object.hasOwn(value, "id"), "a notification has no id");
  const { params } = value as { params?: Record<string, unknown> };
  same(
    params === undefined || (typeof params === "object" && params !== null && !Array.isArray(params)),
    true,
    "params",
  );
  for (const key of Object.keys(params ?? {}))
    checkSpelling(key, ["_meta", "name", "uri", "arguments", "inputResponses", "requestState"]);
  for (const header of [undefined, "2026-07-28", "2025-06-18", "2026-07-29", "x"])
    attempt(() => decideEra({ header, doc, message }), Refusal);
  if (message.type === "notification") return;
  const name = attempt(() => targetOf(doc, message), Refusal);
  if ("value" in name && name.value !== undefined)
    same(name.value.name.isWellFormed(), true, "a target is well formed");
  attempt(() => mirroredName(doc, message), Refusal);
  attempt(() => listenedResources(doc, message), Refusal);
}

/** A key that some readers would take for a known one has to be that one. */
function checkSpelling(key: string, known: readonly string[]): void {
  const folded = key.toUpperCase().toLowerCase();
  for (const name of known) if (folded === name.toLowerCase()) same(key, name, "a member's name");
}

function messageText(random: Random): string {
  const params = objectText(
    random,
    random
      .shuffle(["_meta", "name", "uri", "arguments", "inputResponses", "requestState", ...TWINS, "other"])
      .slice(0, random.below(6)),
  );
  const members: [string, string][] = [["jsonrpc", random.oneIn(12) ? jsonText(random, 1) : '"2.0"']];
  if (!random.oneIn(5)) members.push(["id", random.pick(IDS)]);
  if (random.oneIn(3))
    members.push([random.pick(["result", "error"]), objectText(random, ["code", "message", "resultType"])]);
  else
    members.push(
      ["method", JSON.stringify(random.pick(METHODS))],
      ["params", random.oneIn(8) ? jsonText(random, 1) : params],
    );
  if (random.oneIn(6)) members.push([random.pick([...NAMES, ...TWINS]), jsonText(random, 1)]);
  const text = random.shuffle(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return random.oneIn(16) ? `[{${text}}]` : `{${text}}`;
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  code: ["-32603", "1", "1.5", '"x"'],
  message: ['"m"', "null"],
  name: ['"x"', '""', "null", "1", '"\\ud800"'],
  uri: ['"file:///x"', "[]"],
  _meta: [
    "{}",
    '{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}',
    '{"io.modelcontextprotocol/clientCapabilities":{}}',
    "null",
  ],
  resultType: ['"complete"', '"input_required"', "1"],
};

function objectText(random: Random, names: readonly string[]): string {
  return `{${names.map((name) => `${JSON.stringify(name)}:${random.pick(NAMED[name] ?? [jsonText(random, 1)])}`)}}`;
}
