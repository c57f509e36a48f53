/** Looking up a member: the right one whatever its spelling, at a cost that no spelling of the others can raise. */
import fc from "fast-check";
import t from "tap";
import { type JsonText, scan } from "../../../src/json/scan.ts";

const parse = (text: string): JsonText => scan(Buffer.from(text), { bytes: 1 << 24, depth: 8 });

/** Any of the ways in which JSON can spell one UTF-16 code unit. */
function spell(unit: string, way: number): string {
  const code = unit.charCodeAt(0);
  const hex = `\\u${code.toString(16).padStart(4, "0")}`;
  if (way === 0) return hex;
  if (way === 1) return hex.toUpperCase().replace("\\U", "\\u");
  return JSON.stringify(unit).slice(1, -1);
}

const keys = fc.uniqueArray(fc.string({ unit: "binary", maxLength: 6 }), { minLength: 1, maxLength: 24 });

t.test("every key is found under every spelling, and no other is", async () => {
  fc.assert(
    fc.property(keys, fc.string({ unit: "binary", maxLength: 6 }), fc.nat(), (keys, other, seed) => {
      // Surrogates in pairs: as two escapes, or as the character.
      const spelled = keys.map((key, i) =>
        Array.from(key, (character, j) => {
          const way = (seed + i + j) % 3;
          return way === 2 ? JSON.stringify(character).slice(1, -1) : character.split("").map((unit) => spell(unit, way)).join(""); // biome-ignore format: one expression
        }).join(""),
      );
      const doc = parse(`{${spelled.map((key, i) => `"${key}":${i}`).join(",")}}`);
      for (const [i, key] of keys.entries()) {
        const node = doc.get(doc.root, key);
        if (node === undefined || doc.raw(node) !== String(i)) return false;
      }
      return (doc.get(doc.root, other) !== undefined) === keys.includes(other);
    }),
    { numRuns: 2_000 },
  );
});

t.test("spellings that share a beginning, an end or a length with the key", async (t) => {
  const doc = parse(
    String.raw`{"requestStat\u0065x":1,"\u0072equestStat":2,"requestStat\u0045":3,"reque\u017ftState":4,"r\/equest":5,"é\u00e9":6,"😀":7,"\ud83d\ude01":8,"\u0000":9,"\\u0061":10}`,
  );
  const found = { requestStatex: 1, requestStat: 2, requestStatE: 3, "requeſtState": 4, "r/equest": 5, éé: 6, "😀": 7, "😁": 8, "\0": 9, "\\u0061": 10 }; // biome-ignore format: one list
  for (const [key, value] of Object.entries(found)) {
    const node = doc.get(doc.root, key);
    t.equal(node === undefined ? undefined : doc.value(node), value, JSON.stringify(key));
  }
  for (const key of ["requestState", "equestStat", "é", "ééé", "Ã©", "\ud83d", "\ude01", "a", "", "u0061", "ð\u009f\u0098\u0080"]) // biome-ignore format: one list
    t.equal(doc.get(doc.root, key), undefined, JSON.stringify(key));
});

t.test("a hundred look-ups among a hundred thousand escaped members", async (t) => {
  const members = Array.from({ length: 100_000 }, (_, i) => `"\\u0072${i.toString(36)}":0`).join(",");
  const doc = parse(`{${members}}`);
  const started = performance.now();
  for (let i = 0; i < 50; i++) {
    t.equal(doc.get(doc.root, "requestState"), undefined);
    t.equal(doc.get(doc.root, "ключ"), undefined);
  }
  // Decoding the keys each time takes several seconds, comparing bytes a tenth of one.
  t.ok(performance.now() - started < 4_000);
});

t.test("counts members and items, over nested ones", async (t) => {
  for (const [text, count] of [
    ["{}", 0],
    ["[]", 0],
    ["[[1,2],{},3]", 3],
    ['{"a":{"b":1,"c":[2,3]},"d":[4]}', 2],
    ['"ab"', 0],
    ["12", 0],
    ["null", 0],
  ] as const) {
    const doc = parse(text);
    t.equal(doc.count(doc.root), count, text);
  }
});
