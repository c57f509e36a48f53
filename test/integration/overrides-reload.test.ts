/** A changed configuration keeps what operators have set, takes up the admin token, and takes entries along in a rotation. */
import t from "tap";
import { ownRedis } from "../support/redis.ts";
import { startReplica } from "../support/replica.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { ask, inForce } from "./operators.ts";
import { asksOnce, TRANSFER, textOf } from "./rounds.ts";

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const routes = [{ path: "/mcp", upstream: { url: upstream.url } }];
const ring = (...ids: string[]) => ({
  keys: { primary: ids[0], ring: ids.map((id) => ({ id, secret: { file: id } })) },
});
const FILES = {
  one: "the-first-token-of-an-admin",
  two: "another-token-of-an-admin",
  a: "a1".repeat(32),
  b: "b2".repeat(32),
};
const admin = (token?: string) => ({
  admin: { listen: "127.0.0.1:0", ...(token === undefined ? {} : { token: { file: token } }) },
});
const DENY = { effect: "deny", tool: "x" };

t.test("the memory store: entries stay, and the token is the one in force", async (t) => {
  const replica = await startReplica(t, { routes, redemption: { store: "memory" }, ...admin() }, FILES);
  const status = async (token: string, body?: object): Promise<number> =>
    (await ask(replica, "/v1/grants", { token, ...(body === undefined ? {} : { body }) })).status;
  t.equal(await status(FILES.one), 404);
  await replica.configure(admin("one"));
  await until(async () => (await status(FILES.one, DENY)) === 201);
  t.equal(await status(FILES.two), 401);
  await replica.configure({ ...admin("two"), capability: { allow: ["roots"] } });
  await until(async () => (await status(FILES.two)) === 200);
  t.equal(await status(FILES.one), 401);
  t.equal((await inForce(replica)).deny, 1);
  const reply = await replica.send(TRANSFER, textOf("1", TRANSFER));
  t.equal(reply.json.error.data.reason, "question_forbidden", "the changed policy is in force too");
  await replica.configure(admin());
  await until(async () => (await status(FILES.two)) === 404);
  t.equal((await inForce(replica)).deny, 1);
});

t.test("Redis: a rotation takes entries along to gateways that have the new key only", async (t) => {
  const redis = await ownRedis(t);
  const sections = { routes, redis: { url: redis.url }, redemption: { store: "redis" }, ...admin("one") };
  const running = await startReplica(t, { ...sections, ...ring("a") }, FILES);
  await until(async () => (await inForce(running)).age < 5);
  const grant = { effect: "allow", capability: ["roots"], ttl: "1h" };
  const { status } = await ask(running, "/v1/grants", { token: FILES.one, body: grant });
  t.equal(status, 201);
  await running.configure(ring("a", "b"));
  await until(async () => (await running.ring()).length === 2);
  await running.configure(ring("b", "a"));
  await until(async () => running.lines("overrides written back").length > 0);
  const fresh = await startReplica(t, { ...sections, ...ring("b") }, FILES);
  await until(async () => (await inForce(fresh)).allow === 1);
  const { body } = await ask(fresh, "/v1/grants", { token: FILES.one });
  t.match(JSON.parse(body), { grants: [{ capability: ["roots"], signed: true }] });
});
