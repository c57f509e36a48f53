import { readFileSync } from "node:fs";
import t from "tap";
import { schemaText } from "../../../src/commands/schema.ts";
import {
  allSettings,
  isSetting,
  jsonSchema,
  knownNames,
  printPath,
} from "../../../src/config/json-schema.ts";
import { SECTIONS } from "../../../src/config/schema.ts";

t.test("the checked-in JSON Schema is, byte for byte, what `npm run schema` writes", async (t) => {
  const checkedIn = readFileSync(new URL("../../../config/sealgate.schema.json", import.meta.url), "utf8");
  t.equal(checkedIn, schemaText());
});

t.test("it is a closed draft 2020-12 schema with a description for every setting", async (t) => {
  const root = jsonSchema();
  t.equal(root["$schema"], "https://json-schema.org/draft/2020-12/schema");
  t.same(Object.keys(root.properties ?? {}), Object.keys(SECTIONS));
  t.same(root["required"], ["version", "routes"]);
  let objects = 0;
  const walk = (node: Record<string, unknown>, path: string, described: boolean): void => {
    t.notOk("$ref" in node, `${path} is written out`);
    if (!described)
      t.ok(Array.isArray(node["oneOf"]) || typeof node["description"] === "string", `${path} is described`);
    if (node["type"] === "object") {
      objects++;
      const names = node["propertyNames"] as Record<string, unknown> | undefined;
      if (names === undefined) t.equal(node["additionalProperties"], false, `${path} is closed`);
      else {
        t.type(names["pattern"], "string", `the free names of ${path} have a form`);
        walk(node["additionalProperties"] as Record<string, unknown>, `${path}.*`, true);
      }
    }
    for (const [name, child] of Object.entries(
      (node["properties"] ?? {}) as Record<string, Record<string, unknown>>,
    )) {
      const plain = ["file", "env"].includes(name) || "const" in child;
      walk(child, `${path}.${name}`, plain);
    }
    if (node["items"] !== undefined) walk(node["items"] as Record<string, unknown>, `${path}[]`, true);
  };
  walk(root as Record<string, unknown>, "", false);
  t.ok(objects > 20);
});

t.test("secrets are references in it, and durations and sizes have patterns", async (t) => {
  const text = schemaText();
  t.match(text, /"oneOf": \[\s+\{\s+"required": \[\s+"file"\s+\]\s+\},\s+\{\s+"required": \[\s+"env"/);
  t.match(text, /\(ms\|s\|m\|h\)/);
  t.match(text, /\(B\|KiB\|MiB\|GiB\)/);
  const patterns = [...text.matchAll(/"pattern": (".*")/g)].map(
    (match) => JSON.parse(match[1] ?? "") as string,
  );
  t.ok(patterns.length > 0);
  for (const pattern of patterns) t.ok(new RegExp(pattern, "u"), pattern);
});

t.test("settings are found by path", async (t) => {
  t.ok(isSetting(["routes", 0, "upstream", "credential", "header", "value", "env"]));
  t.ok(isSetting(["audit", "sinks", 3, "path"]));
  for (const path of [
    ["rulings"],
    ["routes", "upstream"],
    ["server", 0],
    ["constructor"],
    ["server", "__proto__"],
    ["version", "x"],
  ]) {
    t.notOk(isSetting(path), printPath(path));
  }
  t.same(knownNames(["keys", "ring", 0, "secret"]), ["file", "env"]);
  t.ok(allSettings().every(isSetting));
});
