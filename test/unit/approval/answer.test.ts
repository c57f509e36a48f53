/** The answer to the question for consent: nothing is a yes but an accept of everything that was asked, typed exactly. */
import t from "tap";
import { readApprovalAnswer } from "../../../src/approval/answer.ts";
import { scan } from "../../../src/json/scan.ts";
import { callOf, person, policyOf, questionOf } from "../../support/approvals.ts";

const policy = policyOf({
  fields: [
    { name: "reason", minLength: 3, maxLength: 10, audit: true },
    { name: "kind", options: ["a", "b"], offer: true },
    { name: "note", required: false },
  ],
  offer: "header",
  confirm: "{arguments.path}",
});
const question = questionOf([policy], callOf(person("alice"), { path: "/tmp/Zoë" }));
const plain = questionOf([policyOf()], callOf(person("alice"), { path: "/a" }));

const read = (text: string, of = question) => {
  const doc = scan(Buffer.from(text), { bytes: 1_000_000, depth: 64 });
  return readApprovalAnswer(doc, doc.root, of);
};
const answer = (value: unknown, of = question) => read(JSON.stringify({ approval: value }), of);
const full = { reason: "clean up", kind: "a", confirm: "/tmp/Zoë" };
const accept = (content: unknown) => answer({ action: "accept", content });

t.test("yes", async (t) => {
  t.same(accept({ ...full, note: "x", other: 1 }), {
    kind: "accept",
    fields: [
      { name: "reason", text: "clean up", audit: true, offer: "none" },
      { name: "kind", text: "a", audit: false, offer: "header" },
      { name: "note", text: "x", audit: false, offer: "none" },
    ],
  });
  t.match(accept(full), { kind: "accept" }, "what is not required may be left out");
  t.match(accept({ ...full, note: "" }), { kind: "accept" }, "or left empty");
  t.match(accept({ ...full, confirm: " /tmp/Zoë\n" }), { kind: "accept" }, "a space at an end");
  for (const content of [undefined, null, {}, { anything: [1] }])
    t.same(answer({ action: "accept", content }, plain), { kind: "accept", fields: [] });
  t.match(answer({ action: "accept", content: {}, _meta: {}, other: 1 }, plain), { kind: "accept" });
});

t.test("no", async (t) => {
  t.same(answer({ action: "decline" }), { kind: "decline" });
  t.same(answer({ action: "cancel" }), { kind: "cancel" });
  t.same(answer({ action: "decline", content: full }), { kind: "decline" }, "whatever is filled in");
});

t.test("neither", async (t) => {
  const faults: [unknown, string, string?][] = [
    [undefined, "answers_missing"],
    [null, "answer"],
    ["accept", "answer"],
    [[], "answer"],
    [{ method: "x", action: "accept", content: full }, "answer"],
    [{ result: { action: "accept", content: full } }, "answer"],
    [{ role: "user", action: "accept", content: full }, "answer"],
    [{ Action: "decline", action: "accept", content: full }, "answer"],
    [{ action: "accept", content: { ...full, reason: "x".repeat(300_000) } }, "answer"],
    [{}, "action"],
    [{ action: "Accept", content: full }, "action"],
    [{ action: true, content: full }, "action"],
    [{ action: "accept" }, "form", "reason"],
    [{ action: "accept", content: null }, "form", "reason"],
    [{ action: "accept", content: [] }, "content"],
    [{ action: "accept", content: "yes" }, "content"],
    [{ action: "accept", content: { ...full, reason: 5 } }, "content"],
    [{ action: "accept", content: { ...full, reason: ["clean up"] } }, "content"],
    [{ action: "accept", content: { ...full, reason: null } }, "content"],
    [{ action: "accept", content: { ...full, reason: "ab" } }, "form", "reason"],
    [{ action: "accept", content: { ...full, reason: "much too long" } }, "form", "reason"],
    [{ action: "accept", content: { ...full, kind: "c" } }, "form", "kind"],
    [{ action: "accept", content: { reason: "clean up", kind: "a" } }, "form", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "" } }, "not_confirmed", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "/tmp/zoë" } }, "not_confirmed", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "/tmp/Zoe\u0308" } }, "not_confirmed", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "`/tmp/Zoë`" } }, "not_confirmed", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "/tmp/Zoë\u200b" } }, "not_confirmed", "confirm"],
    [{ action: "accept", content: { ...full, confirm: "/tmp/Zоë" } }, "not_confirmed", "confirm"],
  ];
  for (const [value, detail, field] of faults)
    t.same(
      answer(value),
      { kind: "malformed", detail, ...(field && { field }) },
      JSON.stringify(value)?.slice(0, 60),
    );
  t.same(read('{"approval":{"action":"accept","content":{"reason":"\\ud800abc"}}}'), {
    kind: "malformed",
    detail: "answer",
  });
  t.same(read("[]"), { kind: "malformed", detail: "answers_missing" });
  t.same(read("null"), { kind: "malformed", detail: "answers_missing" });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x${n}`, n]));
  t.match(accept({ ...full, ...many }), { kind: "malformed", detail: "content" });
});

t.test("an answer to a question about another's call is no answer to one's own", async (t) => {
  const waiting = { id: "A".repeat(22), requester: person("bob") };
  const voted = questionOf([policyOf()], callOf(person("alice"), { path: "/a" }), waiting);
  const yes = { action: "accept", content: {} };
  t.match(read(JSON.stringify({ approval: yes }), voted), { detail: "answers_missing" });
  t.match(read(JSON.stringify({ [voted.key]: yes }), plain), { detail: "answers_missing" });
  t.match(read(JSON.stringify({ [voted.key]: yes }), voted), { kind: "accept" });
});
