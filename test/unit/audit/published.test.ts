/** The published schema of audit records: checked in, closed, with a sentence for each member, and the same as the types. */
import { readFileSync } from "node:fs";
import t from "tap";
import { adminRecord } from "../../../src/audit/admin-schema.ts";
import { auditSchema, auditSchemaText, memberTables } from "../../../src/audit/published.ts";
import { auditRecord } from "../../../src/audit/record-schema.ts";

type Node = Readonly<Record<string, unknown>>;

t.test("what is checked in is, byte for byte, what `npm run audit-schema` writes", async (t) => {
  const checkedIn = readFileSync(new URL("../../../config/audit.schema.json", import.meta.url), "utf8");
  t.equal(checkedIn, auditSchemaText());
});

t.test("closed, bounded, described, and nothing may be null", async (t) => {
  const root = auditSchema();
  t.equal(root["$schema"], "https://json-schema.org/draft/2020-12/schema");
  const [audit, admin] = root["oneOf"] as readonly [Node, Node];
  t.same(Object.keys(audit["properties"] as Node), Object.keys(auditRecord.shape));
  t.same(Object.keys(admin["properties"] as Node), Object.keys(adminRecord.shape));
  t.same(audit["required"], ["type", "time", "requestId", "route", "outcome", "latencyMs"]);
  let objects = 0;
  const walk = (node: Node, path: string, named: boolean): void => {
    t.notOk("$ref" in node || node["type"] === "null", `${path} is written out`);
    if (named) t.type(node["description"], "string", `${path} is described`);
    if (node["type"] === "array") t.type(node["maxItems"], "number", `${path} is bounded`);
    const isFree = node["propertyNames"] !== undefined;
    if (node["type"] === "object" && !isFree) {
      objects++;
      t.equal(node["additionalProperties"], false, `${path} is closed`);
    }
    const own = /approvedBy|others|deniedBy|entry\.principal/.test(path);
    for (const [name, child] of Object.entries((node["properties"] ?? {}) as Record<string, Node>))
      walk(child, `${path}.${name}`, !own);
    if (node["items"] !== undefined) walk(node["items"] as Node, `${path}[]`, false);
    for (const child of (node["anyOf"] ?? []) as readonly Node[]) walk(child, `${path}|`, false);
  };
  walk(audit, "audit", true);
  walk(admin, "admin", true);
  t.ok(objects > 10, `${objects} objects`);
});

t.test("the tables have a line for every member, also of what is in lists", async (t) => {
  const { audit, admin } = memberTables();
  for (const name of [
    "`type`",
    "`principal.groups`",
    "`questions[].message`",
    "`brought.rpcId`",
    "`rules[].id`",
  ])
    t.ok(audit.includes(`\n| ${name} | `), name);
  t.ok(admin.includes("\n| `entry.chain` | "));
  t.equal(audit.split("\n").filter((line) => !/^\|.*\|$/.test(line)).length, 0);
});
