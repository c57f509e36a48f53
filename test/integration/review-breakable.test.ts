/** The server that checks of the reviewer are tested with does what honest clients need, and counts it. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { isDone } from "../../src/review/exchange.ts";
import { type BreakableServer, startBreakableServer } from "../support/breakable-server.ts";
import { CALLS, openReviewed, type Reviewed } from "../support/reviewed.ts";

let server: BreakableServer;
let reviewed: Reviewed;

afterEach(async () => {
  await reviewed.close();
  await server.close();
});

for (const [name, call] of Object.entries(CALLS))
  test(`an honest round trip of ${name} is carried out once`, async () => {
    server = await startBreakableServer();
    reviewed = await openReviewed({ ...server, call, probe: "balance" });
    assert.equal(server.effects.length, 1);
    assert.equal(server.effects[0]?.target, call.target);
    assert.equal(isDone(reviewed.session.mapped.at(-1) as never), true);
    assert.match((await reviewed.session.probe()) ?? "", /after 1 bookings/);
  });

test("a state is refused once it is spent, has expired, or comes from another principal", async () => {
  server = await startBreakableServer();
  reviewed = await openReviewed({ ...server, call: CALLS.transfer, map: false });
  const { session } = reviewed;
  const spent = await session.begin();
  await session.complete(spent);
  const late = await session.begin();
  const other = await session.retry(late, { caller: "second" });
  const again = await session.retry(spent);
  server.clock.now += 600_000;
  const expired = await session.retry(late);
  for (const { received } of [other, again, expired]) assert.equal(received.kind, "error");
  assert.equal(server.effects.length, 1);
});
