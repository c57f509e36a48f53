/** Anonymous mode: only when asked for, and then nobody can overlook it: log, metrics, audit, quickstart, the claim of states. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import t from "tap";
import { stringify } from "yaml";
import { ANONYMOUS, principalDigest } from "../../src/principal/principal.ts";
import { openCommands } from "../support/commands.ts";
import { exchange, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, stateOf, TRANSFER } from "./rounds.ts";

const LIST = { method: "tools/list" };
const LOUD = /authentication\.mode is anonymous: whoever reaches the listener may call/g;
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const issuers = [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }];
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const admin = { listen: "127.0.0.1:0" };

t.test("asked for by nobody, it is off: no credential, no call", async (t) => {
  const gateway = await startGateway(upstream.url, { admin, authentication: { issuers } });
  t.teardown(() => gateway.close(0));
  const before = upstream.arrived.length;
  t.equal((await gateway.call(LIST)).status, 401);
  t.equal(upstream.arrived.length, before);
  const token = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
  t.equal((await gateway.call(LIST, { token })).status, 200);
  const { body } = await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" });
  t.match(body, /^sealgate_anonymous\{route="\/mcp"\} 0$/m);
  t.notMatch(body, /^sealgate_anonymous_requests_total\{/m);
  t.notMatch(gateway.logged(), LOUD);
});

t.test("asked for, it is said at start and with each change, counted, and on record", async (t) => {
  const gateway = await startGateway(upstream.url, { admin, authentication: { mode: "anonymous", issuers } });
  t.teardown(() => gateway.close(0));
  const said = () => (gateway.logged().match(LOUD) ?? []).length;
  t.equal(said(), 1);
  t.match(gateway.logged(), /"level":"warn"[^\n]*"routes":\["\/mcp"\][^\n]*is anonymous/);
  const token = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
  for (const options of [{}, {}, { token }]) t.equal((await gateway.call(LIST, options)).status, 200);
  t.same(
    gateway.audit.map(({ principal }) => principal?.anonymous),
    [true, true, undefined],
  );
  const metrics = async () =>
    (await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" })).body;
  t.match(await metrics(), /^sealgate_anonymous\{route="\/mcp"\} 1$/m);
  t.match(await metrics(), /^sealgate_anonymous_requests_total\{route="\/mcp"\} 2$/m);
  t.ok(await gateway.configure({ log: { level: "debug" } }));
  t.equal(said(), 2, "a change of something else");
  t.ok(await gateway.configure({ authentication: { issuers } }));
  t.equal(said(), 2, "not any more");
  t.equal((await gateway.call(LIST)).status, 401);
  t.match(await metrics(), /^sealgate_anonymous\{route="\/mcp"\} 0$/m);
});

t.test("it is no fallback: a credential that is not good is refused", async (t) => {
  const gateway = await startGateway(upstream.url, { authentication: { mode: "anonymous", issuers } });
  t.teardown(() => gateway.close(0));
  const good = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
  const bad = [
    `${good.slice(0, -4)}AAAA`,
    await issuer.token({ aud: "https://elsewhere.example" }),
    await issuer.token({ aud: `${PUBLIC_URL}/mcp`, exp: 1 }),
    "x",
  ];
  const before = upstream.arrived.length;
  for (const token of bad) t.equal((await gateway.call(LIST, { token })).status, 401, token.slice(0, 8));
  t.equal((await gateway.call(LIST, { headers: { authorization: "Basic YTpi" } })).status, 401);
  issuer.behaviour.jwks = "error";
  t.teardown(() => {
    issuer.behaviour.jwks = "ok";
  });
  const { issuer: name } = issuer;
  const down = { mode: "anonymous", issuers: [{ issuer: name, jwks: { url: `${issuer.jwksUrl}?other` } }] };
  t.ok(await gateway.configure({ authentication: down }));
  t.equal(
    (await gateway.call(LIST, { token: good })).status,
    503,
    "keys that cannot be had are no anonymity",
  );
  t.equal(upstream.arrived.length, before);
});

t.test("the claim of a state says so, and no person's is equal to it", async (t) => {
  const routes = [{ path: "/mcp", upstream: { url: upstream.url } }];
  const folder = t.testdir({ key: "k".repeat(43) });
  const keys = { primary: "k", ring: [{ id: "k", secret: { file: join(folder, "key") } }] };
  const authentication = { mode: "anonymous", issuers };
  const gateway = await startGateway(upstream.url, { keys, authentication, routes });
  t.teardown(() => gateway.close(0));
  const file = join(folder, "sealgate.yaml");
  const server = { listen: "127.0.0.1:8080", publicUrl: PUBLIC_URL };
  writeFileSync(file, stringify({ version: 1, server, keys, authentication, routes }));
  const sealgate = openCommands(t);
  const anonymous = async (token?: string): Promise<unknown> => {
    const state = stateOf(await gateway.call(TRANSFER, token === undefined ? {} : { token }));
    const { out, err } = await sealgate(["inspect", "-", "--config", file], state);
    t.equal(err, "");
    return JSON.parse(out).anonymous;
  };
  t.equal(await anonymous(), true);
  for (const sub of ["anonymous", "true", "null"])
    t.equal(await anonymous(await issuer.token({ aud: `${PUBLIC_URL}/mcp`, sub })), false, sub);
  t.not(principalDigest(ANONYMOUS), principalDigest({ ...ANONYMOUS, anonymous: false }));
});

t.test("the quickstart says it before it listens", async (t) => {
  const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
  const args = [main, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.includes("sealgate is listening")) break;
  }
  const before = lines.slice(0, -1).join("\n");
  t.match(
    before,
    /"level":"warn"[^\n]*quickstart: loopback only, anonymous \(every program on this machine may call/,
  );
  t.match(before, LOUD);
  t.match(lines.at(-1), /"authentication":"anonymous"/);
});
