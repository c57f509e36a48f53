/** Files that the configuration refers to are taken up when they change: credentials, key sets, certificates, and sinks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import t from "tap";
import { hasOpenssl, selfSigned } from "../support/certificates.ts";
import { BASE, NOT_TAKEN, startEdited } from "../support/edited.ts";
import { signingKey, startIssuer } from "../support/issuer.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, DONE, TRANSFER } from "./rounds.ts";

const upstream = await startUpstream(answers(DONE));
t.teardown(() => upstream.close());
const route = (more: object = {}) => ({
  path: "/mcp",
  upstream: { url: upstream.url, ...more },
  legacy: "refuse",
});

t.test("the gateway's own credential, in a file that changes", async (t) => {
  const credential = { bearer: { file: "secrets/token" } };
  const gateway = await startEdited(
    t,
    { routes: [route({ credential })] },
    { "secrets/token": "the-first-of-two-tokens" },
  );
  const shown = async (): Promise<unknown> => {
    await gateway.send(TRANSFER);
    return upstream.arrived.at(-1)?.headers.authorization;
  };
  t.equal(await shown(), "Bearer the-first-of-two-tokens");
  await gateway.change(() => gateway.put("secrets/token", "the-second-of-two-tokens"));
  t.equal(await shown(), "Bearer the-second-of-two-tokens");
  const line = await gateway.change(() => gateway.put("secrets/token", "not a token"), NOT_TAKEN);
  t.match(line["problems"], [/sealgate\.yaml:\d+:\d+ routes\[0\]\.upstream\.credential\.bearer\.file: /]);
  t.equal(await shown(), "Bearer the-second-of-two-tokens");
  t.notMatch(JSON.stringify(gateway.lines), /of-two-tokens|not a token/);
});

t.test("a key set in a file: a key that is taken out is not trusted any more", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const [first, second] = [await signingKey(), await signingKey()];
  const set = (...keys: (typeof first)[]): string =>
    JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) });
  const gateway = await startEdited(
    t,
    {
      authentication: {
        issuers: [{ issuer: issuer.issuer, jwks: { file: "jwks.json" }, audiences: ["a"] }],
      },
      routes: [route()],
    },
    { "jwks.json": set(first) },
  );
  const by = async (key: typeof first): Promise<number> => {
    const token = await issuer.token({ aud: "a" }, { key });
    return (await gateway.send(TRANSFER, { headers: { authorization: `Bearer ${token}` } })).status;
  };
  t.same([await by(first), await by(second)], [200, 401]);
  await gateway.change(() => gateway.put("jwks.json", set(first, second)));
  t.same([await by(first), await by(second)], [200, 200]);
  await gateway.change(() => gateway.put("jwks.json", set(second)));
  t.same([await by(first), await by(second)], [401, 200], "nor from what was verified before");
});

t.test(
  "a certificate that is renewed",
  { skip: (await hasOpenssl()) ? false : "needs openssl" },
  async (t) => {
    const [first, second] = [
      await selfSigned(t, ["DNS:one.example"]),
      await selfSigned(t, ["DNS:two.example"]),
    ];
    const tls = { cert: { file: "tls/cert" }, key: { file: "tls/key" } };
    const gateway = await startEdited(
      t,
      { server: { ...(BASE["server"] as object), tls }, routes: [route()] },
      { "tls/cert": first.cert, "tls/key": first.key },
    );
    const shown = (): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const port = Number(new URL(gateway.url).port);
        const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
          resolve(socket.getPeerCertificate().subjectaltname);
          socket.destroy();
        });
        socket.on("error", reject);
      });
    t.equal(await shown(), "DNS:one.example");
    const line = await gateway.change(() => gateway.put("tls/cert", second.cert), NOT_TAKEN);
    t.match(line["problems"], [/server\.tls\.key: /], "half of a pair");
    t.equal(await shown(), "DNS:one.example");
    await gateway.change(() => gateway.put("tls/key", second.key));
    t.equal(await shown(), "DNS:two.example");
  },
);

t.test("where audit records go, and what they hold", async (t) => {
  const sink = (name: string) => ({ type: "file", path: name });
  const gateway = await startEdited(t, { routes: [route()], audit: { sinks: [sink("one.jsonl")] } });
  const records = (name: string): Record<string, unknown>[] =>
    readFileSync(join(gateway.folder, name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  await gateway.send(TRANSFER);
  await until(() => records("one.jsonl").length === 1);
  await gateway.change(() => gateway.configure({ audit: { sinks: [sink("two.jsonl")], arguments: true } }));
  await gateway.send(TRANSFER);
  await until(() => records("two.jsonl").length === 1);
  t.match(records("two.jsonl"), [{ target: { name: "transfer" }, arguments: /"amount":50/ }]);
  t.equal(records("one.jsonl").length, 1);
  const line = await gateway.change(
    () => gateway.configure({ audit: { sinks: [sink("secrets-that-are-not-there/three.jsonl")] } }),
    NOT_TAKEN,
  );
  t.match(line["problems"], [/audit\.sinks\[0\]\.path: the folder of the file does not exist/]);
  await gateway.send(TRANSFER);
  await until(() => records("two.jsonl").length === 2);
});
