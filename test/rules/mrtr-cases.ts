/** Rules of multi round-trip requests, broken and kept. */
import type { CallOptions, Message, Reply } from "../support/gateway.ts";
import { asks, asksOne, CALL, DONE, FORM, LIST, notification, type RuleCase, type Stage } from "./stage.ts";

export const ACCEPT = { q: { action: "accept", content: { ok: true } } };
export const FINAL = `{"jsonrpc":"2.0","id":$ID,"result":${DONE}}`;
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** What a retry brought, for comparison with what arrived. */
let brought: unknown;

/** The retry of `message`, answered with `text`. */
export function retry(
  stage: Stage,
  state: string,
  inputResponses: unknown = ACCEPT,
  { message = CALL, text = DONE, ...options }: { message?: Message; text?: string } & CallOptions = {},
): Promise<Reply> {
  brought = inputResponses;
  return stage.answered(
    { ...message, params: { ...message.params, requestState: state, inputResponses } },
    text,
    options,
  );
}

/** Whether the answers arrived otherwise than they were sent. */
export const answersMended = (_reply: Reply, stage: Stage): boolean =>
  JSON.stringify(stage.last()?.json.params.inputResponses) !== JSON.stringify(brought);

const flip = (state: string): string =>
  `${state.slice(0, -2)}${state.at(-2) === "A" ? "B" : "A"}${state.at(-1)}`;
export const url = (address: string): string =>
  `{"method":"elicitation/create","params":{"mode":"url","message":"Go","url":"${address}"}}`;
export const SAMPLE =
  '{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":10}}';
const TOOLED = SAMPLE.replace('"maxTokens"', '"tools":[],"maxTokens"');
const ROOTS = '{"method":"roots/list"}';

/** A question of a kind that the client has declared, or has not. */
const declared = (row: number, question: string, less: object, more: object): RuleCase => ({
  rule: "mrtr/undeclared-question",
  rows: row === 7 ? [7, 88] : [row],
  bad: (stage) => stage.answered(CALL, asksOne(question), { capabilities: { ...less } }),
  honest: (stage) => stage.answered(CALL, asksOne(question), { capabilities: { ...more } }),
});

/** A state that is brought back otherwise than it was given. */
const spoilt = (rows: number[], name: string, spoil: (state: string) => string): RuleCase => ({
  rule: "mrtr/state-integrity",
  rows,
  name,
  bad: async (stage) => retry(stage, spoil(await stage.asked(CALL, asksOne(FORM)))),
  honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
});

/** An answer that is none to a form. */
const answered = (row: number, responses: unknown): RuleCase => ({
  rule: "mrtr/answer-shape",
  rows: [row],
  bad: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM)), responses),
  honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
});

const TWO = asks(`"requestState":"U1","inputRequests":{"q":${FORM},"r":${FORM}}`);

export const MRTR_CASES: readonly RuleCase[] = [
  {
    rule: "mrtr/server-request",
    rows: [1],
    bad: (stage) => stage.streamed(CALL, [`{"jsonrpc":"2.0","id":9,"method":"roots/list"}`, FINAL]),
    honest: (stage) => stage.streamed(CALL, [notification("message", '"level":"info","data":1'), FINAL]),
  },
  {
    rule: "mrtr/question-elsewhere",
    rows: [1],
    bad: (stage) => stage.answered(CALL, DONE.replace("{", `{"inputRequests":{"q":${FORM}},`)),
    honest: (stage) => stage.answered(CALL, DONE),
  },
  {
    rule: "mrtr/unsupported-method",
    rows: [2],
    bad: (stage) => stage.answered(LIST, asksOne(FORM)),
    honest: (stage) => stage.answered(CALL, asksOne(FORM)),
  },
  {
    rule: "mrtr/nothing-asked",
    rows: [3],
    bad: (stage) => stage.answered(CALL, asks('"inputRequests":{}')),
    honest: (stage) => stage.answered(CALL, asks('"inputRequests":{},"requestState":"U1"')),
  },
  {
    rule: "mrtr/duplicate-key",
    rows: [4],
    bad: (stage) => stage.answered(CALL, TWO.replace('"r":', '"q":')),
    honest: (stage) => stage.answered(CALL, TWO),
  },
  {
    rule: "mrtr/unknown-question",
    rows: [5],
    bad: (stage) => stage.answered(CALL, asksOne('{"method":"tools/list","params":{}}')),
    honest: (stage) => stage.answered(CALL, asksOne(FORM)),
  },
  {
    rule: "mrtr/question-shape",
    rows: [6],
    bad: (stage) => stage.answered(CALL, asks('"requestState":7')),
    honest: (stage) => stage.answered(CALL, asks('"requestState":"7"')),
  },
  {
    rule: "mrtr/question-shape",
    rows: [31],
    bad: (stage) => stage.answered(CALL, asksOne(FORM.replace('"message":"Sure?",', ""))),
    honest: (stage) => stage.answered(CALL, asksOne(FORM)),
  },
  declared(7, url("https://pay.example/1"), { elicitation: { form: {} } }, ALL),
  declared(35, url("https://pay.example/1"), { elicitation: {} }, ALL),
  declared(51, TOOLED, { sampling: {} }, ALL),
  declared(59, ROOTS, { elicitation: {} }, ALL),
  spoilt([8], "one bit", flip),
  spoilt([21], "more", (state) => `${state}A`),
  spoilt([22], "invented", () => "U1"),
  spoilt([26], "cut", (state) => state.slice(0, -8)),
  {
    rule: "mrtr/state-expiry",
    rows: [10],
    async bad(stage) {
      const state = await stage.asked(CALL, asksOne(FORM));
      stage.gateway.clock.now += 11 * 60_000;
      return retry(stage, state);
    },
    async honest(stage) {
      const state = await stage.asked(CALL, asksOne(FORM));
      stage.gateway.clock.now += 9 * 60_000;
      return retry(stage, state);
    },
  },
  {
    rule: "mrtr/state-operation",
    rows: [11],
    bad: async (stage) => {
      const message = { ...CALL, params: { name: "add", arguments: { a: 2 } } };
      return retry(stage, await stage.asked(CALL, asksOne(FORM)), ACCEPT, { message });
    },
    honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
  },
  {
    rule: "mrtr/state-operation",
    rows: [25],
    bad: async (stage) => {
      const message = { method: "prompts/get", params: { name: "add", arguments: { a: 1 } } };
      return retry(stage, await stage.asked(CALL, asksOne(FORM)), ACCEPT, { message });
    },
    honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
  },
  {
    rule: "mrtr/state-elsewhere",
    rows: [25],
    bad: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM)), ACCEPT, { message: LIST }),
    honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
  },
  {
    rule: "mrtr/single-use",
    rows: [12],
    async bad(stage) {
      const state = await stage.asked(CALL, asksOne(FORM));
      await retry(stage, state);
      return retry(stage, state);
    },
    honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
  },
  answered(14, [ACCEPT]),
  answered(27, { q: { role: "user", model: "m", content: { type: "text", text: "x" } } }),
  answered(39, { q: { action: "maybe" } }),
  {
    rule: "mrtr/unasked-answer",
    rows: [15],
    noted: false,
    bad: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM)), { ...ACCEPT, x: ACCEPT.q }),
    honest: async (stage) => retry(stage, await stage.asked(CALL, asksOne(FORM))),
    acted: answersMended,
  },
  {
    rule: "mrtr/answers-missing",
    rows: [16, 23],
    bad: async (stage) => retry(stage, await stage.asked(CALL, TWO), ACCEPT, { text: asksOne(FORM) }),
    honest: async (stage) => retry(stage, await stage.asked(CALL, TWO), { ...ACCEPT, r: ACCEPT.q }),
  },
  {
    rule: "mrtr/after-result",
    rows: [18],
    noted: false,
    bad: (stage) => stage.streamed(CALL, [FINAL, notification("message", '"level":"info","data":"late"')]),
    honest: (stage) => stage.streamed(CALL, [notification("message", '"level":"info","data":"late"'), FINAL]),
    acted: (reply) => !reply.body.includes("late"),
  },
  {
    rule: "mrtr/same-request-id",
    rows: [24],
    bad: async (stage) => {
      const message = { ...CALL, id: "one" };
      return retry(stage, await stage.asked(message, asksOne(FORM)), ACCEPT, { message });
    },
    honest: async (stage) => {
      const state = await stage.asked({ ...CALL, id: "one" }, asksOne(FORM));
      return retry(stage, state, ACCEPT, { message: { ...CALL, id: "other" } });
    },
  },
  {
    rule: "mrtr/round-limit",
    rows: [58],
    bad: (stage) => rounds(stage, 4),
    honest: (stage) => rounds(stage, 3),
  },
];

/** So many questions in a row; gives the answer to the last. */
async function rounds(stage: Stage, count: number): Promise<Reply> {
  let reply = await stage.answered(CALL, asksOne(FORM));
  for (let round = 1; round < count; round++) {
    reply = await retry(stage, String(reply.json.result.requestState), ACCEPT, { text: asksOne(FORM) });
  }
  return reply;
}
