/** Revocations of a process with the memory store, by the injected clock: seconds, ends, and the bound of a chain. */
import t from "tap";
import { startUpstream } from "../support/upstream.ts";
import { ask, inForce, openGateway, operated, set } from "./operators.ts";
import { asksAlways, asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

t.test(
  "a chain of the same second is revoked, the next one is not, without a second in between",
  async (t) => {
    const upstream = await startUpstream(asksOnce);
    t.teardown(() => upstream.close());
    const gateway = await openGateway(t, upstream.url, operated(t), { clock: 1_900_000_000_000 });
    for (const offset of [0, 500, 999]) {
      gateway.clock.now = 1_900_000_000_000 + offset;
      const before = stateOf(await gateway.call(TRANSFER));
      await set(gateway, "revocations", { route: "/mcp" });
      const after = stateOf(await gateway.call(TRANSFER));
      t.equal((await gateway.call(retryOf(before))).status, 400);
      t.equal((await gateway.call(retryOf(after))).status, 200);
    }
  },
);

t.test("kept until the longest chain is over, and no longer", async (t) => {
  const upstream = await startUpstream(asksAlways);
  t.teardown(() => upstream.close());
  const roundTrip = { maxAge: "20m", maxRounds: 1_000 };
  const gateway = await openGateway(
    t,
    upstream.url,
    { ...operated(t), roundTrip },
    { clock: 1_900_000_000_000 },
  );
  let state = stateOf(await gateway.call(TRANSFER));
  const { id } = await set(gateway, "revocations", { route: "/mcp" });
  for (let minute = 1; minute <= 19; minute++) {
    gateway.clock.now += 60_000;
    t.equal((await gateway.call(retryOf(state))).status, 400, `minute ${minute}`);
    if (minute === 9) {
      await ask(gateway, `/v1/revocations/${id}`, { method: "DELETE" });
      state = stateOf(await gateway.call(retryOf(state)));
      await set(gateway, "revocations", { route: "/mcp" });
    }
  }
  t.equal((await inForce(gateway)).revocation, 1);
  gateway.clock.now += 60 * 60_000;
  t.equal((await inForce(gateway)).revocation, 0);
  t.equal((await gateway.call(retryOf(state))).status, 400, "it has expired by itself long since");
  t.equal(gateway.audit.at(-1)?.cause, "expired");
});
