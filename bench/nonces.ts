/**
 * Nonces of ten million seals, all different: `node bench/nonces.ts [SEALS]`. What is compared are the first 8 bytes of each
 * nonce, which differ more rarely than the 24: if no two of these are equal, no two nonces are. Among so many random 64-bit
 * values two are equal once in 370 000 runs, so one pair would already point to a fault.
 */
import { seal } from "../src/envelope/seal.ts";
import { ephemeralKeyring } from "../src/keyring.ts";
import { claimsWith } from "./envelope.ts";

const SEALS = Number(process.argv[2] ?? 10_000_000);
const KEY_ID_BYTES = 4;
const COMPARED_BYTES = 8;
/** Characters of base64url that hold key id and compared bytes. */
const CHARACTERS = (KEY_ID_BYTES + COMPARED_BYTES) * (4 / 3);

const ring = ephemeralKeyring();
const claims = claimsWith("x");
const seen = new BigUint64Array(SEALS);
const started = performance.now();
for (let i = 0; i < SEALS; i++) {
  const token = seal(ring, "https://gateway.example", claims);
  const head = Buffer.from(token.slice(4, 4 + CHARACTERS), "base64url");
  seen[i] = head.readBigUInt64BE(KEY_ID_BYTES);
}
const seconds = (performance.now() - started) / 1000;
seen.sort();
let equal = 0;
for (let i = 1; i < SEALS; i++) if (seen[i] === seen[i - 1]) equal += 1;
// A stuck or short source would leave the bits uneven.
let ones = 0;
for (let half of new Uint32Array(seen.buffer)) for (; half !== 0; half &= half - 1) ones += 1;
console.log(
  `${SEALS} seals in ${seconds.toFixed(0)} s: ${equal} nonces equal in their first ${COMPARED_BYTES} bytes`,
);
console.log(`share of ones among their bits: ${(ones / (SEALS * 64)).toFixed(5)}`);
process.exitCode = equal === 0 ? 0 : 1;
