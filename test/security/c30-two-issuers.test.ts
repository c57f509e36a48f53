/** C30: two identity providers, one subject. */
import t from "tap";
import { PUBLIC_URL } from "../support/gateway.ts";
import { signingKey, startIssuer } from "../support/issuer.ts";
import { passes, refuses, refusesState, setScene } from "./scene.ts";

const other = await startIssuer();
t.teardown(() => other.close());
const tenant = await startIssuer({ path: "/tenant" });
t.teardown(() => tenant.close());
const scene = await setScene(t, {
  users: true,
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: {
      issuers: [
        { issuer, jwks: { url: jwksUrl } },
        { issuer: other.issuer, jwks: { url: other.jwksUrl } },
        { issuer: tenant.issuer, jwks: { url: tenant.jwksUrl } },
      ],
    },
    routes: [
      { path: "/mcp", upstream: { url } },
      { path: "/other", upstream: { url } },
    ],
  }),
});
const aud = `${PUBLIC_URL}/mcp`;
const subject = { sub: "1001", aud };
const { issuer: home } = scene;
const owner = await home.token(subject);

t.test("the same subject of another issuer is a stranger, both ways", async (t) => {
  for (const foreign of [other, tenant]) {
    const stranger = await foreign.token(subject);
    for (const [one, two] of [
      [owner, stranger],
      [stranger, owner],
    ] as const) {
      const state = await scene.ask(undefined, { token: one });
      await refusesState(t, scene, () => scene.retry(state, {}, { token: two }), { cause: "principal" });
      await passes(t, scene, () => scene.retry(state, {}, { token: one }));
    }
  }
});

t.test("a part of the issuer in the subject does not make them meet", async (t) => {
  const split = await tenant.token({ sub: "1001", aud });
  const joined = await scene.issuer.token({ sub: "/tenant1001", aud });
  const state = await scene.ask(undefined, { token: split });
  await refusesState(t, scene, () => scene.retry(state, {}, { token: joined }), { cause: "principal" });
  await passes(t, scene, () => scene.retry(state, {}, { token: split }));
});

t.test("an issuer that is spelled nearly so is none of ours", async (t) => {
  const state = await scene.ask(undefined, { token: owner });
  const { port } = new URL(home.issuer);
  for (const iss of [
    `${home.issuer}/`,
    `${home.issuer}/.`,
    `${home.issuer}?`,
    `${home.issuer}#`,
    home.issuer.toUpperCase(),
    ` ${home.issuer}`,
    `http://localhost:${port}`,
    `http://127.1:${port}`,
    `https://127.0.0.1:${port}`,
    `${tenant.issuer}/`,
    "",
    null,
    [home.issuer],
    undefined,
  ]) {
    const token = await home.token({ ...subject, iss });
    await refuses(t, scene, () => scene.retry(state, {}, { token }), { status: 401, reason: "unauthorized" });
  }
  await passes(t, scene, () => scene.retry(state, {}, { token: owner }));
});

t.test("one issuer's key does not sign for another", async (t) => {
  const state = await scene.ask(undefined, { token: owner });
  const forger = await signingKey("ES256", home.key.kid);
  for (const token of [
    await other.token({ ...subject, iss: home.issuer }),
    await home.token(subject, { key: { ...other.key, kid: home.key.kid } }),
    await home.token(subject, { key: forger }),
    await home.token(subject, { header: { jwk: forger.publicJwk }, key: forger }),
    await home.token(subject, { header: { jku: other.jwksUrl }, key: other.key }),
    `${Buffer.from('{"alg":"none"}').toString("base64url")}.${owner.split(".")[1]}.`,
    `${owner.slice(0, -4)}AAAA`,
    `${owner}.`,
    `${owner} ${owner}`,
  ]) {
    const reply = await refuses(t, scene, () => scene.retry(state, {}, { token }), { status: 401 });
    t.match(reply.headers["www-authenticate"], /resource_metadata=/);
  }
  await passes(t, scene, () => scene.retry(state, {}, { token: owner }));
});

t.test("a token for one route is nothing on another", async (t) => {
  for (const audience of [
    `${PUBLIC_URL}/other`,
    PUBLIC_URL,
    `${aud}/`,
    aud.toUpperCase(),
    [`${PUBLIC_URL}/x`],
    "",
    undefined,
  ]) {
    const token = await home.token({ sub: "1001", aud: audience });
    await refuses(t, scene, () => scene.gateway.call({ method: "tools/list" }, { token }), { status: 401 });
  }
  const both = await home.token({ sub: "1001", aud: [aud, `${PUBLIC_URL}/other`] });
  const state = await scene.ask(undefined, { token: both });
  await refusesState(t, scene, () => scene.retry(state, {}, { token: both, path: "/other" }), {
    cause: "route",
  });
  await passes(t, scene, () => scene.retry(state, {}, { token: both }));
});

t.test("scopes of one issuer are asked of its tokens only, and each challenge names its own", async (t) => {
  const { gateway } = scene;
  t.ok(
    await gateway.configure({
      authentication: {
        issuers: [
          { issuer: home.issuer, jwks: { url: home.jwksUrl }, requiredScopes: ["home"] },
          { issuer: other.issuer, jwks: { url: other.jwksUrl }, requiredScopes: ["other"] },
        ],
      },
      authorization: { default: "allow", scopes: [{ tools: ["transfer"], requires: ["pay"] }] },
    }),
  );
  for (const [issuer, required, foreign] of [
    [home, "home", "other"],
    [other, "other", "home"],
  ] as const) {
    const state = await scene.ask(undefined, {
      token: await issuer.token({ ...subject, scope: `${required} pay` }),
    });
    for (const scope of ["pay", `${foreign} pay`, required, ""]) {
      const reply = await scene.retry(state, {}, { token: await issuer.token({ ...subject, scope }) });
      t.equal(reply.status, 403);
      t.match(reply.headers["www-authenticate"], ` scope="${required} pay", `);
    }
    const stranger = issuer === home ? other : home;
    const token = await stranger.token({ ...subject, scope: `${foreign} pay` });
    await refusesState(t, scene, () => scene.retry(state, {}, { token }), { cause: "principal" });
    const good = await issuer.token({ ...subject, scope: `${required} pay` });
    await passes(t, scene, () => scene.retry(state, {}, { token: good }));
  }
});
