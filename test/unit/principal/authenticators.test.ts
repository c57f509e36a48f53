/** Which kind of credential is asked, and that its word is final. */
import t from "tap";
import type { Certificate } from "../../../src/certificates/certificate.ts";
import { compose } from "../../../src/principal/authenticators.ts";
import {
  type Confirmation,
  type CredentialAuthenticator,
  CredentialFault,
  IssuerUnavailable,
} from "../../../src/principal/credential.ts";
import type { CredentialKind, Presented, Principal } from "../../../src/principal/principal.ts";
import { RESOURCE, refusalOf } from "../../support/authentication.ts";
import { presented } from "../../support/presented.ts";

const principal: Principal = { anonymous: false, issuer: "i", subject: "s", groups: [], scopes: [] };

/** A kind that is claimed by a header of its name, or by what `claims` says. */
function kindOf(
  kind: CredentialKind,
  claims: (from: Presented) => boolean,
  more: { readonly confirmedBy?: readonly Confirmation[]; readonly fault?: Error } = {},
): CredentialAuthenticator & { asked: number } {
  const it = {
    kind,
    asked: 0,
    claims: ({ presented: from }: { readonly presented: Presented }) => claims(from),
    authenticate() {
      it.asked += 1;
      if (more.fault !== undefined) throw more.fault;
      const { confirmedBy } = more;
      return { principal: { ...principal, subject: kind }, kind, ...(confirmedBy && { confirmedBy }) };
    },
    available: () => true,
  };
  return it;
}

const byForm = () => "jwt" as const;
const bearer = (start: string) => (from: Presented) =>
  from.headers.get("authorization")?.startsWith(`Bearer ${start}`) === true;
const withCertificate = (from: Presented) => from.peer.certificate !== undefined;
const certificate = { address: "127.0.0.1", certificate: { thumbprint: "x" } as Certificate };

function scene(more: { readonly confirmedBy?: readonly Confirmation[]; readonly fault?: Error } = {}) {
  const kinds = {
    jwt: kindOf("jwt", bearer("j"), more),
    introspection: kindOf("introspection", bearer("o")),
    certificate: kindOf("certificate", withCertificate),
    forwarded: kindOf("forwarded", (from) => from.headers.has("x-forwarded-user")),
  };
  const composed = compose(Object.values(kinds), { anonymous: false, allScopes: [], kindOf: byForm });
  return { kinds, composed };
}

t.test("each request is judged by the kind that it carries, and by that alone", async (t) => {
  const { kinds, composed } = scene();
  const table: [from: Presented, kind: CredentialKind][] = [
    [presented({ authorization: "Bearer j" }), "jwt"],
    [presented({ authorization: "Bearer o" }), "introspection"],
    [presented({}, { peer: certificate }), "certificate"],
    [presented({ "x-forwarded-user": "u" }), "forwarded"],
  ];
  for (const [from, kind] of table) {
    const before = kinds[kind].asked;
    t.equal((await composed.authenticate(from, RESOURCE)).kind, kind);
    t.equal(kinds[kind].asked, before + 1);
  }
  t.same(
    Object.values(kinds).map(({ asked }) => asked),
    [1, 1, 1, 1],
  );
});

t.test("two kinds at once are refused, and neither is asked", async (t) => {
  const { kinds, composed } = scene();
  for (const from of [
    presented({ authorization: "Bearer j", "x-forwarded-user": "u" }),
    presented({ authorization: "Bearer o", "x-forwarded-user": "u" }, { peer: certificate }),
    presented({ "x-forwarded-user": "u" }, { peer: certificate }),
  ]) {
    const refusal = await refusalOf(composed.authenticate(from, RESOURCE));
    t.same([refusal.code, refusal.detail], ["unauthorized", "ambiguous"]);
  }
  t.same(
    Object.values(kinds).map(({ asked }) => asked),
    [0, 0, 0, 0],
  );
});

t.test(
  "a token beside a certificate counts if it is bound to a certificate, and else neither does",
  async (t) => {
    const from = presented({ authorization: "Bearer j" }, { peer: certificate });
    const bound = scene({ confirmedBy: ["certificate"] });
    t.equal((await bound.composed.authenticate(from, RESOURCE)).principal.subject, "jwt");
    t.equal(bound.kinds.certificate.asked, 0);
    const both = scene({ confirmedBy: ["certificate", "dpop"] });
    t.equal((await both.composed.authenticate(from, RESOURCE)).kind, "jwt");
    for (const more of [{}, { confirmedBy: ["dpop"] as const }]) {
      const plain = scene(more);
      t.equal((await refusalOf(plain.composed.authenticate(from, RESOURCE))).detail, "ambiguous");
      t.equal(plain.kinds.certificate.asked, 0);
    }
    const tokensOnly = { ...RESOURCE, accept: ["jwt"] as const };
    t.equal(
      (await scene().composed.authenticate(from, tokensOnly)).kind,
      "jwt",
      "where certificates are no kind",
    );
  },
);

t.test("what fails is the last word", async (t) => {
  const from = presented({ authorization: "Bearer j" }, { peer: certificate });
  const { kinds, composed } = scene({ fault: new CredentialFault("expired") });
  t.equal((await refusalOf(composed.authenticate(from, RESOURCE))).detail, "expired");
  t.same(
    Object.values(kinds).map(({ asked }) => asked),
    [1, 0, 0, 0],
  );
  const away = scene({ fault: new IssuerUnavailable("introspection_timeout") });
  const refusal = await refusalOf(away.composed.authenticate(from, RESOURCE));
  t.same([refusal.code, refusal.detail], ["issuer_unavailable", "introspection_timeout"]);
  const broken = scene({ fault: new TypeError("a bug") });
  await t.rejects(broken.composed.authenticate(from, RESOURCE), TypeError, "is not taken for a bad token");
});

t.test("a route takes the kinds that it accepts", async (t) => {
  const { kinds, composed } = scene();
  const only = (...accept: CredentialKind[]) => ({ ...RESOURCE, accept });
  const token = presented({ authorization: "Bearer j" });
  const refused = await refusalOf(composed.authenticate(token, only("introspection")));
  t.same([refused.code, refused.detail], ["unauthorized", "unknown_kind"]);
  const both = presented({ authorization: "Bearer j" }, { peer: certificate });
  t.equal((await refusalOf(composed.authenticate(both, only("certificate")))).detail, "unknown_kind");
  const certified = presented({}, { peer: certificate });
  t.equal((await refusalOf(composed.authenticate(certified, only("jwt")))).detail, "no_token");
  t.equal((await composed.authenticate(token, only("jwt", "certificate"))).kind, "jwt");
  const named = presented({ "x-forwarded-user": "u" }, { peer: certificate });
  t.equal((await composed.authenticate(named, only("certificate"))).kind, "certificate");
  t.equal(kinds.introspection.asked, 0);
});

t.test("an Authorization header is never overlooked for what comes beside it", async (t) => {
  const { kinds, composed } = scene();
  for (const [authorization, detail] of [
    ["Basic dTpw", "token_scheme"],
    ["", "token_scheme"],
    ["Bearer", "token_malformed"],
    ["Bearer a b", "token_malformed"],
    ["Bearer xyz", "unknown_kind"],
    ["DPoP j", "token_scheme"],
  ] as const) {
    const from = presented({ authorization }, { peer: certificate });
    t.equal((await refusalOf(composed.authenticate(from, RESOURCE))).detail, detail, authorization);
  }
  t.equal(kinds.certificate.asked, 0);
});

t.test("anonymous is who brings nothing, and nobody who brings something bad", async (t) => {
  const jwt = kindOf("jwt", bearer("j"), { fault: new CredentialFault("expired") });
  const open = compose([jwt], { anonymous: true, allScopes: [], kindOf: byForm });
  t.equal((await open.authenticate(presented(), RESOURCE)).principal.anonymous, true);
  t.equal((await open.authenticate(presented(), RESOURCE)).kind, undefined);
  for (const [authorization, detail] of [
    ["Bearer j", "expired"],
    ["Bearer x", "unknown_kind"],
    ["Basic x", "token_scheme"],
  ] as const) {
    t.equal((await refusalOf(open.authenticate(presented({ authorization }), RESOURCE))).detail, detail);
  }
});

t.test("challenges name the schemes that are taken", async (t) => {
  const jwt = kindOf("jwt", (from) => from.headers.has("authorization"), {
    fault: new CredentialFault("expired"),
  });
  const composed = compose([jwt], {
    anonymous: false,
    allScopes: ["mcp"],
    kindOf: byForm,
    proofAlgorithms: ["ES256", "EdDSA"],
  });
  const challengeOf = async (headers: Record<string, string>) =>
    (await refusalOf(composed.authenticate(presented(headers), RESOURCE))).headers["www-authenticate"];
  const metadata = `resource_metadata="${RESOURCE.metadataUrl}"`;
  t.equal(await challengeOf({}), `Bearer scope="mcp", ${metadata}, DPoP algs="ES256 EdDSA"`);
  t.match(await challengeOf({ authorization: "Bearer j" }), /^Bearer error="invalid_token", .*, DPoP algs="/);
  t.match(
    await challengeOf({ authorization: "dpop j" }),
    /^DPoP error="invalid_token", .*resource_metadata=".*", algs="ES256 EdDSA"$/,
  );
});
