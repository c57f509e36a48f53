/** What the documents show works: configurations load, commands exist, links lead somewhere. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import t, { type Test } from "tap";
import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import { COMMANDS } from "../../src/commands/commands.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/errors.ts";
import { generateSecret } from "../../src/key-secret.ts";
import { selfSigned } from "../support/certificates.ts";
import { anchors, fences, links, page, pages, ROOT, spans } from "../support/markdown.ts";

const PAGES = pages();
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  scripts: Record<string, string>;
};
/** Of npm's own commands, those that documents may name. */
const NPM = new Set(["ci", "prune", "install"]);

/** References of a configuration, with the name of the setting they stand at. */
function references(node: unknown, setting = ""): { setting: string; kind: "file" | "env"; name: string }[] {
  if (isSeq(node)) return node.items.flatMap((item) => references(item, setting));
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    if ((name === "file" || name === "env") && isScalar(value)) {
      return [{ setting, kind: name, name: String(value.value) } as const];
    }
    return references(value, name);
  });
}

/** One certificate for all pages, its own authority. */
const certificate = selfSigned(t, ["DNS:gateway.test"]);

/** What stands in the file or variable that a setting refers to. */
async function standIn(setting: string): Promise<string | undefined> {
  if (["secret", "password", "bearer", "value"].includes(setting)) return generateSecret();
  if (["cert", "clientCa"].includes(setting)) return (await certificate).cert;
  return setting === "key" ? (await certificate).key : undefined;
}

/** Loads a shown configuration, with stand-ins for the secrets it refers to. */
async function problemsOf(t: Test, yaml: string): Promise<readonly string[]> {
  const folder = t.testdir({});
  const env: Record<string, string> = {};
  for (const { setting, kind, name } of references(parseDocument(yaml).contents)) {
    const text = await standIn(setting);
    if (text === undefined) return [`there is no stand-in for ${setting}: ${name}`];
    if (kind === "env") {
      env[name] = text;
      continue;
    }
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
  const file = join(folder, "sealgate.yaml");
  writeFileSync(file, yaml);
  try {
    const { warnings } = await loadConfig(file, env);
    return warnings;
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
}

/** Every command line that a page names: shell lines, and code spans. */
function commandLines(at: (typeof PAGES)[number]): string[] {
  const shell = fences(at)
    .filter(({ language }) => language === "sh" || language === "ini")
    .flatMap(({ body }) => body.replaceAll(/\\\n\s*/g, "").split("\n"));
  return [...shell, ...spans(at)]
    .flatMap((line) => line.replace(/\s#.*$/, "").split("&&"))
    .map((line) =>
      line
        .trim()
        .replace(/^ExecStart(Pre)?=/, "")
        .replace(/^(npx )?(\S*\/)?node (\S*\/)?(src\/main\.ts|dist\/main\.js) /, "sealgate "),
    )
    .filter((line) => /^(sealgate|npm) /.test(line));
}

/** What is wrong with a command line; undefined when it exists. */
function wrongWith(line: string): string | undefined {
  const words = line.split(" ").slice(1);
  if (line.startsWith("npm ")) {
    const [first = "", second = ""] = words;
    const name = first === "run" ? second : first;
    const isOurs = Object.hasOwn(scripts, name);
    return first === "run" || ["start", "test"].includes(first)
      ? isOurs
        ? first === "start"
          ? wrongWith(["sealgate serve", ...words.slice(2)].join(" "))
          : undefined
        : `no script ${name}`
      : NPM.has(first)
        ? undefined
        : `npm ${first}`;
  }
  const command = COMMANDS.find((known) => known.words.every((word, index) => words[index] === word));
  if (command === undefined) return "no such command";
  const options = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
  const odd = options.find((option) => option !== "help" && !Object.hasOwn(command.options, option));
  return odd === undefined ? undefined : `no option --${odd}`;
}

t.test("the README shows a configuration", async (t) => {
  t.equal(fences(page("README.md")).filter(({ body }) => body.startsWith("version: 1")).length, 1);
});

for (const at of PAGES) {
  const examples = fences(at).filter(
    ({ language, body }) => language === "yaml" && body.startsWith("version: 1"),
  );
  for (const [index, { body }] of examples.entries()) {
    t.test(`${at.path}: configuration ${index + 1} is sound, without a warning`, async (t) => {
      t.same(await problemsOf(t, body), []);
    });
  }
}

t.test("a configuration with a mistake would be found", async (t) => {
  t.match((await problemsOf(t, "version: 1\nroutes: []\n")).join("\n"), /routes: is an empty list/);
});

t.test("commands that documents name exist", async (t) => {
  const named = PAGES.flatMap((at) => commandLines(at).map((line) => ({ path: at.path, line })));
  t.ok(named.some(({ line }) => line.startsWith("sealgate serve --config")));
  t.ok(named.some(({ line }) => line === "npm run demo"));
  t.same(
    named.flatMap(({ path, line }) => {
      const wrong = wrongWith(line);
      return wrong === undefined ? [] : [`${path}: ${line}: ${wrong}`];
    }),
    [],
  );
  t.equal(wrongWith("npm run demonstrate"), "no script demonstrate");
  t.equal(wrongWith("sealgate revive"), "no such command");
  t.equal(wrongWith("npm start -- --upstreams URL"), "no option --upstreams");
});

t.test("docs/commands.md names every command, and the README leads there", async (t) => {
  t.ok(links(page("README.md")).includes("docs/commands.md"));
  const { text } = page("docs/commands.md");
  for (const { words } of COMMANDS) t.match(text, `sealgate ${words.join(" ")}`);
});

t.test("links lead somewhere", async (t) => {
  const broken = PAGES.flatMap((at) =>
    links(at)
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const path = file === "" ? at.path : normalize(join(dirname(at.path), file));
        if (path.startsWith("..") || !existsSync(`${ROOT}${path}`)) return true;
        return anchor !== undefined && !(path.endsWith(".md") && anchors(page(path)).has(anchor));
      })
      .map((target) => `${at.path}: ${target}`),
  );
  t.same(broken, []);
});
