/** A caller appears or vanishes between the rounds: where tokens are optional, nobody is another caller than somebody. */
import t from "tap";
import { type CallOptions, PUBLIC_URL } from "../support/gateway.ts";
import { passes, refusesState, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: { mode: "anonymous", issuers: [{ issuer, jwks: { url: jwksUrl } }] },
    routes: [{ path: "/mcp", upstream: { url } }],
  }),
});
const somebody: CallOptions = { token: await scene.issuer.token({ aud: `${PUBLIC_URL}/mcp` }) };
// The names that an absent caller could be mistaken for.
const named = (sub: string) => scene.issuer.token({ aud: `${PUBLIC_URL}/mcp`, sub });
const LOOKALIKES = await Promise.all(["anonymous", "null", "undefined", "true", "0"].map(named));

t.test("a token vanishes", async (t) => {
  const state = await scene.ask(undefined, somebody);
  await refusesState(t, scene, () => scene.retry(state), { cause: "principal" });
  await passes(t, scene, () => scene.retry(state, {}, somebody));
});

t.test("a token appears", async (t) => {
  const state = await scene.ask();
  for (const token of [somebody.token ?? "", ...LOOKALIKES]) {
    await refusesState(t, scene, () => scene.retry(state, {}, { token }), { cause: "principal" });
  }
  await passes(t, scene, () => scene.retry(state));
});

t.test("neither", async (t) => {
  for (const options of [{}, somebody]) {
    const state = await scene.ask(undefined, options);
    await passes(t, scene, () => scene.retry(state, {}, options));
  }
});
