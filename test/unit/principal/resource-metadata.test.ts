import t from "tap";
import type { Config } from "../../../src/config/schema.ts";
import {
  resourceMetadata,
  resourceMetadataPath,
  resourceMetadataUrl,
  resourceUrl,
} from "../../../src/principal/resource-metadata.ts";

const ORIGIN = "https://gateway.example";

function authentication(...issuers: [issuer: string, scopes: string[]][]): Config["authentication"] {
  const claims = { subject: "sub", client: [], scope: [] };
  return {
    mode: "required",
    issuers: issuers.map(([issuer, requiredScopes]) => {
      return { issuer, algorithms: ["ES256"], clockTolerance: 0, claims, requiredScopes };
    }),
  };
}

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
  const one = authentication(["https://idp-a.example/", []]);
  t.same(resourceMetadata(ORIGIN, "/mcp", one), {
    resource: "https://gateway.example/mcp",
    authorization_servers: ["https://idp-a.example/"],
    bearer_methods_supported: ["header"],
  });
});

t.test("scopes are published when they are known, each once", async (t) => {
  const two = authentication(["https://idp-a.example", ["mcp", "a"]], ["https://idp-b.example", ["mcp"]]);
  const document = resourceMetadata(ORIGIN, "/mcp", two);
  t.same(document?.scopes_supported, ["mcp", "a"]);
  t.same(document?.authorization_servers, ["https://idp-a.example", "https://idp-b.example"]);
});

t.test("without issuers there is no document", async (t) => {
  t.equal(resourceMetadata(ORIGIN, "/mcp", { mode: "anonymous", issuers: [] }), undefined);
});
