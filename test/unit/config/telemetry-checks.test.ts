/** What is wrong with telemetry, each with its honest neighbour. */
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const TRACES = (text: string): string => `${SOUND}telemetry: { traces: ${text} }\n`;
const KEY = "{ name: x-api-key, value: { file: key } }";
const FILES = { key: "geheim-4711\n" };

/** Warnings of these sections alone. */
const about = (lines: readonly string[]): string[] => lines.filter((line) => / (telemetry|log)\b/.test(line));

t.test("none unless asked for, and with what an endpoint alone comes to", async (t) => {
  t.equal((await load(t, SOUND)).loaded?.config.telemetry, undefined);
  const { loaded, warnings } = await load(t, TRACES('{ endpoint: "http://127.0.0.1:4318/v1/traces" }'));
  t.same(about(warnings), []);
  t.same(loaded?.config.telemetry?.traces, {
    ...{ endpoint: "http://127.0.0.1:4318/v1/traces", headers: [], sample: 1, serviceName: "sealgate" },
  });
});

t.test("what cannot be", async (t) => {
  for (const [text, problem] of [
    ["{}", /endpoint/],
    ["{ endpoint: 127.0.0.1:4318 }", /endpoint/],
    ['{ endpoint: "http://u:p@c.example/v1/traces" }', /credentials/],
    ['{ endpoint: "https://c.example", sample: 2 }', /a number from 0 to 1/],
    ['{ endpoint: "https://c.example", sample: -0.1 }', /a number from 0 to 1/],
    ['{ endpoint: "https://c.example", sample: half }', /a number from 0 to 1/],
    ['{ endpoint: "https://c.example", headers: [{ name: x-api-key, value: plain }] }', /secret itself/],
    [`{ endpoint: "https://c.example", headers: [${KEY}, ${KEY}] }`, /a second time/],
    [
      '{ endpoint: "https://c.example", headers: [{ name: content-type, value: { file: key } }] }',
      /sets itself/,
    ],
    [
      '{ endpoint: "https://c.example", headers: [{ name: user-agent, value: { file: key } }] }',
      /sets itself/,
    ],
    [
      '{ endpoint: "https://c.example", headers: [{ name: x-k, value: { file: absent } }] }',
      /absent|cannot|exist/,
    ],
  ] as const) {
    const { problems } = await load(t, TRACES(text), FILES);
    t.equal(problems.length, 1, text);
    t.match(problems[0], problem);
    t.notMatch(problems.join(), "geheim");
  }
});

t.test("the key of a collector crosses no network in clear unsaid", async (t) => {
  const warned = async (endpoint: string, headers = `[${KEY}]`) =>
    about((await load(t, TRACES(`{ endpoint: "${endpoint}", headers: ${headers} }`), FILES)).warnings);
  t.match(await warned("http://collector.example/v1/traces"), [/headers: cross the network in clear/]);
  t.same(await warned("https://collector.example/v1/traces"), []);
  t.same(await warned("http://127.0.0.1:4318/v1/traces"), []);
  t.same(await warned("http://collector.example/v1/traces", "[]"), []);
});

t.test("the secrets of headers, by name", async (t) => {
  const { loaded } = await load(t, TRACES(`{ endpoint: "https://c.example", headers: [${KEY}] }`), FILES);
  t.same(loaded?.secrets.traceHeaders, new Map([["x-api-key", "geheim-4711"]]));
});

t.test("an access log that the level leaves out", async (t) => {
  const warned = async (text: string) => about((await load(t, `${SOUND}log: ${text}\n`)).warnings);
  for (const level of ["warn", "error"])
    t.match(await warned(`{ access: on, level: ${level} }`), [/log\.access: does nothing/]);
  for (const text of ["{ access: on }", "{ access: on, level: debug }", "{ access: off, level: warn }"])
    t.same(await warned(text), []);
});
