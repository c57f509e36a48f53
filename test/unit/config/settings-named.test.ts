/**
 * Every setting that a document or an example names is in the schema, and the commented example names every setting.
 * In `config/sealgate.yaml` a line with a single # is a setting that is not in force; ## explains.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { allSettings, isSetting, printPath, type Step } from "../../../src/config/json-schema.ts";
import { SECTIONS } from "../../../src/config/schema.ts";
import { load } from "./load-text.ts";

const ROOT = new URL("../../../", import.meta.url);
const FILE_NAMES = /\.(ts|js|mjs|json|ndjson|yaml|yml|md|log|pem|crt|key|txt|sh)$/;

const text = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");

/** The example with every commented setting in force. */
function uncommented(): string {
  return text("config/sealgate.yaml")
    .replace(/^# yaml-language-server.*$/m, "")
    .replace(/^( *)#(?!#)/gm, "$1");
}

/** The path of every mapping member in a YAML node, list places as 0. */
function namesIn(node: unknown, path: readonly Step[] = []): Step[][] {
  if (isSeq(node)) return node.items.flatMap((item) => namesIn(item, [...path, 0]));
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    const here = [...path, isScalar(key) ? String(key.value) : "?"];
    return [here, ...namesIn(value, here)];
  });
}

const isSection = (name: unknown): boolean => typeof name === "string" && Object.hasOwn(SECTIONS, name);

/** Settings named in code spans of a Markdown text: `routes[].upstream.url`, `roundTrip.rejection: error`. */
function spansIn(markdown: string): Step[][] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, span = ""]) => {
    const [name] = /^[A-Za-z]\w*(\[\d*\])*(\.\w+(\[\d*\])*)+/.exec(span) ?? [];
    if (name === undefined || !isSection(name.split(/[.[]/)[0]) || FILE_NAMES.test(name)) return [];
    // After a path a span may hold a value (`: x`), never more of a path.
    const rest = span.slice(name.length);
    if (!/^(\[\])?(:|\s|$|,)/.test(rest)) return [];
    return [name.split(/\.|(?=\[)/).map((step) => (step.startsWith("[") ? 0 : step))];
  });
}

/** Settings in fenced YAML of a Markdown text that is a piece of a configuration. */
function fencedIn(markdown: string): Step[][] {
  return [...markdown.matchAll(/^```ya?ml\n([\s\S]*?)^```/gm)].flatMap(([, yaml = ""]) => {
    const { contents } = parseDocument(yaml);
    if (!isMap(contents) || contents.items.length === 0) return [];
    const ours = contents.items.every(({ key }) => isScalar(key) && isSection(key.value));
    return ours ? namesIn(contents) : [];
  });
}

function markdownFiles(folder: string): string[] {
  if (!existsSync(new URL(folder, ROOT))) return [];
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}${name}`);
}

/** `keys.ring.secret` in prose means the member of each entry. */
function isNamed(path: readonly Step[]): boolean {
  if (isSetting(path)) return true;
  const named = path.filter((step) => typeof step === "string").join(".");
  return allSettings().some((known) => known.filter((step) => typeof step === "string").join(".") === named);
}

t.test("the reader of documents finds what is named", async (t) => {
  t.same(
    spansIn("`routes[].upstream.url` `keys.ring[0].id` `roundTrip.rejection: error` `log.level`").map(
      printPath,
    ),
    ["routes[0].upstream.url", "keys.ring[0].id", "roundTrip.rejection", "log.level"],
  );
  t.same(
    spansIn("`errors.ts` `other.thing` `routes` `server/discover` log.level\n```\n`log.level`\n```\n"),
    [],
  );
  t.same(fencedIn("```yaml\nrulings: {}\n```\n```yaml\nlog: { levl: x }\n```\n").map(printPath), [
    "log",
    "log.levl",
  ]);
  t.notOk(isNamed(["log", "levl"]));
  t.ok(isNamed(["keys", "ring", "secret"]));
});

/** Members of audit records that are called like a section of the configuration. */
const OF_RECORDS = new Set(["rules[0].id", "rules[0].mode", "rules[0].detail"]);

for (const file of [
  ...["README.md", "SECURITY.md"].filter((name) => existsSync(new URL(name, ROOT))),
  ...markdownFiles("docs/"),
]) {
  // Decisions may speak of what was turned down.
  if (file.startsWith("docs/decisions/")) continue;
  t.test(`${file} names only settings there are`, async (t) => {
    const unknown = [
      ...spansIn(text(file)).filter((path) => !isNamed(path) && !OF_RECORDS.has(printPath(path))),
      ...fencedIn(text(file)).filter((path) => !isSetting(path)),
    ];
    t.same(unknown.map(printPath), []);
  });
}

type Schema = Readonly<Record<string, unknown>>;

/** A schema with all that it may stand for. */
function formsOf(schema: unknown): Schema[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { anyOf = [], oneOf = [], allOf = [] } = schema as Record<string, unknown[]>;
  return [schema as Schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(formsOf)];
}

const inside = (schemas: readonly Schema[], step: Step): Schema[] =>
  schemas.flatMap(({ properties, items }) =>
    formsOf(typeof step === "number" ? items : (properties as Schema | undefined)?.[step]),
  );

/** Numbers of the lines that hold one setting whole, with the value that the published schema has as its default. */
function defaultLines(yaml: string): number[] {
  const lines = new LineCounter();
  const whole = yaml.split("\n");
  const found: number[] = [];
  const look = (node: unknown, schemas: readonly Schema[]): void => {
    if (isSeq(node)) for (const item of node.items) look(item, inside(schemas, 0));
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      if (!isScalar(key) || !isNode(value)) continue;
      const next = inside(schemas, String(key.value));
      const { line, col } = lines.linePos(key.range?.[0] ?? 0);
      const end = lines.linePos(Math.max(0, (value.range?.[1] ?? 1) - 1)).line;
      const alone = line === end && /^[\s-]*$/.test((whole[line - 1] ?? "").slice(0, col - 1));
      const given = JSON.stringify(value);
      if (alone && next.some((schema) => JSON.stringify(schema["default"]) === given)) found.push(line);
      look(value, next);
    }
  };
  look(
    parseDocument(yaml, { lineCounter: lines }).contents,
    formsOf(JSON.parse(text("config/sealgate.schema.json"))),
  );
  return found;
}

t.test("config/sealgate.yaml marks the values that are defaults, and no others", async (t) => {
  const yaml = uncommented();
  const marked = (of: string) =>
    of.split("\n").flatMap((line, at) => (/ # default$/.test(line) ? [at + 1] : []));
  t.ok(marked(yaml).length > 50);
  t.same(marked(yaml), defaultLines(yaml));
  const changed = yaml.replace("shutdownGrace: 25s", "shutdownGrace: 26s");
  t.same(
    marked(changed).length,
    defaultLines(changed).length + 1,
    "a default that has changed would be found",
  );
});

t.test("config/sealgate.yaml names every setting, and only settings there are", async (t) => {
  const { contents, errors } = parseDocument(uncommented());
  t.same(errors, []);
  const named = new Set(namesIn(contents).map(printPath));
  // The names in a map of scopes are scopes.
  const settings = [...named].filter((path) => !path.startsWith("authorization.scopeIncludes."));
  t.same(
    settings.filter((path) => !allSettings().map(printPath).includes(path)),
    [],
  );
  const missing = allSettings().filter((path) => !named.has(printPath(path)));
  // Once is enough for the two forms of a reference, and of the ring, the three of Redis, and of a client of an authorization
  // server, wherever it stands.
  const clients = new Set([...named].flatMap((path) => /\.client\..+$/.exec(path) ?? []));
  // Rules have the same names for routes and tools.
  const repeated = /^(routes\[0\]\.rules|rules\.tools\[0\])\..*\//;
  t.same(
    missing
      .map(printPath)
      .filter((path) => !/\.(file|env)$|^keys\.folder$|^redis\.(sentinels|cluster)\b/.test(path))
      .filter((path) => !repeated.test(path))
      .filter((path) => !clients.has(/\.client\..+$/.exec(path)?.[0] ?? "")),
    [],
  );
});

t.test("with everything in force it is sound but for the files it refers to", async (t) => {
  const { problems } = await load(t, uncommented());
  t.same(
    problems.filter(
      (line) => !/the file does not exist|variable [A-Z0-9_]+ is not set|the folder of the file/.test(line),
    ),
    [],
  );
});

t.test("the examples are sound as they stand", async (t) => {
  for (const file of ["config/sealgate.yaml", "config/quickstart.yaml"]) {
    const { problems, warnings } = await load(t, text(file));
    t.same(problems, [], file);
    t.match(warnings, [/keys: is absent/], file);
  }
});
