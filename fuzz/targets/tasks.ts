/** What is said of tasks: a task that passes has no question where none is looked at, and nothing made up opens as an id or a key. */
import { EnvelopeError } from "../../src/envelope/format.ts";
import { Refusal } from "../../src/errors.ts";
import { JsonError, scan } from "../../src/json/scan.ts";
import { loadKeyring } from "../../src/keyring.ts";
import { readTask } from "../../src/mcp/task.ts";
import { openQuestionKey } from "../../src/tasks/question-key.ts";
import { openTaskId } from "../../src/tasks/task-id.ts";
import { JSON_WORDS, jsonText } from "../json-grammar.ts";
import type { Random } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";

const LIMITS = { bytes: 1 << 16, depth: 64 };
const SEALING = {
  keys: { ring: loadKeyring([{ id: "a", secret: Buffer.alloc(32, 1) }], "a") },
  audience: "a",
  now: () => 0,
  random: (bytes: number) => Buffer.alloc(bytes),
};
const ASKING = '{"q":{"method":"roots/list"}}';
const VALUES: Readonly<Record<string, readonly string[]>> = {
  taskId: ['"t"', '""', "1", '"\\ud800"'],
  status: ["working", "input_required", "completed", "cancelled", "failed", "Working"].map((s) => `"${s}"`),
  inputRequests: [ASKING, "{}", "null", "[]", "1"],
  requestState: ['"s"', "null"],
  resultType: ['"complete"', '"task"', "null"],
  result: [
    "{}",
    `{"inputRequests":${ASKING}}`,
    '{"resultType":"input_required"}',
    '{"_meta":{"requestState":""}}',
  ],
  error: [
    '{"code":-32603,"message":"m"}',
    '{"code":-32042}',
    `{"code":1,"data":{"inputRequests":${ASKING}}}`,
    "{}",
  ],
};
const TWINS = ["TaskId", "STATUS", "inputrequests", "re\u017fult", "Error", "_META"];
const NAMES = [...Object.keys(VALUES), ...TWINS, "_meta", "ttlMs"];

export const tasks: Target = {
  name: "tasks",
  promise: "a task that is read asks only while it says so; no text opens that was not sealed",
  seeds: [
    '{"taskId":"t","status":"working"}',
    `{"taskId":"t","status":"input_required","inputRequests":${ASKING}}`,
    '{"taskId":"t","status":"completed","result":{"content":[]}}',
    "sgt1.AAAA",
  ].map((text) => Buffer.from(text)),
  dictionary: [
    ...JSON_WORDS,
    ...NAMES.map((name) => `"${name}"`),
    ...Object.values(VALUES).flat(),
    "sgt1.",
    "sgq1.",
  ],
  generate: (random) => Buffer.from(taskText(random)),
  check(input) {
    const text = input.toString("latin1");
    for (const open of [() => openTaskId(SEALING, text), () => openQuestionKey(SEALING, text, 4_096)])
      same("value" in attempt<unknown, EnvelopeError>(open, EnvelopeError), false, "a made-up text opens");
    const scanned = attempt(() => scan(input, LIMITS), JsonError);
    if (!("value" in scanned)) return;
    const doc = scanned.value;
    for (const mustBeTask of [true, false]) {
      const read = attempt(() => readTask(doc, doc.root, mustBeTask), Refusal);
      if (!("value" in read)) continue;
      const value = doc.value(doc.root);
      if (isObject(value)) checkRead(value, mustBeTask);
      else same(mustBeTask, false, "no object is a task");
    }
  },
};

function checkRead(value: Readonly<Record<string, unknown>>, mustBeTask: boolean): void {
  const { taskId, status, inputRequests, requestState, result, error } = value;
  if (mustBeTask) same(typeof taskId === "string" && typeof status === "string", true, "id and status");
  same(requestState ?? null, null, "a state");
  if (isObject(inputRequests) && Object.keys(inputRequests).length > 0)
    same(status, "input_required", "the status of a task that asks");
  const nested = isObject(result) ? [result, result["_meta"]] : [];
  const failed = isObject(error) ? [error, error["data"]] : [];
  for (const place of [...nested, ...failed]) {
    if (!isObject(place)) continue;
    same(
      Object.hasOwn(place, "inputRequests") || Object.hasOwn(place, "requestState"),
      false,
      "a question inside",
    );
  }
  if (isObject(result)) same(result["resultType"] ?? "complete", "complete", "the type of a result inside");
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function taskText(random: Random): string {
  const names = random.shuffle(NAMES).slice(0, random.below(7));
  if (!random.oneIn(4)) names.push(...["taskId", "status"].filter((name) => !names.includes(name)));
  const members = names.map((name) => {
    const value =
      VALUES[name] === undefined || random.oneIn(10) ? jsonText(random, 2) : random.pick(VALUES[name]);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(",")}}`;
}
