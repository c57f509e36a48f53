/** C08: other spellings of one token, and texts that are no token at all. */
import t from "tap";
import { type Message, startGateway } from "../support/gateway.ts";
import { META, passes, refusesState, setScene, TRANSFER, YES } from "./scene.ts";

const scene = await setScene(t);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// A state whose text ends in a character with unused low bits: the length of the name moves the length of the text.
const [message, state] = await looseEnd();

async function looseEnd(): Promise<[Message, string]> {
  for (const name of ["a", "ab", "abc"]) {
    const message = { method: "tools/call", params: { name } };
    const state = await scene.ask(message);
    if ((state.length - "sg1.".length) % 4 !== 0) return [message, state];
  }
  throw new Error("no such state");
}

const body = state.slice("sg1.".length);
const next = (character: string, by: number): string =>
  ALPHABET[(ALPHABET.indexOf(character) + by) % 64] ?? "A";
const middle = (text: string): string => `${state.slice(0, 40)}${text}${state.slice(40)}`;

const VARIANTS: readonly (readonly [string, string, string])[] = [
  ["last character raised by one", `${state.slice(0, -1)}${next(state.slice(-1), 1)}`, "encoding"],
  ["last character raised by three", `${state.slice(0, -1)}${next(state.slice(-1), 3)}`, "encoding"],
  ["padded", `${state}=`, "encoding"],
  ["padded twice", `${state}==`, "encoding"],
  ["the standard alphabet", `sg1.${body.replaceAll("-", "+").replaceAll("_", "/")}+/`, "encoding"],
  ["a space inside", middle(" "), "encoding"],
  ["a line end inside", middle("\n"), "encoding"],
  ["a CRLF inside", middle("\r\n"), "encoding"],
  ["a tab at the end", `${state}\t`, "encoding"],
  ["a space before", ` ${state}`, "prefix"],
  ["a NUL at the end", `${state}\0`, "encoding"],
  ["a NUL and more", `${state}\0${state}`, "encoding"],
  ["a byte order mark before", `\ufeff${state}`, "prefix"],
  ["a zero width space inside", middle("\u200b"), "encoding"],
  ["a look-alike letter inside", middle("\u0430"), "encoding"],
  ["full width digits", state.replace("sg1.", "sg\uff11."), "prefix"],
  ["the prefix in upper case", state.replace("sg1.", "SG1."), "prefix"],
  ["the prefix of a later version", state.replace("sg1.", "sg2."), "prefix"],
  ["the prefix twice", `sg1.${state}`, "encoding"],
  ["no prefix", body, "prefix"],
  ["the prefix alone", "sg1.", "encoding"],
  ["percent-encoded", state.replace("sg1.", "sg1%2E"), "prefix"],
  ["a dot inside", middle("."), "encoding"],
  ["twice", `${state}${state}`, "encoding"],
  ["twice, with a comma", `${state},${state}`, "encoding"],
  ["the upstream's own state", "U1==", "prefix"],
  ["empty", "", "prefix"],
  ["a JSON text", JSON.stringify({ state: "U1==" }), "prefix"],
  ["a signed token of another kind", "eyJhbGciOiJub25lIn0.eyJzdGF0ZSI6IlUxIn0.", "prefix"],
  ["a key of a plain object", "__proto__", "prefix"],
  ["as long as a token may be", `sg1.${"A".repeat(500_000)}`, "unknown_key"],
  ["longer than a token may be", `sg1.${"A".repeat(2_000_000)}`, "size"],
];

t.test("every variant is refused alike and spends nothing", async (t) => {
  for (const [name, variant, cause] of VARIANTS) {
    t.comment(name);
    await refusesState(t, scene, () => scene.retry(variant, message), { cause });
  }
  const arrived = await passes(t, scene, () => scene.retry(state, message));
  t.equal(arrived.json.params.requestState, "U1==");
});

t.test("every single changed character of a token", async (t) => {
  const token = await scene.ask();
  for (let at = 4; at < token.length; at += 7) {
    const changed = `${token.slice(0, at)}${next(token[at] ?? "A", 32)}${token.slice(at + 1)}`;
    await refusesState(t, scene, () => scene.retry(changed));
  }
  await passes(t, scene, () => scene.retry(token));
});

t.test("JSON escapes are no other spelling: they are gone before the token is read", async (t) => {
  const token = await scene.ask();
  const escaped = [...token].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const { name, arguments: args } = TRANSFER.params as { name: string; arguments: object };
  const text = (state: string): string =>
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"_meta":${META},"name":"${name}","arguments":${JSON.stringify(args)},"request\\u0053tate":"${state}","inputResponses":${JSON.stringify(YES)}}}`;
  // Escaped once more it is a text of backslashes.
  const twice = escaped.replaceAll("\\", "\\\\");
  await refusesState(t, scene, () => scene.raw(text(twice)), { id: "9", cause: "prefix" });
  const arrived = await passes(t, scene, () => scene.raw(text(escaped)));
  t.notMatch(arrived.body, token.slice(4));
});

t.test("tokens of other gateways", async (t) => {
  process.env["SG_KEY_A"] = "a secret of this gateway, long enough for a key";
  process.env["SG_KEY_B"] = "a secret of another gateway, also long enough";
  const keys = (id: string) => ({ primary: "k", ring: [{ id: "k", secret: { env: `SG_KEY_${id}` } }] });
  const here = await setScene(t, { sections: () => ({ keys: keys("A") }) });
  const others: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["another key", { keys: keys("B") }, "unknown_key"],
    ["another audience", { keys: keys("A"), envelope: { audience: "https://elsewhere.example" } }, "aead"],
  ];
  for (const [name, sections, cause] of others) {
    const gateway = await startGateway(here.upstreamUrl, sections);
    t.teardown(() => gateway.close(0));
    const { requestState } = (await gateway.call(TRANSFER)).json.result;
    t.comment(name);
    await refusesState(t, here, () => here.retry(requestState), { cause });
  }
  const own = await here.ask();
  await passes(t, here, () => here.retry(own));
});

t.test("expired, and sealed by a clock far ahead", async (t) => {
  const token = await scene.ask();
  const { clock } = scene.gateway;
  const start = clock.now;
  clock.now = start + 600_000;
  await refusesState(t, scene, () => scene.retry(token), { cause: "expired" });
  clock.now = start - 120_000;
  await refusesState(t, scene, () => scene.retry(token), { cause: "not_yet" });
  clock.now = start + 590_000;
  await passes(t, scene, () => scene.retry(token));
});
