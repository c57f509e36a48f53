/** Forms of a state that a server has not written: each is another text, and a spelling holds the same bytes. */
import t from "tap";
import { otherTypes, spellings, swapped, tamperings } from "../../../src/review/checks/state-forms.ts";
import { readableIn } from "../../../src/review/checks/state-readable.ts";

const STATES = [
  `v1.${Buffer.alloc(31, 0xfb).toString("base64url")}`,
  Buffer.alloc(32, 0xfb).toString("base64"),
  "v1.eyJhIjoxfQ.c2lnbmF0dXJlLW9mLWl0",
  "8f14e45f-ceea-467f-a8d2-3f0c7a2b9d11",
  '{"step":1}',
  "s",
  "",
  `${"=".repeat(200_000)}x`,
  `${".".repeat(200_000)}x`,
];

for (const state of STATES)
  t.test(
    `no form of ${JSON.stringify(state.slice(0, 40))} is the state itself, and none stands twice`,
    async (t) => {
      for (const forms of [tamperings(state), spellings(state), swapped(state, `${state}b`)]) {
        const texts = forms.map((form) => form.state);
        t.equal(texts.includes(state), false);
        t.equal(new Set(texts).size, texts.length);
      }
      for (const form of otherTypes(state)) t.not(typeof form.state, "string");
    },
  );

t.test("a change of one character changes bytes and not unused bits alone", async (t) => {
  for (const length of [30, 31, 32]) {
    const body = Buffer.alloc(length, 0xfb).toString("base64url");
    const changed = tamperings(body).filter(({ name }) => name.includes("changed"));
    t.equal(changed.length, 3);
    for (const { state } of changed)
      t.strictNotSame(Buffer.from(String(state), "base64url"), Buffer.from(body, "base64url"));
  }
});

t.test("spellings of base64 are read as the same bytes, with unused bits where there are some", async (t) => {
  for (const [length, bits] of [
    [30, 0],
    [31, 1],
    [32, 1],
  ] as const) {
    const body = Buffer.alloc(length, 0xfb).toString("base64url");
    const forms = spellings(`v1.${body}`);
    t.equal(forms.filter(({ name }) => name.includes("unused bits")).length, bits);
    for (const { name, state } of forms.filter((form) => !form.name.includes("case"))) {
      const read = String(state).trim().replace(/^v1\./, "");
      t.strictSame(Buffer.from(read, "base64"), Buffer.from(body, "base64url"), name);
    }
  }
});

t.test("pieces of two states are taken from both", async (t) => {
  t.strictSame(
    swapped("v1.aaaa.bbbb", "v1.cccc.dddd").map(({ state }) => state),
    ["v1.cccc.bbbb", "v1.aaaa.dddd", "v1.aaac.dddd"],
  );
  t.strictSame(swapped("same", "same"), []);
});

t.test("what a client can read in a state is said by kind and never by value", async (t) => {
  const args = { to: "zoe@bank.example", amount: 10 };
  const json = JSON.stringify(args);
  for (const state of [
    json,
    Buffer.from(json).toString("base64url"),
    `v1.${Buffer.from(json).toString("base64")}.c2ln`,
  ]) {
    const kinds = readableIn(state, args);
    t.equal(
      kinds.some((kind) => kind.startsWith("JSON")),
      true,
    );
    t.ok(kinds.includes("arguments of the call"));
    t.ok(kinds.includes("personal data: email"));
    t.notMatch(kinds.join(), /zoe|bank/);
  }
  t.strictSame(readableIn("flow=7", {}), ["text"]);
  t.strictSame(readableIn("come back", {}), ["text"]);
  t.strictSame(readableIn("7", {}), ["so few characters that it can be guessed"]);
});

t.test("a state that is sealed, or a random name, shows nothing", async (t) => {
  for (let seed = 1; seed < 64; seed += 1) {
    const bytes = Buffer.from(
      Array.from({ length: 48 + seed }, (_, i) => (i * 151 + seed * 89 + i * i * 7) % 256),
    );
    for (const state of [
      `v1.${bytes.toString("base64url")}`,
      bytes.toString("base64"),
      bytes.toString("hex"),
    ])
      t.strictSame(readableIn(state, { amount: 10, to: "Zoë" }), [], state);
  }
  t.strictSame(readableIn("8f14e45f-ceea-467f-a8d2-3f0c7a2b9d11", {}), []);
});

t.test("states that a hostile server writes are looked into in linear time", async (t) => {
  for (const sign of ["=", ".", "a=", "A", "{", '"', "\\", " "]) {
    const kinds = readableIn(`${sign.repeat(200_000)}!`, { to: "zoe@bank.example" });
    t.notMatch(kinds.join(), /arguments/);
  }
});
