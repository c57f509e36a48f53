/** C01: one signed-in user redeems another signed-in user's state. */
import t from "tap";
import { PUBLIC_URL } from "../support/gateway.ts";
import { passes, refusesState, setScene } from "./scene.ts";

const scene = await setScene(t, {
  users: true,
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: {
      issuers: [{ issuer, jwks: { url: jwksUrl }, claims: { tenant: "tid", groups: "groups" } }],
    },
    authorization: { default: "allow" },
    routes: [{ path: "/mcp", upstream: { url } }],
  }),
});
const aud = `${PUBLIC_URL}/mcp`;
const token = (claims: Record<string, unknown>): Promise<string> => scene.issuer.token({ aud, ...claims });

// What the state is sealed for, and who else holds it.
const STRANGERS: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ["another subject", { sub: "u-1001" }, { sub: "u-2002" }],
  ["the subject in another case", { sub: "u-1001" }, { sub: "U-1001" }],
  ["the subject with white space", { sub: "u-1001" }, { sub: "u-1001 " }],
  ["the subject in another normal form", { sub: "\u00e9" }, { sub: "e\u0301" }],
  ["another client of the same user", { client_id: "cli" }, { client_id: "ide" }],
  ["no client against a client", { client_id: "cli" }, {}],
  ["a client against no client", {}, { client_id: "cli" }],
  ["a client named like nothing", {}, { client_id: "null" }],
  ["another tenant", { tid: "north" }, { tid: "south" }],
  ["tenant and client swapped", { client_id: "a", tid: "b" }, { client_id: "b", tid: "a" }],
  ["parts joined another way", { sub: "a", client_id: "b,c" }, { sub: "a,b", client_id: "c" }],
  ["parts joined with quotes", { sub: 'a","b', client_id: "c" }, { sub: "a", client_id: 'b","c' }],
];

for (const [name, own, other] of STRANGERS) {
  t.test(name, async (t) => {
    const owner = await token(own);
    const state = await scene.ask(undefined, { token: owner });
    const stranger = await token(other);
    for (let tries = 0; tries < 2; tries++) {
      await refusesState(t, scene, () => scene.retry(state, {}, { token: stranger }), { cause: "principal" });
    }
    const arrived = await passes(t, scene, () => scene.retry(state, {}, { token: owner }));
    t.equal(arrived.json.params.requestState, "U1==");
    // Also after it was redeemed, a stranger learns nothing of that.
    await refusesState(t, scene, () => scene.retry(state, {}, { token: stranger }), { cause: "principal" });
  });
}

t.test("the owner may come back with a fresh token, other scopes and other groups", async (t) => {
  const before = await token({ scope: "read", groups: ["staff"], jti: "t1" });
  const state = await scene.ask(undefined, { token: before });
  const after = await token({ scope: "read write", groups: ["staff", "admins"], jti: "t2" });
  await passes(t, scene, () => scene.retry(state, {}, { token: after }));
});
