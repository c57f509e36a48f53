/** A state in hand lets its owner have answers checked as often as liked: what one check costs must not grow with the questions. */
import t from "tap";
import { result } from "../support/upstream.ts";
import { DONE, META, passes, refuses, type Scene, setScene, TRANSFER } from "./scene.ts";

/** Most of a body of 4 MiB. */
const BYTES = 3_900_000;
/** A check takes a few milliseconds, the scan before it some hundred; without bounds it was tens of seconds. */
const MOST_MS = 5_000;

function fill(bytes: number, text: (i: number) => string): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    const part = text(i);
    parts.push(part);
    length += part.length + 1;
  }
  return parts.join(",");
}

const choice = (items: object) => ({
  k: {
    method: "elicitation/create",
    params: {
      message: "m",
      requestedSchema: { type: "object", properties: { a: { type: "array", items } } },
    },
  },
});
const COUNTRIES = choice({
  anyOf: Array.from({ length: 250 }, (_, i) => ({ const: `c${i}`, title: `Country ${i}` })),
});
const CODES = choice({ type: "string", enum: Array.from({ length: 2_500 }, (_, i) => i.toString(36)) });
const ROOTS = (letter: string) =>
  Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`${letter}${i}`, { method: "roots/list" }]));
const FORM = {
  k: {
    method: "elicitation/create",
    params: { message: "m", requestedSchema: { type: "object", properties: { s: { type: "string" } } } },
  },
};
const SAMPLING = {
  k: { method: "sampling/createMessage", params: { maxTokens: 1, messages: [] } },
};
const accept = (content: string): string => `"k":{"action":"accept","content":${content}}`;

const ATTACKS: Readonly<Record<string, [asked: object, answers: () => string]>> = {
  "choices, 250 titled options": [COUNTRIES, () => accept(`{"a":[${fill(BYTES, () => '"c249"')}]}`)],
  "choices, 2500 plain options": [CODES, () => accept(`{"a":[${fill(BYTES, () => '"1xf"')}]}`)],
  "choices, as numbers": [CODES, () => accept(`{"a":[${fill(BYTES, () => "0")}]}`)],
  "256 questions, unasked answers": [ROOTS("q"), () => fill(BYTES, (i) => `"\\u0061${i}":0`)],
  "256 questions of other letters": [ROOTS("é"), () => fill(BYTES, (i) => `"\\u0061${i}":0`)],
  "fields nobody asked for": [FORM, () => accept(`{${fill(BYTES, (i) => `"\\u0073${i}":0`)}}`)],
  "members of an answer": [
    SAMPLING,
    () => `"k":{"role":"user","model":"m","content":{},${fill(BYTES, (i) => `"x${i}":0`)}}`,
  ],
  roots: [ROOTS("q"), () => `"q0":{"roots":[${fill(BYTES, () => '{"uri":"file:///"}')}]}`],
  "roots over many answers": [
    ROOTS("q"),
    () => fill(BYTES, (i) => `"q${i}":{"roots":[${fill(16_000, () => '{"uri":"file:///"}')}]}`),
  ],
  "a long text": [FORM, () => accept(`{"s":"${"a".repeat(BYTES)}"}`)],
};

async function scene(asked: object, t: Parameters<typeof setScene>[0]): Promise<Scene> {
  return setScene(t, {
    script: (arrived, response) => {
      const isRetry = arrived.json?.params?.requestState !== undefined;
      const ask = JSON.stringify({ resultType: "input_required", requestState: "U", inputRequests: asked });
      result(arrived, response, isRetry ? DONE : ask);
    },
  });
}

const CAPABILITIES = { elicitation: { form: {} }, roots: {}, sampling: {} };
const meta = META.replace('{"elicitation":{"form":{}}}', JSON.stringify(CAPABILITIES));
const body = (state: string, answers: string): string =>
  `{"jsonrpc":"2.0","id":"retry","method":"tools/call","params":{"_meta":${meta},"name":"transfer","arguments":{"to":"acct-9","amount":50},"requestState":"${state}","inputResponses":{${answers}}}}`;

for (const [name, [asked, answers]] of Object.entries(ATTACKS)) {
  t.test(`${name}: refused, in time, with nothing spent`, async (t) => {
    const it = await scene(asked, t);
    const state = await it.ask(TRANSFER, { capabilities: CAPABILITIES });
    const flood = body(state, answers());
    const started = performance.now();
    const expected = { status: 400, code: -32602, reason: "invalid_input_responses" };
    await refuses(t, it, () => it.raw(flood), expected);
    t.ok(performance.now() - started < MOST_MS, `${Math.round(performance.now() - started)} ms`);
    // Missing answers are the server's to ask again.
    await passes(t, it, () => it.raw(body(state, "")));
  });
}

const HONEST: Readonly<Record<string, [asked: object, answers: string]>> = {
  "every one of 250 countries": [
    COUNTRIES,
    accept(JSON.stringify({ a: Array.from({ length: 250 }, (_, i) => `c${249 - i}`) })),
  ],
  "all of 256 questions, and some of an earlier round": [
    ROOTS("é"),
    [...Object.keys(ROOTS("é")), "old1", "old2"].map((key) => `"${key}":{"roots":[]}`).join(","),
  ],
  "a screenshot of 3 MB": [
    SAMPLING,
    `"k":{"role":"assistant","model":"m","content":{"type":"image","mimeType":"image/png","data":"${"A".repeat(3_000_000)}"},"stopReason":"endTurn"}`, // biome-ignore format: one text
  ],
  "a pasted document of 200 KB": [FORM, accept(`{"s":"${"word ".repeat(40_000)}"}`)],
};

for (const [name, [asked, answers]] of Object.entries(HONEST)) {
  t.test(`honest: ${name}`, async (t) => {
    const it = await scene(asked, t);
    const state = await it.ask(TRANSFER, { capabilities: CAPABILITIES });
    const arrived = await passes(t, it, () => it.raw(body(state, answers)));
    t.same(Object.keys(arrived.json.params.inputResponses), Object.keys(asked));
  });
}
