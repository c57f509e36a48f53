import t from "tap";
import type { Config } from "../../../src/config/schema.ts";
import {
  resourceMetadata,
  resourceMetadataPath,
  resourceMetadataUrl,
  resourceUrl,
} from "../../../src/principal/resource-metadata.ts";

const ORIGIN = "https://gateway.example";
const SECTIONS = {
  server: { publicUrl: ORIGIN } as Config["server"],
  authentication: (...issuers: [issuer: string, scopes: string[], more?: object][]) =>
    ({
      mode: "required",
      issuers: issuers.map(([issuer, requiredScopes, more]) => ({ issuer, requiredScopes, ...more })),
    }) as unknown as Config["authentication"],
};
type Route = Parameters<typeof resourceMetadata>[1];
const document = (authentication: Config["authentication"], route: Partial<Route> = {}, server = {}) =>
  resourceMetadata({ authentication, server: { ...SECTIONS.server, ...server } }, { path: "/mcp", ...route });

t.test("the well-known path has the route's path inserted", async (t) => {
  const table: [path: string, wellKnown: string, resource: string][] = [
    ["/mcp", "/.well-known/oauth-protected-resource/mcp", "https://gateway.example/mcp"],
    ["/a/b", "/.well-known/oauth-protected-resource/a/b", "https://gateway.example/a/b"],
    ["/a/", "/.well-known/oauth-protected-resource/a/", "https://gateway.example/a/"],
    ["/", "/.well-known/oauth-protected-resource", "https://gateway.example"],
  ];
  for (const [path, wellKnown, resource] of table) {
    t.equal(resourceMetadataPath(path), wellKnown);
    t.equal(resourceMetadataUrl(ORIGIN, path), ORIGIN + wellKnown);
    t.equal(resourceUrl(ORIGIN, path), resource);
  }
});

t.test("the document names the resource and its authorization servers", async (t) => {
  t.same(document(SECTIONS.authentication(["https://idp-a.example/", []])), {
    resource: "https://gateway.example/mcp",
    authorization_servers: ["https://idp-a.example/"],
    bearer_methods_supported: ["header"],
  });
});

t.test("scopes to start with: those of the issuers, each once, or the route's own", async (t) => {
  const two = SECTIONS.authentication(["https://a.example", ["mcp", "a"]], ["https://b.example", ["mcp"]]);
  t.same(document(two)?.scopes_supported, ["mcp"], "what only one of two issuers knows the other may refuse");
  const alone = SECTIONS.authentication(["https://a.example", ["mcp", "a", "mcp"]]);
  t.same(document(alone)?.scopes_supported, ["mcp", "a"]);
  t.same(document(two)?.authorization_servers, ["https://a.example", "https://b.example"]);
  t.same(document(two, { metadata: { scopes: ["x"] } })?.scopes_supported, ["x"]);
  t.notOk(Object.hasOwn(document(two, { metadata: { scopes: [] } }) ?? {}, "scopes_supported"));
  const one = document(two, { metadata: { issuers: ["https://b.example"] } });
  t.same([one?.authorization_servers, one?.scopes_supported], [["https://b.example"], ["mcp"]]);
});

t.test("what a route says of itself", async (t) => {
  const metadata = {
    name: "Files",
    documentation: "https://docs.example/files",
    policy: "https://docs.example/privacy",
    terms: "https://docs.example/terms",
  };
  t.match(document(SECTIONS.authentication(["https://a.example", []]), { metadata }), {
    resource_name: "Files",
    resource_documentation: "https://docs.example/files",
    resource_policy_uri: "https://docs.example/privacy",
    resource_tos_uri: "https://docs.example/terms",
  });
});

t.test("bound tokens are told of where they can be shown to be bound", async (t) => {
  const plain = SECTIONS.authentication(["https://a.example", []]);
  const strict = SECTIONS.authentication(["https://a.example", [], { senderConstrained: "required" }]);
  const dpop = { dpop: { algorithms: ["ES256"] } } as object;
  const tls = { tls: { clientCa: { file: "ca.pem" } } };
  t.match(document({ ...plain, ...dpop }), {
    dpop_signing_alg_values_supported: ["ES256"],
    dpop_bound_access_tokens_required: undefined,
    tls_client_certificate_bound_access_tokens: undefined,
  });
  t.match(document({ ...strict, ...dpop }), { dpop_bound_access_tokens_required: true });
  t.match(document({ ...strict, ...dpop }, {}, tls), {
    dpop_bound_access_tokens_required: undefined,
    tls_client_certificate_bound_access_tokens: true,
  });
});

t.test("without tokens there is no document", async (t) => {
  t.equal(document(SECTIONS.authentication()), undefined);
  const a = SECTIONS.authentication(["https://a.example", []]);
  t.equal(document(a, { authentication: { accept: ["certificate"] } }), undefined);
  const b = {
    ...a,
    introspection: [{ issuer: "https://b.example", requiredScopes: [] }],
  } as unknown as typeof a;
  t.same(document(b)?.authorization_servers, ["https://a.example", "https://b.example"]);
  const opaque = { authentication: { accept: ["introspection" as const] } };
  t.same(document(b, opaque)?.authorization_servers, ["https://b.example"]);
});
