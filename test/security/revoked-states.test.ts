/** A revoked state is replayed, by its owner and by others, in every way: it stays useless, and tells a stranger nothing. */
import t from "tap";
import { ask, inForce, operated, set } from "../integration/operators.ts";
import { PUBLIC_URL } from "../support/gateway.ts";
import { passes, refusesState, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t, {
  users: true,
  sections: (_url, { issuer, jwksUrl }) => ({
    ...operated(t),
    authentication: {
      issuers: [{ issuer, jwks: { url: jwksUrl }, claims: { client: ["client_id"], tenant: "tid" } }],
    },
  }),
});
const aud = `${PUBLIC_URL}/mcp`;
const { issuer } = scene.issuer;
const tokenOf = (claims: Record<string, unknown>): Promise<string> => scene.issuer.token({ aud, ...claims });
const revoke = (body: Readonly<Record<string, unknown>>) => set(scene.gateway, "revocations", body);

t.test("again and again, with other ids, never spent, never sent", async (t) => {
  const state = await scene.ask();
  await revoke({ principal: { issuer, subject: "u-1001" } });
  for (const id of ["a", "a", "b"])
    await refusesState(t, scene, () => scene.retry(state, { id }), {
      id: JSON.stringify(id),
      cause: "revoked",
    });
  const fresh = await scene.ask();
  await passes(t, scene, () => scene.retry(fresh));
});

t.test(
  "a stranger gets the same bytes for his own reasons, before anybody looks at revocations",
  async (t) => {
    const state = await scene.ask();
    await revoke({ route: "/mcp" });
    await refusesState(t, scene, () => scene.retry(state, {}, { token: scene.stranger }), {
      cause: "principal",
    });
    await refusesState(
      t,
      scene,
      () => scene.retry(state, { params: { ...TRANSFER.params, arguments: {} } }),
      {
        cause: "params",
      },
    );
    await refusesState(t, scene, () => scene.retry(`${state.slice(0, -4)}AAAA`), { cause: "aead" });
    await refusesState(t, scene, () => scene.retry(state), { cause: "revoked" });
  },
);

t.test("a subject in all its clients and tenants, or in one; another subject not at all", async (t) => {
  const clients = [{ client_id: "desk" }, { client_id: "phone", tid: "acme" }, {}];
  const tokens = await Promise.all(clients.map((claims) => tokenOf({ sub: "u-7", ...claims })));
  const asked = await Promise.all(tokens.map((token) => scene.ask(TRANSFER, { token })));
  const neighbour = await scene.ask(TRANSFER, { token: scene.stranger });
  const { id } = await revoke({ principal: { issuer, subject: "u-7" } });
  for (const [index, token] of tokens.entries())
    await refusesState(t, scene, () => scene.retry(asked[index], {}, { token }), { cause: "revoked" });
  await ask(scene.gateway, `/v1/revocations/${id}`, { method: "DELETE" });
  await revoke({ principal: { issuer, subject: "u-7", client: "phone", tenant: "acme" } });
  await refusesState(t, scene, () => scene.retry(asked[1], {}, { token: tokens[1] ?? "" }), {
    cause: "revoked",
  });
  for (const index of [0, 2])
    await passes(t, scene, () => scene.retry(asked[index], {}, { token: tokens[index] ?? "" }));
  await passes(t, scene, () => scene.retry(neighbour, {}, { token: scene.stranger }));
});

t.test(
  "a client has no way to overrides: not by paths, headers, members, or the admin token itself",
  async (t) => {
    const before = await inForce(scene.gateway);
    const body = JSON.stringify({ effect: "allow", capability: ["sampling"] });
    const headers = { authorization: "Bearer an-operator's-token-4711", "content-type": "application/json" };
    for (const path of ["/v1/grants", "/mcp/v1/grants", "/mcp/../v1/grants", "/%761/grants", "/mcp"]) {
      const reply = await scene.gateway.send({ path, headers, body });
      t.ok([400, 401, 404, 406].includes(reply.status), `${path} ${reply.status}`);
      t.equal(reply.json?.grants, undefined);
    }
    for (const member of ["overrides", "grants", "revocations", "io.sealgate/grants"]) {
      const params = { ...TRANSFER.params, [member]: [{ effect: "allow", capability: ["sampling"] }] };
      await scene.gateway.call({ ...TRANSFER, params }, { token: scene.owner });
    }
    const after = await inForce(scene.gateway);
    t.same([after.allow, after.deny, after.revocation], [before.allow, before.deny, before.revocation]);
  },
);
