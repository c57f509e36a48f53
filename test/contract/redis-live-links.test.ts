/** Servers that lose marks behind a link that lives on, so that a look at each new link would not notice. */
import t from "tap";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { follow, promote } from "../support/redis-losses.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { type Relay, startRelay } from "../support/relay.ts";

/** Losses under a link that lives on. */
const LOSSES: readonly {
  readonly what: string;
  loses(server: OwnRedis, other: OwnRedis, relay: Relay): Promise<void>;
}[] = [
  {
    what: "FLUSHALL",
    loses: async (server) => void (await server.command("FLUSHALL")),
  },
  {
    what: "a master demoted, and promoted again without its data",
    loses: async (server, other) => {
      await follow(server, other);
      await promote(server);
    },
  },
  {
    what: "a proxy that changes servers behind the link",
    loses: async (_server, other, relay) => relay.swap(other.port),
  },
];

for (const { what, loses } of LOSSES) {
  t.test(`${what}, under a live link`, async (t) => {
    const [server, other] = [await ownRedis(t), await ownRedis(t)];
    const relay = await startRelay(t, server.port);
    const url = `redis://127.0.0.1:${relay.port}`;
    const off = await redisStore(t, { url, epoch: false, keyPrefix: "off:" });
    const on = await redisStore(t, { url, keyPrefix: "on:" });
    const [first, second] = [sealed(off), sealed(on)];
    t.match(await off.redeem(first), { outcome: "redeemed" });
    t.match(await on.redeem(second), { outcome: "redeemed" });
    await loses(server, other, relay);
    t.match(await off.redeem(first), { outcome: "redeemed" }, "epochs off: the replay succeeds");
    t.same(await on.redeem(second), { outcome: "epoch_mismatch" }, "epochs on: it is refused");
    t.match(await on.redeem(sealed(on)), { outcome: "redeemed" }, "the answer told the new epoch");
    const lost = [...off.lines, ...on.lines].filter(({ message }) => message.includes("unavailable"));
    t.same(lost, [], "no link was lost");
  });
}
