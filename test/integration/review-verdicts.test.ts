/** What a server must not be blamed for: plans without the leave to accept, plans that do not fit, and others who use the account. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type ReviewRecord, reviewRecord } from "../../src/review/record.ts";
import { type PayingOptions, type PayingServer, startPayingServer } from "../support/paying-server.ts";
import { reviewed } from "../support/review-command.ts";

interface Scene {
  readonly record: ReviewRecord;
  readonly server: PayingServer;
  /** Check → verdict. */
  readonly found: Readonly<Record<string, string>>;
}

async function scene(
  t: Test,
  options: PayingOptions,
  { call = "complete: true", probe = true }: { readonly call?: string; readonly probe?: boolean } = {},
): Promise<Scene> {
  const server = await startPayingServer(options);
  t.teardown(() => server.close());
  const folder = t.testdir({
    "plan.yaml": `version: 1
endpoint: ${server.url}
${probe ? "effectProbe: { tool: balance }" : ""}
limits: { perSecond: 1000, requests: 4000, timeout: 20s }
calls: [{ name: pay, tool: pay, ${call} }]
`,
  });
  const json = join(folder, "record.json");
  const { err } = await reviewed(t, "--plan", join(folder, "plan.yaml"), "--json", json);
  const record = reviewRecord.parse(JSON.parse(readFileSync(json, "utf8")) as unknown);
  t.ok(record.results.length > 0, err);
  const found = Object.fromEntries(record.results.map(({ check, verdict }) => [check, verdict]));
  return { record, server, found };
}

/** But for headers and capabilities, which this server does not look at. */
const those = ({ record }: Scene, verdict: string) =>
  record.results
    .filter((one) => one.verdict === verdict && !/^(protocol|question)/.test(one.check))
    .map(({ check, words }) => `${check}: ${words}`);
const NOES = ["answers/declined", "answers/cancelled"];

t.test("what a refusal came to in the map is no reference for what an acceptance does", async (t) => {
  const honest = await scene(t, {}, { call: "complete: false", probe: false });
  t.same(those(honest, "fail"), []);
  for (const check of NOES) t.equal(honest.found[check], "warn", check);
  t.equal(honest.server.paid.length, 0);
  const probed = await scene(t, { ignoresNo: true }, { call: "complete: false" });
  for (const check of NOES) t.equal(probed.found[check], "fail", check);
});

t.test("an answer of the plan that does not fit the form is told once, of the plan", async (t) => {
  for (const content of ["{ okay: true }", "{ ok: true, okay: true }", "{ ok: 'yes' }"]) {
    const call = `complete: true, answers: { confirm: { content: ${content} } }`;
    const wrong = await scene(t, {}, { call });
    t.same(those(wrong, "fail"), [], content);
    t.match(those(wrong, "inconclusive"), [/plan's answer to "confirm" does not fit the form/], content);
    t.equal(those(wrong, "inconclusive").length, 1, content);
    t.equal(wrong.server.paid.length, 0, content);
  }
  const unasked = await scene(
    t,
    {},
    { call: "complete: true, answers: { agree: { content: { ok: true } } }" },
  );
  t.same(those(unasked, "fail"), []);
  t.equal(those(unasked, "inconclusive").length, 1);
  t.match(those(unasked, "inconclusive"), [/answers that nobody asks for: "agree"/]);
  const right = await scene(
    t,
    {},
    {
      call: "complete: true, answers: { confirm: { content: { ok: true, note: x } }, '*': { content: { ok: true } } }",
    },
  );
  for (const check of NOES) t.equal(right.found[check], "pass", check);
});

t.test("a probe that a yes changes and a no does not makes an ordinary result of a no a pass", async (t) => {
  const honest = await scene(t, {});
  t.same(those(honest, "fail"), []);
  for (const check of NOES) t.equal(honest.found[check], "pass", check);
  const broken = await scene(t, { ignoresNo: true });
  for (const check of NOES) {
    t.equal(broken.found[check], "fail", check);
    // The looks before and after stand beside the retry.
    const shown = broken.record.results.find((one) => one.check === check)?.exchanges ?? [];
    const labels = shown.map((number) => broken.record.exchanges.find((one) => one.number === number)?.label);
    const retry = labels.findIndex((label) => /retry/.test(label ?? ""));
    t.match([labels[retry - 1], labels[retry + 1]], [/effect probe/, /effect probe/], check);
  }
});

t.test(
  "where somebody else moves the probe nothing that it showed holds, nor what it showed before",
  async (t) => {
    // Late: most has been found by then.
    const moved = await scene(t, {
      onBalance: (paid, count) => {
        if (count === 120) paid.push("by somebody else");
      },
    });
    t.same(those(moved, "fail"), []);
    for (const check of ["effects/before-accept", ...NOES])
      t.equal(moved.found[check], "inconclusive", check);
    t.match(
      moved.record.results.find(({ check }) => check === "answers/declined")?.words,
      /changed by itself, so this does not hold/,
    );
    const restless = await scene(t, { onBalance: (paid) => void paid.push("by somebody else") });
    t.same(those(restless, "fail"), []);
    t.equal(restless.found["effects/before-accept"], "inconclusive");
  },
);

const OTHERWISE = "redemption/replay-other-answers";

t.test("a spent state that is taken again fails, in words of what was shown", async (t) => {
  const cases = [
    ["taken", true, /was taken again/],
    ["taken", false, /was taken again/],
    ["paid", true, /carried out more than once/],
  ] as const;
  for (const [spent, probe, words] of cases) {
    const { record, found } = await scene(t, { spent }, { probe });
    const result = record.results.find(({ check }) => check === OTHERWISE);
    t.equal(found[OTHERWISE], "fail", `${spent} ${probe}`);
    t.match(result?.words, words, `${spent} ${probe}`);
    if (spent === "taken") t.notMatch(result?.words, /carried out/, `${spent} ${probe}`);
  }
  t.equal((await scene(t, {})).found[OTHERWISE], "pass");
});
