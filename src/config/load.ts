/** A configuration file → a configuration that can run, or every problem of it at once. */
import { dirname, resolve } from "node:path";
import type * as z from "zod";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import { readConfigFile } from "./config-file.ts";
import { crossCheck } from "./cross-checks.ts";
import { type ConfigDocument, type DocumentProblem, readDocument } from "./document.ts";
import { printPath, type Step } from "./json-schema.ts";
import { loadMaterial, type Secrets } from "./material.ts";
import { meantBy, schemaProblems, valueAt } from "./problems.ts";
import { type Pruned, prune } from "./prune.ts";
import { checkTwins, type Report } from "./report.ts";
import { resolveConfig, type Whole } from "./resolve.ts";
import { type Config, SECTIONS, type Secret } from "./schema.ts";
import { loadSecret, SecretError } from "./secret.ts";

/** A file that was read. */
export interface Source {
  /** Absolute. */
  readonly file: string;
  /** The path as it was given, by which problems and warnings call it. */
  readonly name: string;
  /** What stands in it, defaults filled in: before anything is derived from another section. */
  readonly sections: Partial<Whole>;
  readonly env: NodeJS.ProcessEnv;
  /** `file:line:column` of the setting at `path`; of the nearest section where it does not stand in the file. */
  place(path: readonly Step[]): string;
}

/** A configuration that passed every check. `warnings` are lines `file:line:column path: text`. */
export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly secrets: Secrets;
  /** Where it can be read again, and where in it a setting stands. */
  readonly source?: Source;
}

function byPlace(a: ConfigProblem, b: ConfigProblem): number {
  return a.line - b.line || a.column - b.column || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

interface Reading {
  readonly sections: Partial<Whole>;
  /** Sections that were not in order, and what is left of them. */
  readonly pruned: ReadonlyMap<Step, Pruned<unknown>>;
  /** Sections that are absent, while a name that is not known looks like them. */
  readonly mistyped: ReadonlySet<Step>;
}

/** What can be read of each section; what is wrong with it, and names that are no section, go to `add`. */
function readSections(doc: ConfigDocument, add: (problems: readonly DocumentProblem[]) => void): Reading {
  const root = doc.value as Readonly<Record<string, unknown>>;
  const sections: Record<string, unknown> = {};
  const pruned = new Map<Step, Pruned<unknown>>();
  const strangers = Object.keys(root).filter((name) => !Object.hasOwn(SECTIONS, name));
  const mistyped = new Set<Step>(meantBy([], strangers).filter((name) => !Object.hasOwn(root, name)));
  add(schemaProblems(doc, [], [{ code: "unrecognized_keys", keys: strangers, path: [], message: "" }]));
  for (const [name, schema] of Object.entries(SECTIONS) as [string, z.ZodType][]) {
    const value = valueAt(root, [name]);
    if (value === undefined && (schema.def.type === "optional" || mistyped.has(name))) continue;
    const result = schema.safeParse(value);
    if (result.success) {
      sections[name] = result.data;
      continue;
    }
    add(schemaProblems(doc, [name], result.error.issues));
    const rest = prune(schema, value);
    if (rest === undefined) continue;
    sections[name] = rest.data;
    pruned.set(name, rest);
  }
  return { sections: sections as Partial<Whole>, pruned, mistyped };
}

/**
 * Reads, checks and resolves a configuration, with all files it refers to.
 * @param file path of the YAML file; relative paths inside it start at its folder
 * @param env where `{ env }` secrets come from
 * @param now milliseconds since the epoch, for what depends on time
 * @param material reads what the configuration refers to
 * @throws ConfigFileError when the file cannot be read
 * @throws ConfigError with every problem, sorted by place
 */
export async function loadConfig(
  file: string,
  env: NodeJS.ProcessEnv,
  now: () => number = Date.now,
  material: typeof loadMaterial = loadMaterial,
): Promise<LoadedConfig> {
  const doc = readDocument(await readConfigFile(file));
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const entry = ({ path, ...rest }: DocumentProblem): ConfigProblem => ({
    file,
    ...rest,
    path: printPath(path),
  });
  const add = (found: readonly DocumentProblem[]): void => {
    for (const problem of found) problems.push(entry(problem));
  };
  const finish = (list: ConfigProblem[]): ConfigProblem[] => list.sort(byPlace);
  add(doc.problems);
  if (doc.value === undefined) throw new ConfigError(finish(problems));

  const { sections, pruned, mistyped } = readSections(doc, add);
  const at = (path: readonly Step[], message: string): DocumentProblem => ({
    ...doc.place(path),
    path,
    message,
  });
  const original = ([section = "", ...rest]: readonly Step[]): Step[] => [
    section,
    ...(pruned.get(section)?.original(rest) ?? rest),
  ];
  const report: Report = {
    problem: (path, message) => add([at(original(path), message)]),
    warning: (path, message) => warnings.push(entry(at(original(path), message))),
    lost(path) {
      const [section = "", ...rest] = original(path);
      return pruned.get(section)?.lost(rest) ?? false;
    },
  };
  checkTwins(doc.value, { problem: (path, message) => add([at(path, message)]) }, (path) => {
    return `${printPath(path)} in line ${doc.place(path).line}`;
  });
  const given = new Set([...Object.keys(doc.value as object), ...mistyped].map(String));
  crossCheck(sections, given, report);
  const folder = dirname(resolve(file));
  // The files that can be told are read even when others cannot: the operator should see it all in one run.
  const config = resolveConfig({ ...FALLBACK, ...sections }, folder);
  const secrets = await material(config, env, report, now());
  if (material === loadMaterial) {
    for (const [section, { references }] of pruned) {
      for (const { path, secret } of references) {
        const fault = await faultOf("file" in secret ? { file: resolve(folder, secret.file) } : secret, env);
        if (fault !== undefined) add([at([section, ...path], fault)]);
      }
    }
  }
  const lines = finish(warnings).map((w) => `${w.file}:${w.line}:${w.column} ${w.path}: ${w.message}`);
  if (problems.length > 0) throw new ConfigError(finish(problems), lines);
  const place = (path: readonly Step[]): string => {
    const { line, column } = doc.place(path);
    return `${file}:${line}:${column}`;
  };
  return {
    config,
    warnings: lines,
    secrets,
    source: { file: resolve(file), name: file, sections, env, place },
  };
}

/** Why nothing can be read there. What is in it is looked at once the setting around it is in order. */
async function faultOf(secret: Secret, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    await loadSecret(secret, env);
    return undefined;
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}

/** What stands in for a broken section while the files of the others are read; never part of a result. */
const FALLBACK: Whole = {
  version: 1,
  server: SECTIONS.server.parse({}),
  authentication: SECTIONS.authentication.parse({}),
  envelope: SECTIONS.envelope.parse({}),
  roundTrip: SECTIONS.roundTrip.parse({}),
  redemption: SECTIONS.redemption.parse({}),
  capability: SECTIONS.capability.parse({}),
  authorization: SECTIONS.authorization.parse({}),
  rules: SECTIONS.rules.parse({}),
  limits: SECTIONS.limits.parse({}),
  routes: [],
  errors: SECTIONS.errors.parse({}),
  audit: SECTIONS.audit.parse({}),
  log: SECTIONS.log.parse({}),
};
