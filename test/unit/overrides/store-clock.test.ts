/** Which time of Redis is believed, and what a replica does with one that is not. */
import t from "tap";
import { SharedHash } from "../../../src/overrides/hash.ts";
import { Replica } from "../../../src/overrides/replica.ts";
import { signEntry } from "../../../src/overrides/signature.ts";
import { StoreClock } from "../../../src/overrides/store-clock.ts";
import type { RedisServers } from "../../../src/redis/open.ts";
import { signingWith } from "../../support/overrides.ts";
import { grant, revocation } from "./entries.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = 1_900_000_000_000;

t.test("a leap ahead is believed after an hour, a small one and one back at once", async (t) => {
  const clock = new StoreClock();
  t.equal(clock.take(START, 0), undefined);
  t.equal(clock.take(START + 60_000 + 400, 400), undefined, "a minute is no leap");
  t.equal(clock.now(400), START + 60_400);
  t.equal(clock.take(START + 8 * DAY, 800), "ahead");
  t.equal(clock.take(START + 8 * DAY + 400, 1_200), undefined, "told once");
  t.ok(clock.leapt);
  t.equal(clock.now(1_200), START + 61_200);
  t.equal(clock.latest(1_200), START + 8 * DAY + 400, "what is granted ends by it all the same");
  t.equal(clock.take(START + 61_600, 1_600), undefined);
  t.notOk(clock.leapt);
  t.equal(clock.latest(1_600), START + 61_600);
  t.equal(clock.take(START - DAY, 2_000), "behind");
  t.equal(clock.now(2_000), START - DAY);
  t.equal(clock.take(START, 2_400), "ahead");
  t.equal(clock.take(START + HOUR, 2_400 + HOUR), undefined);
  t.notOk(clock.leapt);
  t.equal(clock.now(2_400 + HOUR), START + HOUR);
});

t.test("a second in which Redis is days ahead costs nobody a denial or a revocation", async (t) => {
  const signing = signingWith("a");
  const until = Date.now() + DAY;
  const deny = grant({ effect: "deny", tool: "x", until });
  const allow = grant({ capability: ["roots"], until });
  const hit = revocation({ route: "/mcp" }, { until, bornBefore: Math.floor(Date.now() / 1000) });
  const stored = [deny, allow, hit].flatMap((entry) => [entry.id, signEntry(signing, entry, Date.now())]);
  const store = { ahead: 0, fields: stored };
  const spares: number[] = [];
  const run: RedisServers["run"] = async (_script, _keys, args) => {
    const stamp = String(Date.now() + store.ahead);
    if (args.length === 2 && args[0] === "0") return ["all", stamp, "v", store.fields, 0];
    spares.push(Number(args[0]));
    return 0;
  };
  const messages: string[] = [];
  const line = (_fields: object, message: string): void => void messages.push(message);
  const hash = new SharedHash({ run } as RedisServers, "sg:", () => "v");
  const replica = new Replica(
    hash,
    {
      signing: () => signing,
      lifetimes: () => ({ skewSeconds: 60, chainSeconds: 4_000 }),
      log: { info: line, warn: line, error: line },
      now: Date.now,
      follow: true,
    },
    "redis",
    () => undefined,
  );
  await replica.refresh();
  Object.assign(store, { ahead: 8 * DAY, fields: [] });
  for (let count = 0; count < 3; count++) {
    await replica.refresh();
    await replica.writeBack();
    t.equal(replica.entries().length, 3);
    t.ok(replica.latest() > until, "grants end by the later clock");
    t.ok(replica.read.now < until, "what is set now is set by the gateway's own clock");
  }
  store.ahead = 0;
  await replica.refresh();
  await replica.writeBack();
  t.equal(replica.entries().length, 3);
  t.ok(spares.length > 0 && spares.every((spare) => spare < until), "nor is Redis told to forget");
  t.equal(messages.filter((message) => message.includes("leapt ahead")).length, 1);
});
