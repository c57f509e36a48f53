/** docs/recipes/issuers.md: tokens in the shapes of Keycloak and of Entra ID, mapped as the page says. */
import t, { type Test } from "tap";
import type { Message, Reply } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { auditOf, blocks, client, fitted, LISTEN, startRecipe } from "../support/recipe.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const [keycloakPage = "", entraPage = ""] = blocks("issuers.md", "yaml");
const SECRETS = { "key-2026-11": "k".repeat(43) };
const NOW = Math.floor(Date.now() / 1000);
const TENANT = "8e1c0c5a-6d5b-4a52-9d0e-0d2f6a3c1b77";
const APPLICATION = "3f2a9b1e-77aa-4f0b-8a1d-5d6c2e4f9b10";

/** The claims of an access token of Keycloak, as a realm gives them to a user of a public client. */
const KEYCLOAK = {
  aud: ["https://mcp.example.com/mcp", "account"],
  sub: "b0a7d3c2-1111-4222-8333-944455566677",
  typ: "Bearer",
  azp: "desktop",
  sid: "0f0e0d0c",
  jti: "onrtac:7d1b",
  acr: "1",
  scope: "openid profile mcp",
  realm_access: { roles: ["default-roles-staff", "operator"] },
  resource_access: { account: { roles: ["view-profile"] } },
  preferred_username: "alice",
};

/** The claims of a version 2 access token of Entra ID for a user of an application. */
const ENTRA = {
  aud: APPLICATION,
  sub: "pairwise-AAAA",
  oid: "5d0f7c0a-0001-4000-8000-00000000000a",
  tid: TENANT,
  azp: "aa11bb22-0000-4000-8000-0000000000cc",
  azpacr: "0",
  scp: "mcp.use profile",
  roles: ["Operator"],
  ver: "2.0",
  uti: "x1",
  rh: "0.AX0A",
  nbf: NOW - 10,
};
const JWT = { header: { typ: "JWT" } };

/** Starts a page's configuration with an issuer at a path of that product. */
async function open(t: Test, block: string, written: string, path: string, alg: string) {
  const issuer = await startIssuer({ path, alg });
  // Both publish OpenID Connect's document only.
  issuer.behaviour.oauth = "missing";
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => issuer.close());
  t.teardown(() => upstream.close());
  const gateway = await startRecipe(
    t,
    fitted(block, { ...LISTEN, [written]: issuer.issuer, "http://127.0.0.1:3001/mcp": upstream.url }),
    SECRETS,
  );
  let id = 1;
  const call = async (claims: Record<string, unknown>, message: Message = TRANSFER): Promise<Reply> => {
    const send = client(gateway.url, await issuer.token(claims, JWT), { host: "mcp.example.com" });
    return send(message, textOf(String(id++), message));
  };
  return { issuer, gateway, upstream, call };
}
type Scene = Awaited<ReturnType<typeof open>>;

/** A round with a token of before and one of after its renewal; another may not take it. */
async function playsRounds(
  t: Test,
  { call }: Scene,
  claims: object,
  renewed: object,
  other: object,
): Promise<void> {
  const state = stateOf(await call({ ...claims }));
  t.match(await call({ ...claims, ...other }, retryOf(state)), { status: 400 }, "somebody else");
  t.match(await call({ ...claims, ...renewed }, retryOf(state)), {
    status: 200,
    json: { result: JSON.parse(DONE) },
  });
}

t.test("like Keycloak", async (t) => {
  const scene = await open(
    t,
    keycloakPage,
    "https://keycloak.example.com/realms/staff",
    "/realms/staff",
    "RS256",
  );
  const { call, gateway } = scene;
  await playsRounds(t, scene, KEYCLOAK, { jti: "onrtac:8e2c", sid: "1a1b" }, { sub: "c1b8" });
  await playsRounds(t, scene, KEYCLOAK, { jti: "onrtac:9f3d" }, { azp: "another-client" });
  t.match((await auditOf(gateway, 1))[0], {
    principal: {
      subject: KEYCLOAK.sub,
      client: "desktop",
      groups: ["default-roles-staff", "operator"],
      scopes: ["openid", "profile", "mcp"],
    },
  });
  t.match(await call({ ...KEYCLOAK, aud: "account" }), { status: 401 }, "no audience mapper");
  t.match(await call({ ...KEYCLOAK, scope: "openid profile" }), { status: 403 }, "no scope");
  t.match(
    await call({ ...KEYCLOAK, aud: "desktop", typ: "ID", realm_access: undefined }),
    { status: 401 },
    "an id token",
  );
  for (const realm_access of [undefined, { roles: ["default-roles-staff"] }]) {
    t.match(
      await call({ ...KEYCLOAK, realm_access }),
      { json: { error: { code: -32602 } } },
      "not an operator",
    );
  }
  t.match(await call({ ...KEYCLOAK, realm_access: "operator" }), { status: 401 }, "a shape nobody expects");
  const { cause } = await gateway.line(
    ({ outcome, cause }) => outcome === "refused" && cause !== "principal",
  );
  t.match(cause, /audience/);
});

t.test("like Entra ID", async (t) => {
  const scene = await open(
    t,
    entraPage,
    `https://login.microsoftonline.com/${TENANT}/v2.0`,
    `/${TENANT}/v2.0`,
    "RS256",
  );
  const { call, gateway } = scene;
  await playsRounds(
    t,
    scene,
    ENTRA,
    { uti: "x2", rh: "0.AX0B" },
    { oid: "5d0f7c0a-0001-4000-8000-00000000000b" },
  );
  await playsRounds(t, scene, ENTRA, { uti: "x3" }, { azp: "dd33" });
  t.match((await auditOf(gateway, 1))[0], {
    principal: {
      subject: ENTRA.oid,
      client: ENTRA.azp,
      tenant: TENANT,
      groups: ["Operator"],
      scopes: ["mcp.use", "profile"],
    },
  });
  const v1 = {
    ...ENTRA,
    ver: "1.0",
    azp: undefined,
    appid: ENTRA.azp,
    iss: `https://sts.windows.net/${TENANT}/`,
  };
  t.match(await call(v1), { status: 401 }, "version 1");
  t.match(
    await call({ ...ENTRA, aud: "00000003-0000-0000-c000-000000000000" }),
    { status: 401 },
    "for another application",
  );
  t.match(await call({ ...ENTRA, scp: undefined, sub: ENTRA.oid }), { status: 403 }, "a program's own token");
  t.match(
    await call({ ...ENTRA, roles: undefined }),
    { json: { error: { code: -32602 } } },
    "without the role",
  );
  const overage = {
    ...ENTRA,
    roles: undefined,
    _claim_names: { roles: "src1" },
    _claim_sources: { src1: {} },
  };
  t.match(await call(overage), { status: 401 }, "groups that stand elsewhere");
  t.match(await gateway.line(({ cause }) => String(cause).includes("groups_overage")), {
    outcome: "refused",
  });
});
