/** docs/metrics.md says what a running gateway exposes, names are as Prometheus asks, and nobody's words become a series. */
import t, { type Test } from "tap";
import type { AuditRecord } from "../../src/audit/record.ts";
import { ephemeralKeyring } from "../../src/keyring.ts";
import { createLimits } from "../../src/limits.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createMemoryStore } from "../../src/redemption/memory.ts";
import { exchange, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { codes, page, rows, section } from "../support/markdown.ts";
import { result, startUpstream } from "../support/upstream.ts";

const TABLE = rows(section(page("docs/metrics.md"), "All of them"));
const LABELS = rows(section(page("docs/metrics.md"), "Labels"));
const documented = TABLE.map(([name = "", type = "", unit = "", labels = ""]) => ({
  ...{ name: codes(name)[0] ?? "", type, unit, labels: codes(labels).sort() },
}));

async function scrape(gateway: TestGateway): Promise<string> {
  return (await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" })).body;
}

async function open(t: Test, sections: object = {}) {
  const upstream = await startUpstream((arrived, response) =>
    result(arrived, response, '{"resultType":"complete"}'),
  );
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, { admin: { listen: "127.0.0.1:0" }, ...sections });
  t.teardown(() => gateway.close(0));
  return { upstream, gateway };
}

t.test("names and types are those that a running gateway exposes, all of them and no other", async (t) => {
  const { gateway } = await open(t);
  const exposed = [...(await scrape(gateway)).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  t.ok(exposed.length > 30);
  t.same(documented.map(({ name, type }) => `${name} ${type}`).sort(), exposed.sort());
});

t.test("labels are those of the series", async (t) => {
  const text = await everything();
  for (const { name, labels } of documented) {
    const sample = new RegExp(`^${name}(?:_bucket)?(?:\\{([^}]*)\\})? `, "m").exec(text);
    t.ok(sample, name);
    const found = [...(sample?.[1] ?? "").matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
    t.same(found.filter((label) => label !== "le").sort(), labels, name);
  }
});

t.test("every label has its bound, and there is none that nothing has", async (t) => {
  const used = new Set(documented.flatMap(({ labels }) => labels));
  t.same(LABELS.map(([label = ""]) => codes(label)[0]).sort(), [...used].sort());
});

t.test("names have the base unit, counters and they alone end in total", async (t) => {
  for (const { name, type, unit } of documented) {
    t.match(name, /^(sealgate|process)(_[a-z]+)+$/);
    t.equal(name.endsWith("_total"), type === "counter", name);
    t.ok(unit.length > 0, name);
    const bare = name.replace(/_total$/, "");
    t.equal(bare.endsWith("_seconds"), unit.endsWith("seconds"), name);
    t.equal(bare.endsWith("_bytes"), unit === "bytes", name);
    t.notMatch(name, /_(ms|milliseconds|kb|mb|percent|minutes)\b/);
  }
});

t.test("what clients and servers make up is no series", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { gateway, upstream } = await open(t, {
    authentication: {
      mode: "anonymous",
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
    },
  });
  const series = async (): Promise<string[]> =>
    (await scrape(gateway))
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.replace(/ \S+$/, ""));
  const round = async (n: number): Promise<void> => {
    const word = `hunter-${n}`;
    const token = await issuer.token({ sub: word, client_id: word, aud: "http://gateway.test/mcp" });
    await gateway.call({ method: word }, { token });
    await gateway.call({ method: "tools/call", params: { name: word, arguments: {} } }, { token });
    await gateway.call({ method: "resources/read", params: { uri: `file:///${word}` } });
    await gateway.call({ method: "prompts/get", params: { name: word, requestState: word } });
    await gateway.call({ method: "tools/list" }, { headers: { "mcp-protocol-version": word } });
    await gateway.call({ method: "tools/list" }, { token: word });
    await gateway.call(
      { method: "tools/list" },
      { headers: { host: `${word}.example`, "mcp-method": word } },
    );
    await gateway.send({ path: `/${word}?${word}`, method: "POST", headers: { [word]: word }, body: "{}" });
    // A server's words, and a status that it has made up.
    const honest = upstream.script;
    upstream.script = (arrived, response) => {
      response.writeHead(600 + n, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${arrived.json.id},"error":{"code":${-n},"message":"${word}"}}`);
    };
    await gateway.call({ method: "tools/list" });
    await gateway.call({ method: "notifications/cancelled", id: null });
    await gateway.call({ method: `notifications/${word}`, id: null });
    upstream.script = honest;
  };
  await round(1);
  const before = await series();
  for (let n = 2; n < 40; n += 1) await round(n);
  t.same(await series(), before);
  t.notMatch(before.join("\n"), "hunter");
});

/** The exposition of a registry in which everything has happened once. */
async function everything(): Promise<string> {
  const metrics = createMetrics({
    keys: { labels: () => ephemeralKeyring().labels(0) },
    reloads: () => ({ successful: true, succeededAt: 0 }),
    exposed: () => new Map([["/mcp", false]]),
    auditLosses: () => new Map([["stdout", 0]]),
    store: createMemoryStore(),
    overrides: { status: () => ({ revocations: 0, allows: 0, denials: 0, ignored: 0, ageSeconds: 0 }) },
    needs: { list: () => [] },
    issuerKeys: () => [
      { issuer: "https://i.example", state: "fresh", ageSeconds: 1, loads: { loaded: 1, failed: 0 } },
    ],
    limits: createLimits({ inFlight: 1, streams: 1 }),
    allowances: { alone: false },
    anonymous: () => new Map([["/mcp", true]]),
    load: { shedding: false, delay: 0 },
  });
  const record: AuditRecord = {
    ...{ type: "audit", time: "", requestId: "", route: "/mcp", outcome: "input_required", latencyMs: 1 },
    ...{ code: "internal", cause: "unexpected", state: "redeemed", authenticatedBy: "jwt" },
    principal: { anonymous: true },
  };
  metrics.observe(record);
  metrics.redemption("redeemed");
  metrics.introspection("active");
  metrics.result("kept");
  metrics.credential("/mcp", "assertion", "obtained");
  metrics.approval(["ask"], "asked");
  metrics.finding("/mcp", "elicitation/secret-field", "report");
  metrics.spans("exported", 1);
  return (await metrics.expose()).text;
}
