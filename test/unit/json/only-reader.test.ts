/** The scanner is the only reader of messages: whatever else in `src/` parses JSON is on this list, with what it parses. */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { ACCEPTED, DUPLICATES, NO_DUPLICATES, REFUSED } from "./corpus.ts";

const ROOT = new URL("../../../src/", import.meta.url);

/** File → why it is no second reader of a message. */
const PARSERS: Readonly<Record<string, string>> = {
  "json/text.ts": "one string, or one value to look at, that the scan has passed",
  "json/duplicate.ts": "one key that the scan has passed",
  "mcp/message.ts": "two ids that the scan has passed",
  "mcp/number.ts": "a value or a schema that the scan has passed, with its numbers as written",
  "approval/entry.ts": "what our own key has authenticated",
  "audit/lines.ts": "records that a gateway wrote, for a command",
  "commands/explain-approval.ts": "a form that the gateway itself has printed",
  "principal/introspection-answer.ts": "an answer about a token that the scan has passed",
  "principal/proof.ts": "the parts of a proof that its key has signed",
  "principal/token-form.ts": "the header of a token, to tell its form",
  "upstream/token-answer.ts": "the answer of a token endpoint that the operator named",
  "overrides/entry.ts": "an entry of our own store, which must fit its schema",
  "round-trip/repeat.ts": "what our own key has authenticated",
  "tasks/task-id.ts": "what our own key has authenticated",
  "binding.ts": "an id that the scan has passed",
  "envelope/claims.ts": "what our own key has authenticated; it must print to the same bytes again",
  "config/caller-material.ts": "a key set that the operator wrote",
  "principal/document.ts": "documents of issuers that the operator named",
  "program-version.ts": "our own package.json",
  "admin/client.ts": "the answer of the operator's own gateway, for a command",
  "commands/explain-input.ts": "a principal that the operator wrote",
  "commands/health.ts": "the answer of the operator's own gateway, for a command",
  "console/verbs.ts": "a record that this process has printed",
  "review/checks/state-readable.ts":
    "the state of a reviewed server, to see whether anybody could read it so",
  "review/redaction.ts": "one string of a reviewed server's text, to find in it what is to be hidden",
  "telemetry/exporter.ts": "the answer of the collector that the operator named",
};

t.test("nothing else parses JSON", async (t) => {
  const found: string[] = [];
  for (const file of readdirSync(ROOT, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(new URL(file, ROOT), "utf8").replace(/^ *(?:\/?\*|\/\/).*$/gm, "");
    if (/\bJSON\s*\.\s*parse\b|\.json\(\)|\bJSON\[/.test(text)) found.push(file);
  }
  t.same(found.sort(), Object.keys(PARSERS).sort());
});

t.test("the corpus is as large as promised, and no case stands in it twice", async (t) => {
  const accepted = [...ACCEPTED, ...NO_DUPLICATES];
  const refused = [...Object.values(REFUSED).flat(), ...DUPLICATES];
  const all = [...accepted, ...refused];
  t.equal(new Set(all).size, all.length);
  t.ok(all.length >= 250, `${all.length} cases`);
  t.ok(
    accepted.length >= 90 && refused.length >= 150,
    `${accepted.length} accepted, ${refused.length} refused`,
  );
});
