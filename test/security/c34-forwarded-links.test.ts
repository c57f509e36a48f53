/**
 * C34: the address of a url question is mailed to somebody else. The gateway relays addresses and hosts no page, so it holds them to the
 * hosts of the route; that the page asks who is signed in is the server's duty (docs/threat-model.md).
 */
import t from "tap";
import { answers, DONE, passes, refusesState, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t, {
  users: true,
  sections: (url, issuer) => ({
    routes: [
      {
        path: "/mcp",
        upstream: { url },
        capability: { url: { hosts: ["connect.example", "*.idp.example:8443", "bücher.example", "localhost:*"], loopbackHttp: true } }, // biome-ignore format: one section
      },
      { path: "/any", upstream: { url } },
    ],
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, audiences: ["http://gateway.test/mcp"] }] }, // biome-ignore format: one section
  }),
});
const capabilities = { elicitation: { url: {} } };
const OWNER = { token: scene.owner, capabilities };

function asks(url: string): void {
  const inputRequests = {
    go: { method: "elicitation/create", params: { mode: "url", message: "Connect", url } },
  };
  scene.upstream.script = answers(JSON.stringify({ resultType: "input_required", requestState: "U1", inputRequests })); // biome-ignore format: one text
}
const go = (path = "/mcp") => scene.gateway.call(TRANSFER, { ...OWNER, path });

t.test("only hosts of the route, whatever stands behind them", async (t) => {
  const good = [
    "https://connect.example/connect/9f2c",
    "https://CONNECT.example/other",
    "https://connect.example:443/",
    "https://login.idp.example:8443/authorize?x=1",
    "https://bücher.example/",
    "https://xn--bcher-kva.example/",
    "http://localhost:3000/callback",
  ];
  for (const url of good) {
    asks(url);
    const reply = await go();
    t.equal(reply.status, 200, url);
    t.equal(reply.json.result.inputRequests.go.params.url, url, "as it was sent");
  }
  const bad = [
    "https://evil.example/",
    "https://evil.example/?connect.example",
    "https://connect.example.evil.example/",
    "https://evilconnect.example/",
    "https://connect.example:8443/",
    "https://idp.example:8443/",
    "https://evil.example#.idp.example:8443",
    "http://127.0.0.1:3000/",
  ];
  for (const url of bad) {
    for (const query of ["", "?return=https://connect.example/", "#connect.example"]) {
      asks(url + query);
      const reply = await go();
      t.equal(reply.status, 403, url + query);
      t.match(reply.json.error.data, { reason: "question_forbidden", rule: "elicitation/url-host" });
      t.notMatch(reply.body, /evil|sg1\.|U1/);
      t.match(scene.gateway.audit.at(-1)?.rules, [{ id: "elicitation/url-host", mode: "enforce" }]);
    }
  }
  for (const url of ["http://connect.example/", "https://user@connect.example/"]) {
    asks(url);
    t.equal((await go()).status, 403, url);
  }
  for (const url of [
    "https://connect.example@evil.example/",
    "https://connect.example\\@evil.example/",
    "https://connect.example./",
    "javascript:location='https://connect.example'",
  ]) {
    // biome-ignore format: one list
    asks(url);
    const reply = await go();
    t.equal(reply.json.error.code, -32603, url);
    t.notMatch(reply.body, /evil|sg1\./);
  }
});

t.test(
  "without a list any https host may be asked for, and http on no machine that is not the gateway's",
  async (t) => {
    asks("https://anywhere.example/");
    t.equal((await go("/any")).status, 200);
    for (const url of ["http://localhost:3000/", "http://anywhere.example/"]) {
      asks(url);
      t.match((await go("/any")).json.error.data, { rule: "elicitation/url-insecure" }, url);
    }
  },
);

t.test("who finished the page does not get the call of the one who was asked", async (t) => {
  asks("https://connect.example/connect/9f2c");
  const state = (await go()).json.result.requestState;
  const inputResponses = { go: { action: "accept" } };
  scene.upstream.script = answers(DONE);
  await refusesState(
    t,
    scene,
    () => scene.retry(state, { inputResponses }, { token: scene.stranger, capabilities }),
    { cause: "principal" },
  );
  await passes(t, scene, () => scene.retry(state, { inputResponses }, OWNER));
});

t.test("credentials that come back in the result are seen", async (t) => {
  asks("https://connect.example/connect/9f2c");
  for (const [text, found] of [
    ['{"access_token":"abcdef123"}', true],
    ["token ghp_0123456789abcdefghijABCDEFGHIJ012345", true],
    ["connected as Zoë", false],
  ] as const) {
    asks("https://connect.example/connect/9f2c");
    const state = (await go()).json.result.requestState;
    scene.upstream.script = answers(
      JSON.stringify({ resultType: "complete", content: [{ type: "text", text }] }),
    );
    await passes(t, scene, () => scene.retry(state, { inputResponses: { go: { action: "accept" } } }, OWNER));
    const noted = scene.gateway.audit.at(-1)?.rules?.map(({ id }) => id) ?? [];
    t.equal(noted.includes("elicitation/credentials-in-result"), found, text);
    t.notMatch(JSON.stringify(scene.gateway.audit.at(-1)), /ghp_|abcdef/);
  }
});
