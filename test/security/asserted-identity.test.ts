/** Identity assertions: nobody is asserted as somebody else, none is good elsewhere, and one that cannot be made spends nothing. */
import { generateKeyPairSync } from "node:crypto";
import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify } from "jose";
import t from "tap";
import { PUBLIC_URL } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { result } from "../support/upstream.ts";
import { asksOnce, refuses, setScene, TRANSFER } from "./scene.ts";

process.env["SG_STATIC"] = "static-secret";
process.env["SG_ASSERTION_KEY"] = String(
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
);
const other = await startIssuer({ path: "/tenant" });
t.teardown(() => other.close());
const paths = ["/mcp", "/files", "/none", "/static"];
const scene = await setScene(t, {
  users: true,
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: {
      issuers: [
        { issuer, jwks: { url: jwksUrl }, claims: { groups: "groups" } },
        { issuer: other.issuer, jwks: { url: other.jwksUrl } },
      ],
    },
    assertions: { primary: "a", ring: [{ id: "a", key: { env: "SG_ASSERTION_KEY" } }] },
    routes: [
      { path: "/mcp", legacy: "pass", upstream: { url, credential: { assertion: { claims: ["groups"] } } } },
      {
        path: "/files",
        upstream: { url, credential: { assertion: { audience: "files", header: "X-Sealgate-Assertion" } } },
      },
      { path: "/none", upstream: { url } },
      { path: "/static", upstream: { url, credential: { bearer: { env: "SG_STATIC" } } } },
    ],
  }),
});
const { gateway, upstream, issuer } = scene;
const aud = paths.map((path) => `${PUBLIC_URL}${path}`);
const find = createRemoteJWKSet(new URL("/.well-known/jwks.json", gateway.url));
/** What the last assertion says; verified as a server would. */
const said = async (): Promise<JWTPayload & { token: string }> => {
  const { headers } = upstream.arrived.at(-1) ?? { headers: {} as Record<string, undefined> };
  const token = headers.authorization?.slice(7) ?? String(headers["x-sealgate-assertion"]);
  return { token, ...(await jwtVerify(token, find, { issuer: PUBLIC_URL })).payload };
};

t.test("subjects that are made to look like others", async (t) => {
  const seen = new Map<string, string>();
  for (const from of [issuer, other]) {
    for (const sub of [
      ...[
        "alice",
        "Alice",
        "alice ",
        "#alice",
        "x#alice",
        `${issuer.issuer}#alice`,
        "/tenant#alice",
        "anonymous",
      ],
      ...[
        '","sub":"root',
        "alice\u0000",
        "alice\nroot",
        "\u0430lice",
        "al\u200bice",
        "e\u0301",
        "\u00e9",
        "1e0",
        "1",
      ],
    ]) {
      await gateway.call({ method: "tools/list" }, { token: await from.token({ sub, aud }) });
      const claims = await said();
      t.same(claims["sub_id"], { format: "iss_sub", iss: from.issuer, sub });
      t.equal(claims.sub, `${from.issuer}#${sub}`);
      t.equal(claims["anonymous"], undefined);
      t.equal(seen.get(claims.sub ?? ""), undefined, "nobody else has it");
      seen.set(claims.sub ?? "", sub);
    }
  }
});

t.test("an assertion is for one server, and nothing at the gateway itself", async (t) => {
  const token = await issuer.token({ aud });
  await gateway.call({ method: "tools/list" }, { token });
  const first = await said();
  t.equal(first.aud, scene.upstreamUrl);
  await gateway.call({ method: "tools/list" }, { token, path: "/files" });
  const second = await said();
  t.equal(second.aud, "files");
  t.equal(upstream.arrived.at(-1)?.headers.authorization, undefined);
  // What a server has got, it brings back.
  for (const path of paths) {
    for (const stolen of [first.token, second.token]) {
      await refuses(t, scene, () => gateway.call({ method: "tools/list" }, { token: stolen, path }), {
        status: 401,
      });
    }
  }
});

t.test("what a caller writes into the header of assertions goes up on no route", async (t) => {
  const token = await issuer.token({ aud });
  for (const path of paths) {
    for (const name of ["x-sealgate-assertion", "X-SEALGATE-ASSERTION", "x_sealgate_assertion"]) {
      await gateway.call({ method: "tools/list" }, { token, path, headers: { [name]: "forged" } });
      t.notMatch(JSON.stringify(upstream.arrived.at(-1)?.rawHeaders), /forged/, `${path} ${name}`);
    }
  }
});

t.test("groups are those of the moment, the subject is that of the chain", async (t) => {
  const before = await issuer.token({ aud, groups: ["staff", "admins"] });
  const state = await scene.ask(TRANSFER, { token: before });
  const first = await said();
  const after = await issuer.token({ aud, groups: ["staff"] });
  t.equal((await scene.retry(state, {}, { token: after })).status, 200);
  const second = await said();
  t.equal(second.sub, first.sub);
  t.same([first["groups"], second["groups"]], [["staff", "admins"], ["staff"]]);
});

t.test("one that cannot be made spends nothing", async (t) => {
  const executions = (): number =>
    upstream.arrived.filter(({ json }) => json?.params?.requestState !== undefined).length;
  const state = await scene.ask(TRANSFER, { token: await issuer.token({ aud }) });
  const before = executions();
  const groups = [...Array(300)].map((_, index) => `group-number-${index}`);
  const heavy = await issuer.token({ aud, groups });
  await refuses(t, scene, () => scene.retry(state, {}, { token: heavy }), {
    status: 502,
    reason: "credential_fault",
  });
  t.match(gateway.audit.at(-1), { cause: "assertion_too_large", state: "opened" });
  const light = { token: await issuer.token({ aud }) };
  t.equal((await scene.retry(state, {}, light)).status, 200);
  t.equal((await scene.retry(state, {}, light)).json.error.data.reason, "already_redeemed");
  t.equal(executions(), before + 1);
});

t.test("many callers at once: each goes up as itself", async (t) => {
  upstream.script = (arrived, response) => {
    const { sub_id: id } = decodeJwt(String(arrived.headers.authorization).slice(7)) as {
      sub_id: { sub: string };
    };
    result(arrived, response, `{"resultType":"complete","content":[{"type":"text","text":"${id.sub}"}]}`);
  };
  const calls = [...Array(60)].map(async (_, index) => {
    const sub = `user-${index % 20}`;
    const token = await issuer.token({ sub, aud });
    const reply = await gateway.call({ method: "tools/call", params: { name: "whoami" } }, { token });
    return [sub, reply.json?.result?.content?.[0]?.text];
  });
  for (const [sub, served] of await Promise.all(calls)) t.equal(served, sub);
  upstream.script = asksOnce;
});
