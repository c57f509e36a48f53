import t from "tap";
import { ephemeralKeyring, loadKeyring } from "../../../src/keyring.ts";
import { isNonce, makeNonce } from "../../../src/principal/proof-nonce.ts";

const NOW = 1_800_000_000_000;
const secret = (fill: string) => Buffer.from(fill.repeat(43));
const both = [
  { id: "a", secret: secret("a") },
  { id: "b", secret: secret("b") },
];
const audience = "https://gateway.example";
const of = (primary: string, ring = both) => ({ keys: { ring: loadKeyring(ring, primary) }, audience });

t.test("a nonce is good on each replica for a while", async (t) => {
  const nonce = makeNonce(of("a"), NOW);
  t.match(nonce, /^[A-Za-z0-9_-]{35}$/);
  t.ok(isNonce(of("a"), nonce, NOW));
  t.ok(isNonce(of("b"), nonce, NOW), "while keys rotate");
  t.ok(isNonce(of("a"), nonce, NOW + 300_000));
  t.notOk(isNonce(of("a"), nonce, NOW + 301_000));
  t.ok(isNonce(of("a"), nonce, NOW - 60_000), "made by a clock that is ahead");
  t.notOk(isNonce(of("a"), nonce, NOW - 61_000));
});

t.test("nobody else makes one", async (t) => {
  const nonce = makeNonce(of("a"), NOW);
  t.notOk(isNonce(of("b", [{ id: "b", secret: secret("b") }]), nonce, NOW), "a key that is gone");
  t.notOk(isNonce({ ...of("a"), audience: "https://other.example" }, nonce, NOW));
  t.notOk(isNonce({ keys: { ring: ephemeralKeyring() }, audience }, nonce, NOW));
  for (let at = 0; at < nonce.length; at++) {
    const changed = `${nonce.slice(0, at)}${nonce[at] === "A" ? "B" : "A"}${nonce.slice(at + 1)}`;
    t.notOk(isNonce(of("a"), changed, NOW), changed);
  }
  for (const text of ["", "x", `${nonce}A`, `${nonce}=`, ` ${nonce}`, "A".repeat(35), "é".repeat(35)]) {
    t.notOk(isNonce(of("a"), text, NOW), text);
  }
});
