/** `revoke` and `grants` as operators call them: on a Redis while gateways are up or down, and through the admin listener. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { sealgate as run } from "../support/program.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { commandConfig, ISSUER, inForce, KEY, openGateway, operated } from "./operators.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const sealgate = (...args: string[]) => run(args);

const redis = await ownRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());

function configFile(t: Test, change: Readonly<Record<string, unknown>> = {}): string {
  const text = commandConfig(redis.url, upstream.url, change);
  return join(t.testdir({ "sealgate.yaml": text, key: KEY }), "sealgate.yaml");
}

t.test("revoked from outside, on a running gateway, listed and taken back", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t, redis.url));
  const config = ["--config", configFile(t)];
  const state = stateOf(await gateway.call(TRANSFER));
  const done = await sealgate(
    "revoke",
    ...config,
    "--route",
    "/mcp",
    "--reason",
    "incident 7",
    "--by",
    "ops",
  );
  t.match(done, {
    code: 0,
    out: /^revoked [\w-]{22}: route \/mcp, until 20.*; on all replicas within a second\n$/,
    err: "",
  });
  await until(async () => (await inForce(gateway)).revocation === 1);
  t.equal((await gateway.call(retryOf(state))).status, 400);
  t.equal(gateway.audit.at(-1)?.cause, "revoked");
  const list = await sealgate("revoke", ...config, "--list");
  t.match(list, { code: 0, out: /route \/mcp .* ops .*incident 7/ });
  const id = /revoked ([\w-]{22})/.exec(done.out)?.[1] ?? "";
  t.match(await sealgate("revoke", ...config, "--remove", id), { code: 0, out: /^removed / });
  t.match(await sealgate("revoke", ...config, "--remove", id), { code: 65, err: /no entry with this id/ });
  await until(async () => (await inForce(gateway)).revocation === 0);
  t.equal((await gateway.call(retryOf(state))).status, 200);
});

t.test("set while every gateway is down, in force when one starts", async (t) => {
  await redis.command("FLUSHALL");
  const config = ["--config", configFile(t)];
  const set = await Promise.all([
    sealgate("revoke", "--principal", "alice", "--client", "desk", ...config, "--json"),
    sealgate("grants", "deny", "--tool", "pay_*", "--capability", "elicitation.url, sampling", ...config),
  ]);
  t.match(set, [
    { code: 0, err: "" },
    { code: 0, out: /^denied .*deny elicitation.url, sampling; tools pay_\*, until/ },
  ]);
  t.match(JSON.parse(set[0].out), { principal: { issuer: ISSUER, subject: "alice", client: "desk" } });
  const grants = await sealgate("grants", "list", ...config, "--json");
  t.match(JSON.parse(grants.out), [{ tool: "pay_*", effect: "deny", signed: true }]);
  const gateway = await openGateway(t, upstream.url, operated(t, redis.url));
  t.match(await inForce(gateway), { revocation: 1, allow: 0, deny: 1 });
});
