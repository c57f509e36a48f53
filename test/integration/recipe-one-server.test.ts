/** docs/recipes/one-server.md: client, gateway, server. */
import t from "tap";
import { exchange } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { fences, page } from "../support/markdown.ts";
import { blocks, client, fitted, LISTEN, startRecipe } from "../support/recipe.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, INNER, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";

const [block = ""] = blocks("one-server.md", "yaml");
const KEY = "k".repeat(43);

t.test("a round trip is sealed, bound and spent once", async (t) => {
  const issuer = await startIssuer();
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => issuer.close());
  t.teardown(() => upstream.close());
  const config = fitted(block, {
    ...LISTEN,
    "listen: 127.0.0.1:9090": "listen: 127.0.0.1:0",
    "https://login.example.com": issuer.issuer,
    "http://127.0.0.1:3001/mcp": upstream.url,
  });
  const gateway = await startRecipe(t, config, { "key-2026-11": KEY });
  const aud = "http://127.0.0.1:8080/mcp";
  const owner = client(gateway.url, await issuer.token({ aud }));
  const stranger = client(gateway.url, await issuer.token({ aud, sub: "u-2002" }));

  const state = stateOf(await owner(TRANSFER, textOf("1", TRANSFER)));
  t.match(state, /^sg1\./);
  const retry = retryOf(state);
  t.match(await stranger(retry, textOf("2", retry)), { status: 400 });
  t.match(await owner(retry, textOf("3", retry)), { status: 200, json: { result: JSON.parse(DONE) } });
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, INNER);
  t.match(await owner(retry, textOf("4", retry)), {
    json: { error: { data: { reason: "already_redeemed" } } },
  });
  t.equal(upstream.arrived.length, 2);
  t.match(await gateway.line(({ outcome }) => outcome === "refused"), { cause: "principal" });

  const without = await client(gateway.url, undefined)(TRANSFER, textOf("5", TRANSFER));
  t.equal(without.status, 401);
  const metadata = /resource_metadata="http:\/\/127\.0\.0\.1:8080([^"]+)"/.exec(
    String(without.headers["www-authenticate"]),
  )?.[1];
  const { json } = await exchange(gateway.url, { path: metadata ?? "", method: "GET" });
  t.match(json, { resource: aud, authorization_servers: [issuer.issuer] });
  t.equal((await exchange(gateway.adminUrl ?? "", { path: "/readyz", method: "GET" })).status, 200);
});

t.test("every configuration of the recipes is started by a test", async (t) => {
  const index = page("docs/recipes/README.md");
  const names = [...index.text.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name = ""]) => name);
  t.equal(names.length, 5);
  const counts = names.map((name) => [name, blocks(name, "yaml").length]);
  t.same(Object.fromEntries(counts), {
    "one-server.md": 1,
    "behind-a-gateway.md": 2,
    "before-a-gateway.md": 1,
    "behind-nginx.md": 2,
    "issuers.md": 2,
  });
  t.same(fences(index), []);
  t.throws(() => fitted("listen: 127.0.0.1:8081", LISTEN), /the page does not have/);
});
