/** Audit sinks against the rest of a configuration, and labels of sensitivity. */
import t, { type Test } from "tap";
import { load as loadText, SOUND } from "./load-text.ts";

const KEYS =
  'redis: { url: "redis://127.0.0.1:6379" }\nkeys: { primary: "1", ring: [{ id: "1", secret: { env: K } }] }\n';
const load = (t: Test, text: string) =>
  loadText(t, text, {}, { K: "an operator's secret of more than 32 bytes" });
const AUDIT = (sinks: string): string => `audit: { sinks: ${sinks} }\n`;

t.test("a stream needs the section redis, and there is one", async (t) => {
  const { problems } = await load(t, SOUND + AUDIT("[{ type: redis }]"));
  t.match(problems, [/audit\.sinks\[0\]\.type: is redis, while there is no redis section/]);
  const twice = await load(t, SOUND + KEYS + AUDIT("[{ type: redis }, { type: stdout }, { type: redis }]"));
  t.match(twice.problems, [/audit\.sinks\[2\]\.type: is redis a second time/]);
});

t.test("how long it gets", async (t) => {
  const of = async (sink: string) =>
    (await load(t, SOUND + KEYS + AUDIT(`[${sink}]`))).loaded?.config.audit.sinks;
  t.same(await of("{ type: redis }"), [{ type: "redis", maxRecords: 10_000 }]);
  t.same(await of("{ type: redis, maxRecords: 100 }"), [{ type: "redis", maxRecords: 100 }]);
  for (const wrong of ["99", "1.5", "10000001", "many"])
    t.equal(await of(`{ type: redis, maxRecords: ${wrong} }`), undefined, wrong);
});

t.test("with states in memory the section redis is used all the same", async (t) => {
  const memory = `${SOUND}${KEYS}redemption: { store: memory }\n`;
  const unused = (warnings: readonly string[] = []): boolean =>
    warnings.some((line) => /redis: is not used/.test(line));
  t.equal(unused((await load(t, memory)).loaded?.warnings), true);
  t.equal(unused((await load(t, memory + AUDIT("[{ type: redis }]"))).loaded?.warnings), false);
});

t.test("labels of sensitivity: of policies and of routes", async (t) => {
  const policy = (label: string): string =>
    `${SOUND.replace(/authorization:[\s\S]*?(?=\n\S)/, "")}authorization: { policies: [{ id: p, effect: allow, sensitivity: ${label} }] }\n`;
  const route = (label: string): string => SOUND.replace('mcp" }\n', `mcp" }\n    sensitivity: ${label}\n`);
  for (const make of [policy, route]) {
    t.same((await load(t, make("personal-data2"))).problems ?? [], []);
    for (const wrong of ["Personal", '"a b"', '""', '"-x"', `"${"x".repeat(33)}"`])
      t.match((await load(t, make(wrong))).problems, [/sensitivity: .*a label of 1 to 32/], wrong);
  }
});
