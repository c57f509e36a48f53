import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { type Claims, EnvelopeError } from "../../src/envelope/format.ts";
import { open } from "../../src/envelope/open.ts";
import { seal } from "../../src/envelope/seal.ts";
import { loadKeyring } from "../../src/keyring.ts";
import { type Vector, vectors } from "./generate.ts";
import { read } from "./reader.ts";

const folder = new URL("./envelope/", import.meta.url);
const stored = new Map<string, Vector>();
for (const file of readdirSync(folder)) {
  stored.set(file, JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Vector);
}

t.test("the stored vectors are what the generator gives", (t) => {
  const expected = vectors();
  t.same([...stored.keys()].sort(), expected.map((vector) => `${vector.name}.json`).sort());
  // Through JSON, for a claim set of the generator may hold what JSON prints differently.
  for (const vector of expected)
    t.same(stored.get(`${vector.name}.json`), JSON.parse(JSON.stringify(vector)));
  t.ok(expected.length >= 40);
  const outcomes = new Set(expected.map(({ outcome }) => outcome));
  t.same([...outcomes].sort(), ["aead", "claims", "encoding", "opens", "prefix", "size", "unknown_key"]);
  t.end();
});

t.test("the worked example of docs/envelope.md is the vector no-state", (t) => {
  const page = readFileSync(new URL("../../docs/envelope.md", import.meta.url), "utf8");
  const lines = new Set(
    page.split("\n").map((line) =>
      line
        .trim()
        .split(/\s{2,}/)
        .at(-1),
    ),
  );
  const vector = stored.get("no-state.json");
  const { payload = "", body: _, ...steps } = vector?.steps ?? {};
  const values = [vector?.token, vector?.audience, vector?.keys[0]?.secret, ...Object.values(steps)];
  for (const value of [...values, Buffer.from(payload, "hex").toString()]) t.ok(lines.has(value), `${value}`);
  t.end();
});

for (const [file, vector] of stored) {
  t.test(file, (t) => {
    const sources = vector.keys.map(({ id, secret }) => ({ id, secret: Buffer.from(secret, "hex") }));
    const ring = (primary: string) => loadKeyring(sources, primary);
    const outcome = tryOpen(() =>
      open(ring(sources[0]?.id ?? ""), vector.audience, vector.token, vector.maxTokenBytes),
    );
    t.equal(outcome.name, vector.outcome);
    // The reader that was written from the page alone agrees, on claims as on failures.
    const again = read(vector.token, vector);
    t.same(again, vector.outcome === "opens" ? { claims: vector.claims } : { failure: vector.outcome });
    if (vector.claims !== undefined) t.same(outcome.claims, vector.claims);
    if (vector.sealedWith !== undefined) {
      const { id, nonce } = vector.sealedWith;
      const sealed = seal(ring(id), vector.audience, vector.claims as unknown as Claims, () =>
        Buffer.from(nonce, "hex"),
      );
      t.equal(sealed, vector.token, "sealing again gives the same text");
    }
    t.end();
  });
}

function tryOpen(run: () => Claims): { name: string; claims?: Claims } {
  try {
    return { name: "opens", claims: run() };
  } catch (error) {
    if (error instanceof EnvelopeError) return { name: error.fault };
    throw error;
  }
}
