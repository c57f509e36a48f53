/** The topology of docker-compose.yml, started from the file: rounds across gateways, a gateway lost, one more, and the end. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type BareCall, type Seen, send } from "../../demo/client.ts";
import { readCompose } from "../support/compose.ts";
import { exchange, type Message, mirrored } from "../support/gateway.ts";
import { codes, page, ROOT, rows, section } from "../support/markdown.ts";
import { type Replica, startTopology, type Topology } from "../support/topology.ts";
import { TRANSFER, textOf } from "./rounds.ts";

const ASK: BareCall = { tool: "transfer", arguments: { to: "acct-9", amount: 50 } };
const YES = { confirm: { action: "accept", content: { ok: true } } };
/** More than enough for chance to bring every gateway its turn. */
const TRIES = 200;
const DEADLINE_MS = 30_000;

interface Line {
  readonly type?: string;
  readonly requestId?: string;
}

/** The gateway that has written the audit record of a request. */
async function servedBy(gateways: readonly Replica[], { requestId }: Seen): Promise<number> {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const index = gateways.findIndex(({ out }) =>
      out()
        .split("\n")
        .some((line) => line.includes('"audit"') && (JSON.parse(line) as Line).requestId === requestId),
    );
    if (index >= 0) return index;
    if (Date.now() > end) throw new Error(`nobody has served ${requestId}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A caller outside: tokens and calls through the balancer. */
async function outside({ place }: Topology) {
  const [url, issuer] = [place("client", "http://balancer:8080/mcp"), place("client", "http://issuer:3002")];
  const resource = "http://localhost:8080/mcp";
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "alice", resource });
  const { access_token: token } = (await (
    await fetch(`${issuer}/token`, { method: "POST", body })
  ).json()) as {
    access_token: string;
  };
  return { url, token, call: (call: BareCall) => send(url, token, call) };
}

const sent = (seen: Seen): string => seen.result?.content?.[0]?.text ?? JSON.stringify(seen.error);

t.test("the topology", async (t) => {
  const topology = await startTopology(t);
  const gateways = topology.replicas.get("gateway") ?? [];
  const { url, token, call } = await outside(topology);

  t.equal(gateways.length, 2);
  const whole = await topology.run("client");
  t.equal(whole.code, 0, whole.out);
  t.match(whole.out, /✓ past the gateway +not reachable\nAll 9 steps came out as they should\.\n$/);
  const open = await topology.run("client", true);
  t.equal(open.code, 1, "where the server can be reached, the client fails");
  t.match(open.out, /✗ past the gateway +answered \d+\n[\s\S]*1 of 9 did not\.\n$/);

  t.comment("asked by one gateway, redeemed by the other, and by neither again");
  for (const first of [0, 1]) {
    let rounds: number[] = [];
    for (let tries = 0; tries < TRIES && !(rounds[0] === first && rounds[1] === 1 - first); tries++) {
      const asked = await call(ASK);
      const state = asked.result?.requestState ?? "";
      const done = await call({ ...ASK, state, answers: YES });
      t.equal(sent(done), "sent 50 to acct-9");
      rounds = [await servedBy(gateways, asked), await servedBy(gateways, done)];
      const again = await call({ ...ASK, state, answers: YES });
      t.equal(again.error?.data?.reason, "already_redeemed");
    }
    t.same(rounds, [first, 1 - first]);
  }

  t.comment("what a balancer can spoil");
  const listening = new AbortController();
  const listen: Message = {
    method: "subscriptions/listen",
    params: { notifications: { toolsListChanged: true } },
  };
  const stream = await fetch(url, {
    method: "POST",
    headers: { ...mirrored(listen), authorization: `Bearer ${token}` },
    body: textOf("1", listen),
    signal: listening.signal,
  });
  t.match(stream.headers.get("content-type"), /^text\/event-stream/);
  const first = await stream.body?.getReader().read();
  t.match(
    Buffer.from(first?.value ?? []).toString(),
    /acknowledged|^:/,
    "an event arrives while the stream is open",
  );
  listening.abort();
  const large = await call({ ...ASK, arguments: { to: "x".repeat(4 * 1024 * 1024), amount: 1 } });
  t.match(large, { status: 413, error: { data: { reason: "body_too_large" } } });
  const headers = { ...mirrored(TRANSFER), authorization: `Bearer ${token}`, host: "evil.example" };
  const other = await exchange(url, { headers, body: textOf("2", TRANSFER) });
  t.match(other, { status: 421 }, "Host reaches the gateway as it was sent");

  t.comment("docker compose up --scale gateway=3");
  const third = await topology.add("gateway");
  const end = Date.now() + DEADLINE_MS;
  while (!third.out().includes('"audit"')) {
    if (Date.now() > end) throw new Error("the balancer does not see a new gateway");
    t.equal((await call({ tool: "delete_everything" })).error?.data?.reason, "unknown_tool");
  }

  t.comment("a gateway is lost; its rounds go on with the others");
  const states: string[] = [];
  for (let index = 0; index < 8; index++) states.push((await call(ASK)).result?.requestState ?? "");
  gateways[0]?.kill("SIGKILL");
  await gateways[0]?.ended;
  for (const state of states) {
    t.equal(sent(await call({ ...ASK, state, answers: YES })), "sent 50 to acct-9");
  }

  t.comment("docker compose down");
  for (const name of ["balancer", "gateway", "server", "issuer", "redis"]) {
    const { stopSignal = "SIGTERM" } = topology.compose.services[name] ?? {};
    for (const replica of topology.replicas.get(name) ?? []) {
      if (replica === gateways[0]) continue;
      replica.kill(stopSignal);
      t.equal(await replica.ended, 0, `${name}: ${replica.err()}`);
    }
  }
});

/** Runs docker/make-secrets in a project of its own, or in the one given. */
function makeSecrets(t: Test, folder = t.testdir({ docker: {}, ".env": "OTHER=1\n" })) {
  cpSync(join(ROOT, "docker/make-secrets"), join(folder, "docker/make-secrets"));
  const { status, stdout, stderr } = spawnSync(join(folder, "docker/make-secrets"), { encoding: "utf8" });
  t.equal(status, 0, stderr);
  return { folder, out: stdout };
}

t.test("docker/make-secrets: modes, owners, rights, and nothing overwritten", async (t) => {
  const { folder, out } = makeSecrets(t);
  const secrets = join(folder, "docker/secrets");
  const files = ["keys/key-1", "redis-password", "redis-users.acl"];
  t.same(readdirSync(secrets, { recursive: true }).sort(), ["keys", ...files].sort());
  const texts = files.map((name) => readFileSync(join(secrets, name), "utf8"));
  for (const name of files) {
    const { mode, uid } = statSync(join(secrets, name));
    t.equal(mode & 0o777, 0o400, name);
    t.equal(uid, process.getuid?.() === 0 ? 1000 : process.getuid?.(), name);
  }
  t.equal(statSync(join(secrets, "keys")).mode & 0o777, 0o700);
  const [key = "", password = "", acl = ""] = texts;
  t.match(key, /^[\w-]{43}$/);
  t.match(password, /^[\w-]{43}$/);
  t.not(key, password);
  t.match(acl, new RegExp(`^user default off\nuser sealgate on >${password} .*\n$`));
  const row = rows(section(page("docs/operations.md"), "Redis")).find(([name]) => name === "Rights") ?? [];
  const [always = "", withLimits = ""] = codes(row[1] ?? "");
  t.ok(acl.includes(`${always} ${withLimits} +ping`), "the rights of docs/operations.md, and PING");

  for (const text of [key, password]) t.notOk(out.includes(text), "nothing of it is printed");

  const again = makeSecrets(t, folder);
  t.same(again.out.match(/^kept /gm)?.length, 3);
  t.same(
    files.map((name) => readFileSync(join(secrets, name), "utf8")),
    texts,
  );
  const env = readFileSync(join(folder, ".env"), "utf8");
  t.match(
    env,
    /^OTHER=1\nSEALGATE_UID=\d+\nSEALGATE_GID=\d+\n$/,
    "what stood in .env stays, and nothing stands twice",
  );
});

t.test("the file: what is secret is in no git, no image and no variable; times fit", async (t) => {
  const compose = readCompose();
  const ignored = readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n");
  t.ok(ignored.includes("docker/secrets/") && ignored.includes(".env"));
  for (const file of Object.values(compose.secrets)) t.match(file, /^\.\/docker\/secrets\//);
  t.same(compose.services["server"]?.ports, []);
  t.equal(compose.networks["upstream"]?.internal, true);
  const grace = /shutdownGrace: (\d+)s/.exec(
    readFileSync(join(ROOT, "docker/gateway/sealgate.yaml"), "utf8"),
  )?.[1];
  const stop = compose.services["gateway"]?.stopGrace ?? 0;
  t.ok(stop > (Number(grace) + 5) * 1000, "longer than the gateway takes");
  t.ok((compose.services["balancer"]?.stopGrace ?? 0) > stop);
  t.equal(compose.services["balancer"]?.stopSignal, "SIGQUIT");
  const { command = [] } = compose.services["redis"] ?? {};
  t.equal(command[command.indexOf("--maxmemory-policy") + 1], "noeviction");
  // Whoever is on that network may say who a client is.
  const subnet = /subnet: ([0-9./]+)/.exec(readFileSync(join(ROOT, "docker-compose.yml"), "utf8"))?.[1];
  const gateway = readFileSync(join(ROOT, "docker/gateway/sealgate.yaml"), "utf8");
  t.ok(subnet !== undefined && gateway.includes(`trustedProxies: [${subnet}]`), "the subnet of the balancer");
  t.same(
    Object.keys(compose.services).filter((name) => compose.services[name]?.networks.includes("gateways")),
    ["balancer", "gateway"],
  );
  const nginx = readFileSync(join(ROOT, "docker/balancer/nginx.conf"), "utf8");
  t.notMatch(nginx, /^[^#]*non_idempotent/m, "a POST is never sent twice");
});
