/** Callers whom nobody knows, in floods: what one of them costs before it is refused is bounded, and goes no further. */
import { connect } from "node:net";
import t from "tap";
import { mirrored, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers } from "./scene.ts";

process.env["SG_FLOOD_KEY"] = "an operator's secret of more than 32 bytes";
const FLOOD = 300;
const LIST = { method: "tools/list" };
const AUD = `${PUBLIC_URL}/mcp`;
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const redis = await ownRedis(t);
const upstream = await startUpstream(answers('{"tools":[]}'));
t.teardown(() => upstream.close());
const gateway = await startGateway(upstream.url, {
  authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
  keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_FLOOD_KEY" } }] },
  redis: { url: redis.url },
  redemption: { store: "redis" },
  limits: { perPrincipal: { requests: { points: 5, per: "1h" }, concurrent: 2, openRounds: 2 } },
});
t.teardown(() => gateway.close(0));
const good = await issuer.token({ aud: AUD });
const [head = "", body = "", signature = ""] = good.split(".");
const header = (more: object) => Buffer.from(JSON.stringify({ alg: "ES256", ...more })).toString("base64url");

/** One per kind of credential that is not good. */
const BAD: readonly ((i: number) => string)[] = [
  (i) => `opaque-${i}`,
  (i) => `${head}.${body}.${signature.slice(0, -6)}${String(100_000 + i)}`,
  (i) => `${header({ kid: `made-up-${i}` })}.${body}.${signature}`,
  (i) => `${header({ jku: `http://127.0.0.1:9/${i}`, kid: "x" })}.${body}.${signature}`,
  () => `${header({ alg: "none" })}.${body}.`,
  (i) =>
    `${head}.${Buffer.from(JSON.stringify({ iss: `https://other-${i}.example` })).toString("base64url")}.${signature}`,
  () => "x".repeat(12_000),
];

t.test(
  `${FLOOD} requests of nobody: none goes up, none is counted in Redis, keys are fetched a few times`,
  async (t) => {
    await gateway.call(LIST, { token: good });
    const [before, fetches, records] = [upstream.arrived.length, issuer.jwksFetches, gateway.audit.length];
    const keys = (await redis.command("DBSIZE")) as number;
    const replies = await Promise.all(
      Array.from({ length: FLOOD }, (_, i) => {
        const token = BAD[i % BAD.length]?.(i) ?? "";
        return gateway.call(LIST, i % 8 === 7 ? {} : { token });
      }),
    );
    for (const { status } of replies) t.equal(status, 401);
    t.equal(upstream.arrived.length, before);
    t.ok(issuer.jwksFetches - fetches <= 2, `${issuer.jwksFetches - fetches} fetches`);
    t.equal(await redis.command("DBSIZE"), keys);
    t.equal(gateway.audit.length, records + FLOOD, "each on record, with no name that was made up");
    t.equal((await gateway.call(LIST, { token: good })).status, 200, "who is known goes on meanwhile");
  },
);

t.test("their bodies are not read: a refusal comes while not one byte of the body was sent", async (t) => {
  const { port } = new URL(gateway.url);
  const before = upstream.arrived.length;
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const socket = connect(Number(port), "127.0.0.1");
      t.teardown(() => socket.destroy());
      const lines = [
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        `Authorization: Bearer ${BAD[i % 2]?.(i)}`,
        "Content-Length: 4000000",
        ...Object.entries(mirrored(LIST)).map(([name, value]) => `${name}: ${value}`),
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      let text = "";
      socket.on("data", (piece) => {
        text += piece;
      });
      await until(() => text.includes("unauthorized"));
      t.match(text, /^HTTP\/1\.1 401 /);
    }),
  );
  t.equal(upstream.arrived.length, before);
});

t.test("a head that is larger than any honest one is not even parsed to its end", async (t) => {
  const reply = await gateway.call(LIST, { headers: { authorization: `Bearer ${"x".repeat(64_000)}` } });
  t.equal(reply.status, 431);
});
