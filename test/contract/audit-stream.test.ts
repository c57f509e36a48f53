/** The audit stream in Redis, on every kind of it: what arrives, what is cut off, what is lost and told while Redis is away. */
import t from "tap";
import type { AuditRecord } from "../../src/audit/record.ts";
import { auditRecord } from "../../src/audit/record-schema.ts";
import type { AuditLog } from "../../src/audit/sinks.ts";
import { openAuditLog } from "../../src/audit/sinks.ts";
import { keyOf } from "../../src/audit/stream.ts";
import { readStream } from "../../src/audit/stream-reader.ts";
import type { RedisTarget } from "../../src/redis/target.ts";
import { ownRedis } from "../support/redis.ts";
import { KINDS } from "../support/redis-kinds.ts";
import { until } from "../support/until.ts";

const record = (n: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  type: "audit",
  time: "2026-11-30T12:00:00.000Z",
  requestId: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  route: "/mcp",
  outcome: "complete",
  latencyMs: 1,
  ...more,
});

const open = async (
  target: RedisTarget,
  { maxRecords = 10_000, keyPrefix = "sg:" } = {},
): Promise<{ readonly audit: AuditLog; readonly log: [string, Record<string, unknown>][] }> => {
  const log: [string, Record<string, unknown>][] = [];
  const note = (fields: object, message: string): void =>
    void log.push([message, fields as Record<string, unknown>]);
  const audit = await openAuditLog([{ type: "redis", maxRecords }], {
    log: { info: note, warn: note, error: note },
    redis: { target, keyPrefix },
  });
  return { audit, log };
};

async function linesOf(target: RedisTarget, keyPrefix = "sg:"): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readStream(target, keyPrefix)) lines.push(line);
  return lines;
}

for (const [name, make] of Object.entries(KINDS)) {
  t.test(`${name}: all records arrive, in order, those of two gateways in one stream`, async (t) => {
    const { target } = await make(t);
    const [one, other] = [await open(target), await open(target)];
    const all = Array.from({ length: 700 }, (_, n) => record(n, { cause: "zwölf" }));
    for (const [n, each] of all.entries()) (n % 2 === 0 ? one : other).audit.write(each);
    await until(async () => (await linesOf(target)).length === all.length);
    const found = (await linesOf(target)).map((line) => JSON.parse(line) as AuditRecord);
    t.same(
      found.filter((_, at) => at >= 0).sort((a, b) => (a.requestId < b.requestId ? -1 : 1)),
      all,
      "each once, and whole",
    );
    const even = found.map(({ requestId }) => Number(requestId.slice(-12))).filter((n) => n % 2 === 0);
    t.same(
      even,
      [...even].sort((a, b) => a - b),
      "those of one gateway in its order",
    );
    t.equal(one.audit.losses().get("redis"), 0);
    t.same(one.log, [], "nothing to tell");
    await one.audit.close();
    await other.audit.close();
  });
}

t.test("the stream is cut to its length, about; arguments stay out of it", async (t) => {
  const server = await ownRedis(t);
  const { audit } = await open({ url: server.url }, { maxRecords: 100 });
  for (let n = 0; n < 2_000; n++) audit.write(record(n, { arguments: "PRIVATE" }));
  await audit.close();
  const lines = await linesOf({ url: server.url });
  t.ok(lines.length >= 100 && lines.length < 400, `${lines.length} of 2000`);
  t.match(lines.at(-1), /000000001999"/, "the newest are kept");
  t.notMatch(lines.join(), /PRIVATE|"cut"/);
  t.equal(audit.losses().get("redis"), 0);
});

t.test("long lists stay out of it, so that neither callers nor servers fill Redis", async (t) => {
  const server = await ownRedis(t);
  const { audit } = await open({ url: server.url });
  const many = Array<string>(64).fill("\u0000".repeat(257));
  const question = { kind: "roots", key: "k".repeat(43) } as const;
  const long = record(1, {
    principal: { issuer: "https://i.example", subject: "s", groups: many, scopes: many },
    questions: Array(256).fill(question),
    arguments: "\u0000".repeat(16_384),
    outcome: "input_required",
  });
  audit.write(long);
  audit.write(record(2, { principal: { subject: "s", groups: ["g"] } }));
  await audit.close();
  const [first = "", second = ""] = await linesOf({ url: server.url });
  t.ok(first.length < 1_024, `${first.length} of ${JSON.stringify(long).length} characters`);
  const cut = JSON.parse(first);
  t.same(cut.principal, { issuer: "https://i.example", subject: "s" });
  t.match(cut, { cut: true, outcome: "input_required" });
  t.ok(auditRecord.safeParse(cut).success, "and keep to the schema");
  t.same(JSON.parse(second).principal.groups, ["g"]);
});

t.test(
  "Redis away and back: what waits arrives, what does not fit is lost, counted and told once",
  async (t) => {
    const server = await ownRedis(t);
    const { audit, log } = await open({ url: server.url });
    audit.write(record(0));
    await until(async () => (await linesOf({ url: server.url })).length === 1);
    await server.stop();
    for (let n = 1; n <= 100; n++) audit.write(record(n));
    await until(() => log.length > 0);
    t.same(log, [["audit records wait for Redis", { sink: "redis", reason: "unreachable" }]]);
    t.equal(audit.losses().get("redis"), 0, "there is room");
    const subject = "x".repeat(7_000);
    const started = performance.now();
    for (let n = 0; n < 2_000; n++) audit.write(record(n, { principal: { subject } }));
    t.ok(performance.now() - started < 5_000, "and nobody waited");
    const lost = audit.losses().get("redis") ?? 0;
    t.ok(lost > 0 && lost < 2_000, `${lost} lost`);
    t.same(
      log.filter(([message]) => /lost/.test(message)),
      [["audit records are lost, requests go on", { sink: "redis", reason: "backlog" }]],
      "told once",
    );
    await server.start();
    await until(() => log.some(([message]) => message === "audit records go to Redis again"));
    await audit.close();
    const lines = await linesOf({ url: server.url });
    t.equal(lines.length + lost, 2_100, "all but what was lost and what an empty server had");
  },
);

t.test("a Redis that refuses: no right, a key of another kind; and one that never answers", async (t) => {
  const server = await ownRedis(t, [
    "--user",
    "gate",
    "on",
    ">secret",
    "~sg:*",
    "-@all",
    "+eval",
    "+evalsha",
  ]);
  const refused = await open({ url: server.url, username: "gate", password: "secret" });
  refused.audit.write(record(1));
  await until(() => refused.log.length > 0);
  t.same(refused.log, [["audit records wait for Redis", { sink: "redis", reason: "unauthorized" }]]);
  await refused.audit.close();
  t.equal(refused.audit.losses().get("redis"), 1, "lost at the end, not before");
  await server.command("SET", keyOf("other:"), "text");
  const wrong = await open({ url: server.url }, { keyPrefix: "other:" });
  wrong.audit.write(record(2));
  await until(() => wrong.log.length > 0);
  t.match(wrong.log[0], ["audit records wait for Redis", { reason: "error" }]);
  await wrong.audit.close();
  const stuck = await open({ url: server.url });
  server.pause();
  const started = performance.now();
  stuck.audit.write(record(3));
  t.ok(performance.now() - started < 1_000);
  await stuck.audit.close();
  t.equal(stuck.audit.losses().get("redis"), 1);
  server.resume();
});
