/** What `revoke` and `grants` do with what they are given: orders that are none, the memory store, a Redis that is away. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { grantsList, grantsRemove, grantsSet } from "../../src/commands/grants.ts";
import { revoke } from "../../src/commands/revoke.ts";
import { ownRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";
import { commandConfig, ISSUER, inForce, KEY, openGateway, operated, TOKEN } from "./operators.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const redis = await ownRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());

type Options = Readonly<Record<string, string>>;
const given = (options: Options): ReadonlyMap<string, string> => new Map(Object.entries(options));

const folder = t.testdir({ key: KEY });
let files = 0;

function configFile(change: Readonly<Record<string, unknown>> = {}): Options {
  files += 1;
  const file = join(folder, `${files}.yaml`);
  writeFileSync(file, commandConfig(redis.url, upstream.url, change));
  return { config: file };
}

t.test("what is wrong is said in one line, and nothing is set", async (t) => {
  const config = configFile();
  const issuers = [{ issuer: ISSUER }, { issuer: "https://b.example" }];
  const two = configFile({ authentication: { issuers } });
  const allow = (options: Options) => () => grantsSet("allow", given(options));
  const deny = (options: Options) => () => grantsSet("deny", given(options));
  const hit = (options: Options) => () => revoke(given(options));
  for (const [order, said] of [
    [hit({ ...config }), /exactly one of --chain/],
    [hit({ ...config, chain: "x" }), /22 characters/],
    [hit({ ...config, route: "mcp" }), /its path/],
    [hit({ ...config, route: "/mcp", list: "true" }), /--route and --list/],
    [hit({ ...config, route: "/mcp", client: "x" }), /--client goes with --principal/],
    [hit({ ...two, principal: "alice" }), /needs --issuer/],
    [hit({ route: "/mcp" }), /exactly one of --config and --admin/],
    [hit({ route: "/mcp", admin: "http://127.0.0.1:1" }), /--token-file/],
    [hit({ route: "/mcp", admin: "file:///", "token-file": "x" }), /--admin is not a URL/],
    [allow({ ...config, tool: "x" }), /needed to allow/],
    [allow({ ...config, capability: "roots,tasks" }), /list of elicitation.form/],
    [deny({ ...config }), /at least one of/],
    [deny({ ...config, tool: "x", ttl: "5" }), /--ttl is not a duration/],
    [deny({ ...config, tool: "x", ttl: "2161h" }), /2160h/],
    [deny({ ...config, tool: "x", reason: "x".repeat(257) }), /256/],
    [
      hit({ ...configFile({ redis: undefined, redemption: { store: "memory" } }), route: "/mcp" }),
      /use --admin URL/,
    ],
  ] as const)
    await t.rejects(order(), { name: "UsageError", message: said });
  t.equal(await redis.command("EXISTS", "sg:{overrides}"), 0);
  t.equal(await deny({ ...config, tool: "x" })(), 0);
  t.equal(await redis.command("HLEN", "sg:{overrides}"), 2);
  t.equal(await hit({ ...two, principal: "alice", issuer: ISSUER })(), 0);
});

t.test("the memory store, through the admin listener", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t));
  const tokens = t.testdir({ right: `${TOKEN}\n`, wrong: "another token of 16", lines: "a\nb" });
  const there = (name: string, admin = gateway.adminUrl ?? "") => ({
    admin,
    "token-file": join(tokens, name),
  });
  const state = stateOf(await gateway.call(TRANSFER));
  t.equal(await revoke(given({ ...there("right"), route: "/mcp", reason: "incident", by: "ops" })), 0);
  t.equal((await gateway.call(retryOf(state))).status, 400);
  t.match(gateway.deeds.at(-1), { entry: { reason: "incident", by: "ops", route: "/mcp" } });
  t.equal(await grantsSet("deny", given({ ...there("right"), tool: "x", ttl: "90s" })), 0);
  t.match(await inForce(gateway), { revocation: 1, deny: 1 });
  t.equal(await grantsList(given(there("right"))), 0);
  t.equal(await revoke(given({ ...there("right"), list: "true" })), 0);
  const id = String(gateway.deeds.at(-1)?.entry?.["id"]);
  t.equal(await grantsRemove(given({ ...there("right"), ID: id })), 0);
  t.equal(await grantsRemove(given({ ...there("right"), ID: id })), 65);
  t.match(gateway.deeds.at(-1), { action: "ungrant", cause: "not_found" });
  t.equal((await inForce(gateway)).deny, 0);
  for (const place of [there("wrong"), there("right", gateway.url), there("right", "http://127.0.0.1:1")])
    t.equal(await grantsList(given(place)), 69, place.admin);
  for (const name of ["lines", "none"])
    await t.rejects(grantsList(given(there(name))), { name: "UsageError", message: /--token-file/ });
  await t.rejects(grantsList(given(there("none"))), {
    message: /does not exist \(a relative path starts at the working directory\)$/,
  });
});

t.test("a route that the gateway does not have is set, and warned of", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t));
  const there = {
    admin: gateway.adminUrl ?? "",
    "token-file": join(t.testdir({ right: `${TOKEN}\n` }), "right"),
  };
  const err = t.capture(process.stderr, "write", () => true);
  const warnings = () => err().map(({ args }) => String(args[0]));
  t.equal(await revoke(given({ ...there, route: "/nope" })), 0);
  t.equal(await grantsSet("deny", given({ ...there, route: "/nope" })), 0);
  const said = "warning: route is the path of no route of this gateway\n";
  t.same(warnings(), [said, said]);
  t.equal(await revoke(given({ ...there, route: "/mcp" })), 0);
  t.same(warnings(), []);
  t.match(await inForce(gateway), { revocation: 2, deny: 1 });
});

t.test("Redis away: the exit code of that", async (t) => {
  const config = configFile();
  await redis.stop();
  t.equal(await grantsList(given(config)), 69);
  t.equal(await revoke(given({ ...config, route: "/mcp" })), 69);
});
