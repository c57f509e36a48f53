/** Keys of questions, sealed so that the same question has the same key wherever and whenever it is asked. */
import { createHmac, hkdfSync } from "node:crypto";
import t from "tap";
import { type Asked, EnvelopeError } from "../../../src/envelope/format.ts";
import { loadKeyring } from "../../../src/keyring.ts";
import { openQuestionKey, sealQuestionKey, taskDigest } from "../../../src/tasks/question-key.ts";
import type { OpenedTask } from "../../../src/tasks/task-id.ts";

const A = { id: "a", secret: Buffer.alloc(32, 1) };
const B = { id: "b", secret: Buffer.alloc(32, 2) };
const ring = loadKeyring([A, B], "a");
const sealing = { keys: { ring }, audience: "https://g.example" };
const CAP = 100_000;
const task = (change: Partial<OpenedTask["claims"]> = {}): OpenedTask => ({
  id: "sgt1.x",
  keyId: ring.primary.keyId,
  claims: {
    task: "t-1",
    tool: "report",
    principal: "p",
    route: "r",
    upstream: "u",
    chain: "c",
    chainIat: 1,
    iat: 1,
    ...change,
  },
});
const FORM: Asked = { key: 'who"\u00e9', kind: "form", schema: '{"type":"object","properties":{}}' };

t.test("what was asked comes back, for every kind", async (t) => {
  for (const asked of [
    FORM,
    ...(["url", "sampling", "roots"] as const).map((kind) => ({ key: "k", kind })),
  ]) {
    const key = sealQuestionKey(sealing, task(), asked) ?? "";
    t.match(key, /^sgq1\.[\w-]+$/);
    t.same(openQuestionKey(sealing, key, CAP), { task: taskDigest(task().claims), asked });
  }
});

t.test("the same question, the same key: through rotations, retries of the call, and time", async (t) => {
  const key = sealQuestionKey(sealing, task(), FORM);
  t.equal(sealQuestionKey({ ...sealing, keys: { ring: loadKeyring([A], "a") } }, task(), FORM), key);
  t.equal(sealQuestionKey({ ...sealing, keys: { ring: loadKeyring([A, B], "b") } }, task(), FORM), key);
  t.equal(sealQuestionKey(sealing, task({ chain: "d", chainIat: 2, iat: 2 }), FORM), key);
  t.equal(sealQuestionKey({ ...sealing, keys: { ring: loadKeyring([B], "b") } }, task(), FORM), undefined);
});

t.test("another question, task, owner, place or tool: another nonce and another key", async (t) => {
  const nonceOf = (key: string | undefined): string =>
    Buffer.from((key ?? "").slice(5), "base64url")
      .subarray(4, 28)
      .toString("hex");
  const keys = [
    sealQuestionKey(sealing, task(), FORM),
    sealQuestionKey(sealing, task(), { ...FORM, key: "b" }),
    sealQuestionKey(sealing, task(), { ...FORM, schema: "{}" }),
    sealQuestionKey(sealing, task(), { key: FORM.key, kind: "url" }),
    ...["task", "tool", "principal", "route", "upstream"].map((name) =>
      sealQuestionKey(sealing, task({ [name]: "x" }), FORM),
    ),
    sealQuestionKey({ ...sealing, audience: "https://h.example" }, task(), FORM),
  ];
  t.equal(new Set(keys.map(nonceOf)).size, keys.length);
});

t.test("the nonce is a MAC of all that is sealed, under a label of its own", async (t) => {
  const key = sealQuestionKey(sealing, task(), FORM) ?? "";
  const text = JSON.stringify([taskDigest(task().claims), FORM.key, "form", FORM.schema]);
  const macKey = Buffer.from(hkdfSync("sha256", A.secret, "", "sealgate/overrides/1/key", 32));
  const framed = JSON.stringify(["sealgate/task-question/1/nonce", sealing.audience, text]);
  const mac = createHmac("sha256", macKey).update(framed).digest().subarray(0, 24);
  t.same(Buffer.from(key.slice(5), "base64url").subarray(4, 28), mac);
});

t.test("nothing else opens", async (t) => {
  const key = sealQuestionKey(sealing, task(), FORM) ?? "";
  const opens = (text: string, audience = sealing.audience, cap = CAP): boolean => {
    try {
      openQuestionKey({ ...sealing, audience }, text, cap);
      return true;
    } catch (error) {
      if (error instanceof EnvelopeError) return false;
      throw error;
    }
  };
  t.ok(opens(key));
  for (let i = 0; i < key.length; i++)
    t.notOk(opens(key.slice(0, i) + (key[i] === "A" ? "B" : "A") + key.slice(i + 1)), String(i));
  for (const text of ["", "who", "sgq1.", `${key}A`, key.slice(0, -2), key.replace("sgq1", "sgt1")])
    t.notOk(opens(text), text.slice(0, 20));
  t.notOk(opens(key, "https://h.example"));
  t.notOk(opens(key, sealing.audience, key.length - 1));
});
