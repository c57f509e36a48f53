/** The server that checks of the reviewer are tested with does what honest clients need, and counts it. */
import t from "tap";
import { isDone } from "../../src/review/exchange.ts";
import { type BreakableServer, startBreakableServer } from "../support/breakable-server.ts";
import { CALLS, openReviewed, type Reviewed } from "../support/reviewed.ts";

let server: BreakableServer;
let reviewed: Reviewed;

t.afterEach(async () => {
  await reviewed.close();
  await server.close();
});

for (const [name, call] of Object.entries(CALLS))
  t.test(`an honest round trip of ${name} is carried out once`, async (t) => {
    server = await startBreakableServer();
    reviewed = await openReviewed({ ...server, call, probe: "balance" });
    t.equal(server.effects.length, 1);
    t.equal(server.effects[0]?.target, call.target);
    t.equal(isDone(reviewed.session.mapped.at(-1) as never), true);
    t.match((await reviewed.session.probe()) ?? "", /after 1 bookings/);
  });

t.test("a state is refused once it is spent, has expired, or comes from another principal", async (t) => {
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
  for (const { received } of [other, again, expired]) t.equal(received.kind, "error");
  t.equal(server.effects.length, 1);
});
