import fc from "fast-check";
import t from "tap";
import { narrow } from "../../../src/capability/narrow.ts";
import type { Asked } from "../../../src/envelope/format.ts";
import { Refusal } from "../../../src/errors.ts";
import { type JsonText, scan } from "../../../src/json/scan.ts";
import { splice } from "../../../src/json/splice.ts";
import { checkAnswers } from "../../../src/mcp/answers.ts";
import { parseDeclared } from "../../../src/mcp/capabilities.ts";
import { decideEra } from "../../../src/mcp/era.ts";
import { parseClientMessage, parseServerMessage } from "../../../src/mcp/message.ts";
import { listenedResources, mirroredName, targetOf } from "../../../src/mcp/methods.ts";
import { questionFindings } from "../../../src/mcp/question-findings.ts";
import { parseQuestions } from "../../../src/mcp/questions.ts";

const LIMITS = { bytes: 1 << 20, depth: 64 };

/** JSON made of the words that the readers know, in places where they do not expect them. */
const words = [
  ...[
    "jsonrpc",
    "2.0",
    "id",
    "method",
    "params",
    "result",
    "error",
    "code",
    "message",
    "_meta",
    "name",
    "uri",
  ],
  ...[
    "tools/call",
    "notifications/x",
    "elicitation/create",
    "sampling/createMessage",
    "roots/list",
    "completion/complete",
  ],
  ...[
    "inputResponses",
    "requestState",
    "inputRequests",
    "action",
    "accept",
    "content",
    "role",
    "user",
    "model",
    "roots",
  ],
  ...[
    "mode",
    "form",
    "url",
    "requestedSchema",
    "type",
    "object",
    "properties",
    "required",
    "string",
    "array",
    "items",
  ],
  ...[
    "enum",
    "oneOf",
    "anyOf",
    "messages",
    "maxTokens",
    "elicitation",
    "sampling",
    "extensions",
    "__proto__",
    "ref",
  ],
  ...[
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "2026-07-28",
    "\ud800",
  ],
];
const word = fc.constantFrom(...words);
const key = fc.constantFrom(...words.filter((text) => text.isWellFormed()));
const { value } = fc.letrec<{ value: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    word.map((text) => JSON.stringify(text)),
    fc.constantFrom("1", "1.5", "1e400", "true", "null", "{}", "[]"),
  ),
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .uniqueArray(fc.tuple(key, tie("value")), { maxLength: 6, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`),
  ),
}));

function only(read: (doc: JsonText) => void, ...arbitraries: fc.Arbitrary<string>[]): void {
  fc.assert(
    fc.property(fc.oneof(value, ...arbitraries), (text) => {
      try {
        read(scan(Buffer.from(text), LIMITS));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }),
    { numRuns: 2000 },
  );
}

t.test("readers of untrusted messages throw refusals and nothing else", async () => {
  const call = fc
    .tuple(key, value, value)
    .map(
      ([method, params, extra]) =>
        `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params},"x":${extra}}`,
    );
  only((doc) => {
    const message = parseClientMessage(doc);
    decideEra({ header: "2025-11-25", doc, message });
    if (message.type === "result" || message.type === "error") return;
    mirroredName(doc, message);
    targetOf(doc, message);
    listenedResources(doc, message);
  }, call);
  only((doc) => parseServerMessage(doc), call);
});

t.test("readers of capabilities", async () => {
  const meta = value.map((text) => `{"io.modelcontextprotocol/clientCapabilities":${text}}`);
  only((doc) => {
    parseDeclared(doc, doc.root);
    scan(splice(doc.bytes, narrow(doc, doc.root, new Set(["roots"]))), LIMITS);
  }, meta);
});

t.test("readers of questions", async () => {
  const question = fc
    .tuple(key, value)
    .map(([method, params]) => `{"q":{"method":"${method}","params":${params}}}`);
  const schema = value.map(
    (text) => `{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"p":${text}}}}}}`, // biome-ignore format: one template
  );
  const odd = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.string({ unit: "binary", maxLength: 40 }), word).map((text) => JSON.stringify(text.toWellFormed())); // biome-ignore format: one arbitrary
  const address = odd.map((text) => `{"q":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/?${text.slice(1)}}}}`); // biome-ignore format: one template
  const form = fc.tuple(odd, odd, odd).map(([name, title, message]) => `{"q":{"method":"elicitation/create","params":{"message":${message},"requestedSchema":{"type":"object","properties":{${name}:{"type":"string","title":${title}}}}}}}`); // biome-ignore format: one template
  const declared = { form: true, url: true, sampling: true, samplingTools: true, samplingContext: false, roots: true }; // biome-ignore format: one object
  const anywhere = { hosts: undefined, loopbackHttp: false, ownHosts: new Set<string>() };
  only(
    (doc) => {
      parseQuestions(doc, doc.root);
      questionFindings(doc, doc.root, declared, anywhere);
    },
    question,
    schema,
    address,
    form,
  );
});

t.test("readers of answers, whatever was asked", async () => {
  const schema = '{"type":"object","properties":{"name":{"type":"string"},"__proto__":{"type":"boolean"}}}';
  const kinds: Asked[] = [
    { key: "form", kind: "form", schema },
    { key: "url", kind: "url" },
    { key: "sampling", kind: "sampling" },
    { key: "roots", kind: "roots" },
  ];
  const answer = fc.tuple(fc.constantFrom("form", "url", "sampling", "roots"), value, value).map(
    ([name, one, two]) => `{"${name}":{"action":"accept","content":${one}},"x":${two}}`, // biome-ignore format: one template
  );
  only((doc) => {
    const after = scan(splice(doc.bytes, checkAnswers(doc, doc.root, kinds).edits), LIMITS);
    if (checkAnswers(after, after.root, kinds).edits.length > 0)
      throw new Error("a second look would drop more");
  }, answer);
});
