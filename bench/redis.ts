/**
 * What redemption costs Redis: bytes per mark with a million of them, and redemptions per second for each core of a gateway and
 * of Redis, by the CPU time that both took.
 */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { layOut } from "../src/redemption/layout.ts";
import { createRedisStore, type RedisStore } from "../src/redemption/redis.ts";
import { startRedis } from "./redis-server.ts";

const MARKS = 1_000_000;
const REDEMPTIONS = 20_000;
const ROUNDS = 5;
const AT_ONCE = [1, 32, 128];
const SILENT = { info() {}, warn() {}, error() {} };
/** States expire over the whole of the default `envelope.ttl`, and the leeway after it. */
const LIFE_SECONDS = 900;

/** Measures and prints. Needs redis-server on PATH. */
export async function benchRedis(): Promise<void> {
  const server = await startRedis();
  if (server === undefined) return console.log("redis-server is not installed: nothing to measure\n");
  console.log(`Redis ${server.version}, one server, no persistence, loopback\n`);
  try {
    const store = await createRedisStore({
      url: `redis://127.0.0.1:${server.port}`,
      keyPrefix: "sg:",
      epoch: true,
      eviction: "refuse",
      log: SILENT,
    });
    // Up to so many fields Redis packs a hash, 512 by default; at 128 these are not packed.
    for (const packed of [128, 512]) await memory(server.admin, packed);
    await load(store, server.admin);
    await store.close();
  } finally {
    await server.stop();
  }
}

async function memory(admin: Redis, packed: number): Promise<void> {
  await admin.flushall();
  await admin.config("SET", "hash-max-listpack-entries", String(packed));
  const before = await used(admin);
  const { place } = layOut("sg:", false);
  const now = Math.floor(Date.now() / 1000);
  // What the script writes, without the script: a million calls of it take a minute.
  for (let done = 0; done < MARKS; done += 10_000) {
    const batch = admin.pipeline();
    for (let i = 0; i < 10_000; i++) {
      const jti = randomBytes(16).toString("base64url");
      const exp = now + 60 + Math.floor(((done + i) / MARKS) * LIFE_SECONDS);
      const { key, until } = place({ jti, exp });
      batch.hsetnx(key, jti, randomBytes(8).toString("base64url")).pexpireat(key, until);
    }
    await batch.exec();
  }
  const hashes = await admin.dbsize();
  const bytes = (await used(admin)) - before;
  console.log(`Memory of ${MARKS} marks that expire over ${LIFE_SECONDS} s`);
  const each = (bytes / MARKS).toFixed(1);
  console.log(`  ${each} bytes per mark, in ${hashes} hashes, hash-max-listpack-entries ${packed}\n`);
  await admin.flushall();
}

async function load(store: RedisStore, admin: Redis): Promise<void> {
  console.log(
    `CPU per redemption, best of ${ROUNDS} rounds of ${REDEMPTIONS}; a core is a second of CPU time`,
  );
  for (const atOnce of AT_ONCE) {
    let [gateway, server] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    await admin.flushall();
    while (!(await epochKnown(store)));
    for (let round = 0; round <= ROUNDS; round++) {
      const [ours, theirs] = [process.cpuUsage(), await cpuSeconds(admin)];
      await redeemAll(store, atOnce);
      const { user, system } = process.cpuUsage(ours);
      // The first round warms up.
      if (round === 0) continue;
      gateway = Math.min(gateway, (user + system) / REDEMPTIONS);
      server = Math.min(server, (((await cpuSeconds(admin)) - theirs) * 1e6) / REDEMPTIONS);
    }
    const perCore = (micros: number) => Math.round(1e6 / micros).toLocaleString("en");
    console.log(
      `  ${String(atOnce).padStart(3)} at once: gateway ${gateway.toFixed(1)} µs, ${perCore(gateway)}/s per core; ` +
        `Redis ${server.toFixed(1)} µs, ${perCore(server)}/s per core`,
    );
  }
  console.log();
}

async function epochKnown(store: RedisStore): Promise<boolean> {
  await store.refresh();
  const mark = { jti: randomBytes(16).toString("base64url"), exp: Math.floor(Date.now() / 1000) + 60 };
  const { outcome } = await store.redeem({ ...mark, epoch: store.epoch(mark.jti) ?? "" });
  return outcome === "redeemed";
}

async function redeemAll(store: RedisStore, atOnce: number): Promise<void> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  let left = REDEMPTIONS;
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const jti = randomBytes(16).toString("base64url");
      const { outcome } = await store.redeem({ jti, exp, epoch: store.epoch(jti) ?? "" });
      if (outcome !== "redeemed") throw new Error(outcome);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

async function used(admin: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1]);
}

async function cpuSeconds(admin: Redis): Promise<number> {
  const info = await admin.info("cpu");
  const of = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
  return of("used_cpu_user") + of("used_cpu_sys");
}
