/** A state that was sealed for another revision, audience, route or upstream is nothing here, even under the same key. */
import t from "tap";
import type { Claims } from "../../src/envelope/format.ts";
import { open } from "../../src/envelope/open.ts";
import { seal } from "../../src/envelope/seal.ts";
import { decodeSecret } from "../../src/key-secret.ts";
import { loadKeyring } from "../../src/keyring.ts";
import { PUBLIC_URL } from "../support/gateway.ts";
import { passes, refusesState, setScene } from "./scene.ts";

const SECRET = "an operator's secret of more than 32 bytes";
process.env["SG_TEST_KEY"] = SECRET;
const scene = await setScene(t, {
  sections: () => ({ keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_TEST_KEY" } }] } }),
});
const ring = loadKeyring([{ id: "k", secret: decodeSecret(Buffer.from(SECRET)) }], "k");
const CAP = 1 << 20;

/** An honest state with some claims changed, sealed by somebody who has the key. */
async function changed(change: Partial<Claims>, audience = PUBLIC_URL): Promise<string> {
  const claims = open(ring, PUBLIC_URL, await scene.ask(), CAP);
  return seal(ring, audience, { ...claims, ...change });
}

const ELSEWHERE: readonly (readonly [string, Partial<Claims>, string])[] = [
  ["a later revision", { version: "2027-01-15" }, "version"],
  ["an earlier revision", { version: "2025-11-25" }, "version"],
  ["another route", { route: "/other" }, "route"],
  ["another server on the same route", { upstream: "http://127.0.0.1:1/mcp" }, "upstream"],
  [
    "the same server under another spelling",
    { upstream: scene.upstreamUrl.replace("127.0.0.1", "localhost") },
    "upstream",
  ],
  ["another method", { method: "prompts/get" }, "method"],
  ["another target", { target: "transfer2" }, "target"],
];

for (const [name, change, cause] of ELSEWHERE) {
  t.test(name, async (t) => {
    const state = await changed(change);
    await refusesState(t, scene, () => scene.retry(state), { cause });
  });
}

t.test("another audience", async (t) => {
  for (const audience of [`${PUBLIC_URL}/`, `${PUBLIC_URL}:80`, "https://gateway.test"]) {
    const state = await changed({}, audience);
    await refusesState(t, scene, () => scene.retry(state), { cause: "aead" });
  }
});

t.test("nothing changed: sealed again by hand it is good", async (t) => {
  const state = await changed({});
  await passes(t, scene, () => scene.retry(state));
});
