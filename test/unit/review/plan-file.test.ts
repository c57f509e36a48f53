import { join } from "node:path";
import t, { type Test } from "tap";
import { ConfigError } from "../../../src/errors.ts";
import { type LoadedPlan, loadPlan } from "../../../src/review/plan-file.ts";

const load = (t: Test, text: string, env: NodeJS.ProcessEnv = {}): Promise<LoadedPlan> => {
  const folder = t.testdir({ "plan.yaml": text, "first.token": "the-first\n", "empty.token": "" });
  return loadPlan(join(folder, "plan.yaml"), env);
};

const problems = async (t: Test, text: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> => {
  try {
    await load(t, text, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
    throw error;
  }
};

t.test("a plan with everything", async (t) => {
  const { plan } = await load(
    t,
    `
version: 1
endpoint: http://127.0.0.1:3000/mcp?team=1
principals:
  first: { token: { file: first.token } }
  second: { token: { env: SECOND } }
effectProbe: { tool: balance, arguments: { of: me } }
limits: { requests: 50, perSecond: 5, timeout: 2s, wait: 1m }
calls:
  - name: transfer
    tool: transfer
    arguments: { amount: 10 }
    otherArguments: { amount: 11 }
    otherTarget: { target: refund, arguments: { amount: 1 } }
    answers: { confirm: { content: { ok: true } } }
    complete: true
    maxRounds: 3
    retryLimit: 5
    expiry: 5m
    consentSurface: a dialog
    dataSensitivity: high
    sideEffects: moves money
  - { name: briefing, prompt: briefing }
  - { name: ledger, resource: "note://ledger" }
`,
    { SECOND: "the-second" },
  );
  t.match(plan, {
    source: "file",
    endpoint: "http://127.0.0.1:3000/mcp?team=1",
    tokens: { first: "the-first", second: "the-second" },
    hasSecond: true,
    probe: { method: "tools/call", target: "balance", arguments: { of: "me" } },
    limits: { requests: 50, perSecond: 5, timeoutMs: 2_000, waitMs: 60_000 },
  });
  t.match(plan.calls, [
    {
      ...{
        name: "transfer",
        method: "tools/call",
        target: "transfer",
        complete: true,
        maxRounds: 3,
        retryLimit: 5,
      },
      ...{
        expiryMs: 300_000,
        otherTarget: { target: "refund" },
        answers: { confirm: { content: { ok: true } } },
      },
    },
    { method: "prompts/get", target: "briefing", complete: false, arguments: {} },
    { method: "resources/read", target: "note://ledger", complete: false },
  ]);
});

t.test("without its words nothing is accepted, and nobody waits", async (t) => {
  const { plan } = await load(t, "version: 1\nendpoint: http://127.0.0.1/\ncalls: [{ name: a, tool: a }]\n");
  t.match(plan, { tokens: { first: undefined }, hasSecond: false, limits: { perSecond: 10, waitMs: 0 } });
  t.equal(plan.calls[0]?.complete, false);
});

t.test("all problems at once, with their places and without a value", async (t) => {
  const found = await problems(
    t,
    `version: 2
endpoint: ftp://hunter2.example
principals: { first: { token: { env: NOT_THERE } }, second: { token: hunter2 } }
limits: { requests: 0, wait: 5 }
hunter2: 1
calls:
  - { name: a b, tool: a }
  - { name: b, tool: q, prompt: r }
  - { name: b }
  - { tool: c, arguments: [hunter2] }
`,
  );
  t.strictSame(
    found.map((line) => line.split(":")[0]),
    [
      ...["1 version", "2 endpoint", "3 principals.second.token", "4 limits.requests", "4 limits.wait", "5 "],
      ...[
        "7 calls[0].name",
        "8 calls[1]",
        "9 calls[2]",
        "9 calls[2].name",
        "10 calls[3].name",
        "10 calls[3].arguments",
      ],
    ].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
  );
  t.notMatch(found.join("\n"), /hunter2/);
});

t.test("what is in order is looked at beside what is not", async (t) => {
  const found = await problems(
    t,
    "version: 1\nprincipals:\n  first: { token: { file: no.token } }\n  second: { token: { file: empty.token } }\nca: { file: no.pem }\ncalls: []\n",
  );
  t.match(
    found.join("\n"),
    /3 principals\.first\.token: the file does not exist[\s\S]*4 principals\.second\.token: the file is empty[\s\S]*5 ca\.file/,
  );
  t.match(found.join("\n"), /endpoint: is required and missing/);
});

t.test("two principals are two, and names are there once", async (t) => {
  const one = "version: 1\nendpoint: http://127.0.0.1/\n";
  const calls = "calls: [{ name: a, tool: a }]\n";
  const file = "{ token: { file: first.token } }";
  t.match(await problems(t, `${one}principals: { first: ${file}, second: ${file} }\n${calls}`), [
    /same token as first/,
  ]);
  t.match(await problems(t, `${one}principals: { second: ${file} }\n${calls}`), [/second goes with first/]);
  t.match(await problems(t, `${one}calls: [{ name: a, tool: a }, { name: a, tool: b }]\n`), [
    /calls\[1\]\.name: is the same name/,
  ]);
  t.match(await problems(t, `${one}calls: [{ name: a, resource: "x:y", arguments: { a: 1 } }]\n`), [
    /allowed nothing for a resource/,
  ]);
  t.match(await problems(t, `${one}calls: []\n`), [/calls: .*allowed a list with one entry or more/]);
  t.match(await problems(t, "calls: *x\n"), [/begins with \*/]);
});
