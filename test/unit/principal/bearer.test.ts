import t from "tap";
import {
  MAX_AUTHORIZATION_BYTES,
  parseAuthorization,
  refuseInvalid,
  refuseMissing,
  refuseScope,
} from "../../../src/principal/bearer.ts";

t.test("the header is one bearer token or it is none", async (t) => {
  const token = (text: string) => ({ kind: "token", scheme: "bearer", token: text });
  const fault = (word: string) => ({ kind: "fault", fault: word });
  const table: [header: string | undefined, expected: object][] = [
    [undefined, { kind: "none" }],
    ["Bearer a.b.c", token("a.b.c")],
    ["bearer a.b.c", token("a.b.c")],
    ["BEARER  a-._~+/0==", token("a-._~+/0==")],
    ["", fault("scheme")],
    ["Basic dTpw", fault("scheme")],
    ["DPoP a.b.c", fault("scheme")],
    ["Bearerx a.b.c", fault("scheme")],
    ["Bearer:a.b.c", fault("scheme")],
    [" Bearer a.b.c", fault("scheme")],
    ["a.b.c", fault("scheme")],
    ["Bearer", fault("malformed")],
    ["Bearer ", fault("malformed")],
    ["Bearer\ta.b.c", fault("scheme")],
    ["Bearer a b", fault("malformed")],
    ["Bearer a.b.c ", fault("malformed")],
    ["Bearer a.b.c\n", fault("malformed")],
    ["Bearer a.b.c, Bearer d.e.f", fault("malformed")],
    ['Bearer "a.b.c"', fault("malformed")],
    ["Bearer =", fault("malformed")],
    ["Bearer a=b", fault("malformed")],
    ["Bearer ä.b.c", fault("malformed")],
    [`Bearer ${"a".repeat(MAX_AUTHORIZATION_BYTES - 7)}`, token("a".repeat(MAX_AUTHORIZATION_BYTES - 7))],
    [`Bearer ${"a".repeat(MAX_AUTHORIZATION_BYTES - 6)}`, fault("too_large")],
  ];
  for (const [header, expected] of table) {
    t.same(parseAuthorization(header), expected, JSON.stringify(header?.slice(0, 40)));
  }
});

const metadataUrl = "https://gateway.example/.well-known/oauth-protected-resource/mcp";

t.test("challenges", async (t) => {
  const none = refuseMissing("no_token", { metadataUrl, scopes: [] });
  t.equal(none.code, "unauthorized");
  t.equal(none.entry.status, 401);
  t.equal(none.headers["www-authenticate"], `Bearer resource_metadata="${metadataUrl}"`);

  const scoped = refuseMissing("no_token", { metadataUrl, scopes: ["mcp", "notes:read"] });
  t.equal(
    scoped.headers["www-authenticate"],
    `Bearer scope="mcp notes:read", resource_metadata="${metadataUrl}"`,
  );

  const invalid = refuseInvalid("expired", { metadataUrl, scopes: [] });
  t.equal(invalid.detail, "expired");
  t.equal(
    invalid.headers["www-authenticate"],
    `Bearer error="invalid_token", error_description="The access token is not valid for this resource", resource_metadata="${metadataUrl}"`,
  );

  const scope = refuseScope({ metadataUrl, scopes: ["a", "b"] }, { issuer: "https://a.example" });
  t.equal(scope.entry.status, 403);
  t.match(scope.headers["www-authenticate"], /^Bearer error="insufficient_scope", .*scope="a b", /);
});

t.test("no value can break out of its quotes", async (t) => {
  const odd = refuseMissing("no_token", { metadataUrl: 'https://x/"\\\r\nSet-Cookie: a=é', scopes: [] });
  t.equal(odd.headers["www-authenticate"], 'Bearer resource_metadata="https://x/\\"\\\\Set-Cookie: a="');
});
