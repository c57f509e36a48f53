/**
 * The approvals that all replicas share through Redis. Asked only for calls that a policy remembers or wants others for, so the link
 * is opened when the first of them comes.
 */
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { Script } from "../redis/script.ts";
import type { RedisTarget } from "../redis/target.ts";
import { CHANGE, LOOK, READ } from "./shelf.lua.ts";
import {
  BOUNDS,
  type Look,
  type Lying,
  nameOf,
  type Place,
  type Shelf,
  type ShelfName,
  ShelfUnavailable,
} from "./shelf.ts";

/** A call waits so long, and then is asked about as if nothing was remembered. */
const TIMEOUT_MS = 1_500;
const HALF = 22;

/** See the file's header. @param keyPrefix as of the redemption store */
export function createRedisShelf(target: RedisTarget, keyPrefix: string): Shelf {
  let servers: RedisServers | undefined;
  let closed = false;
  const open = (): RedisServers => {
    servers ??= openRedis(target, TIMEOUT_MS, { ready: () => undefined, lost: () => undefined });
    return servers;
  };

  async function run(what: Script, name: ShelfName, args: readonly string[]): Promise<unknown> {
    if (closed) throw new ShelfUnavailable("approvals are closed", "closed", false);
    const link = open();
    // One slot of a Cluster for both.
    const key = `${keyPrefix}{approvals}${name}`;
    const deadline = performance.now() + TIMEOUT_MS;
    if (!(await link.whenReady(key, deadline)))
      throw new ShelfUnavailable(`Redis ${link.name}: not connected`, "unreachable", false);
    try {
      return await link.run(what, [key], args, deadline);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      if (error.reason === "not_master") link.linkTo(key)?.reconnect();
      const unsure = error.reason === "timeout" || error.reason === "unreachable";
      throw new ShelfUnavailable(error.message, error.reason, unsure, { cause: error });
    }
  }

  return {
    async read(name, places) {
      return lookOf(await run(READ, name, places.map(nameOf)));
    },
    async about(name, about) {
      return about.length === 0 ? await this.read(name, []) : lookOf(await run(LOOK, name, about));
    },
    async all(name) {
      return lookOf(await run(LOOK, name, []));
    },
    async change(name, { place, instead, text }) {
      const { all, ofOne } = BOUNDS[name];
      const args = [nameOf(place), instead, text, String(all), String(ofOne)];
      const reply = await run(CHANGE, name, args);
      if (reply === "done" || reply === "stale" || reply === "full") return reply;
      throw unknownReply();
    },
    async close() {
      closed = true;
      await servers?.close();
    },
  };
}

function lookOf(reply: unknown): Look {
  const [stamp, ...pairs] = Array.isArray(reply) ? (reply as unknown[]) : [];
  const now = Number(stamp);
  if (!Number.isSafeInteger(now) || now <= 0) throw unknownReply();
  const found: Lying[] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2)
    found.push({ place: placeOf(String(pairs[at])), text: String(pairs[at + 1]) });
  return { now, found };
}

const placeOf = (name: string): Place => ({ owner: name.slice(0, HALF), about: name.slice(HALF + 1) });

const unknownReply = (): ShelfUnavailable => new ShelfUnavailable("unknown reply of Redis", "error", false);
