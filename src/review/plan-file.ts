/** A plan file → a plan, or every problem of it at once, with its place. */
import { dirname, resolve } from "node:path";
import type * as z from "zod";
import { readConfigFile } from "../config/config-file.ts";
import { type ConfigDocument, type DocumentProblem, readDocument } from "../config/document.ts";
import { printPath, type Step } from "../config/json-schema.ts";
import { valueAt } from "../config/problems.ts";
import { loadFile, loadSecret, SecretError, secretLine } from "../config/secret.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import type { Plan, PlannedCall, PlannedProbe } from "./plan.ts";
import { type PlanFile, planSchema } from "./plan-schema.ts";

/** A plan that was read. */
export interface LoadedPlan {
  readonly plan: Plan;
  /** Lines for the operator, about secrets that others can read. */
  readonly warnings: readonly string[];
}

type Add = (path: readonly Step[], message: string) => void;

/**
 * @param file YAML; relative paths in it start at its folder
 * @param env where `{ env }` secrets come from
 * @throws ConfigFileError when it cannot be read, ConfigError with every problem
 */
export async function loadPlan(file: string, env: NodeJS.ProcessEnv): Promise<LoadedPlan> {
  const doc = readDocument(await readConfigFile(file));
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const at = ({ path, ...rest }: DocumentProblem): ConfigProblem => ({
    file,
    ...rest,
    path: printPath(path),
  });
  const report = (list: ConfigProblem[]): Add => {
    return (path, message) => list.push(at({ ...doc.place(path), path, message }));
  };
  problems.push(...doc.problems.map(at));
  const read = doc.value === undefined ? undefined : planSchema.safeParse(doc.value);
  for (const issue of read?.error?.issues ?? []) problems.push(...told(doc, issue).map(at));
  const place = { folder: dirname(resolve(file)), env, add: report(problems), warn: report(warnings) };
  // What is in order of it is looked at, whatever is wrong elsewhere.
  const secrets = doc.value === undefined ? undefined : await loadSecrets(doc.value, place);
  const written = valueAt(doc.value, ["calls"]);
  checkNames(Array.isArray(written) ? written : [], place.add);
  for (const [index, call] of (read?.data?.calls ?? []).entries()) checkCall(index, call, place.add);
  if (read?.data === undefined || secrets === undefined || problems.length > 0)
    throw new ConfigError(
      problems.sort((a, b) => a.line - b.line || a.column - b.column),
      [],
      "the plan",
    );
  const { endpoint, calls, effectProbe, limits } = read.data;
  const { requests, perSecond, timeout, wait } = limits;
  return {
    plan: {
      source: "file",
      endpoint,
      ...secrets,
      hasSecond: secrets.tokens.second !== undefined,
      calls: calls.map(plannedCall),
      probe: effectProbe === undefined ? undefined : aimOf(effectProbe),
      limits: { requests, perSecond, timeoutMs: timeout, waitMs: wait },
    },
    warnings: warnings.map((one) => `${one.file}:${one.line}:${one.column} ${one.path}: ${one.message}`),
  };
}

interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly add: Add;
  readonly warn: Add;
}

/** What the plan refers to. */
async function loadSecrets(
  root: unknown,
  { folder, env, add, warn }: Place,
): Promise<Pick<Plan, "tokens" | "ca">> {
  const { principals, ca } = planSchema.shape;
  const named = principals.safeParse(valueAt(root, ["principals"])).data;
  const authority = ca.safeParse(valueAt(root, ["ca"])).data;
  const load = async (path: readonly Step[], work: () => Promise<string>): Promise<string | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      add(path, error.message.replace("the configuration file", "the plan"));
      return undefined;
    }
  };
  const tokenOf = (name: "first" | "second"): Promise<string | undefined> | undefined => {
    const secret = named?.[name]?.token;
    const path = ["principals", name, "token"];
    if (secret === undefined) return undefined;
    return load(path, async () => {
      const found = await loadSecret("file" in secret ? { file: resolve(folder, secret.file) } : secret, env);
      if (found.exposed) warn(path, "other users of this machine can read the file");
      return secretLine(found.bytes);
    });
  };
  const [first, second] = [await tokenOf("first"), await tokenOf("second")];
  if (second !== undefined && first === second)
    add(["principals", "second"], "has the same token as first, allowed that of another principal");
  if (named?.second !== undefined && named.first === undefined)
    add(["principals"], "second goes with first, allowed both");
  const pem =
    authority === undefined
      ? undefined
      : await load(["ca", "file"], async () =>
          (await loadFile(resolve(folder, authority.file))).bytes.toString("utf8"),
        );
  return { tokens: { first, second }, ca: pem };
}

/** @param calls as they are written, whatever else is wrong with them */
function checkNames(calls: readonly unknown[], add: Add): void {
  const names = calls.map((call) => (isObject(call) ? own(call, "name") : undefined));
  for (const [index, name] of names.entries()) {
    const earlier = names.indexOf(name);
    if (typeof name === "string" && earlier < index)
      add(["calls", index, "name"], `is the same name as calls[${earlier}].name, allowed once`);
  }
}

function checkCall(index: number, call: PlanFile["calls"][number], add: Add): void {
  for (const member of ["arguments", "otherArguments"] as const) {
    const given = call[member];
    if (call.resource !== undefined && given !== undefined && Object.keys(given).length > 0)
      add(["calls", index, member], "goes with a tool or a prompt, allowed nothing for a resource");
  }
}

function aimOf(
  read: Pick<PlanFile["calls"][number], "tool" | "prompt" | "resource" | "arguments">,
): PlannedProbe {
  const args: Json = read.arguments;
  if (read.tool !== undefined) return { method: "tools/call", target: read.tool, arguments: args };
  if (read.prompt !== undefined) return { method: "prompts/get", target: read.prompt, arguments: args };
  return { method: "resources/read", target: read.resource ?? "", arguments: args };
}

function plannedCall(read: PlanFile["calls"][number]): PlannedCall {
  return {
    name: read.name,
    ...aimOf(read),
    answers: read.answers,
    otherArguments: read.otherArguments,
    otherTarget: read.otherTarget,
    complete: read.complete,
    maxRounds: read.maxRounds,
    retryLimit: read.retryLimit,
    expiryMs: read.expiry,
    consentSurface: read.consentSurface,
    dataSensitivity: read.dataSensitivity,
    sideEffects: read.sideEffects,
  };
}

/** What may be the name of a setting, and hardly a secret: letters only. */
const NAME = /^[A-Za-z]{1,24}$/;

/** An issue of the schema in words. No value is quoted: it may be a secret in the wrong place. */
function told(doc: ConfigDocument, issue: z.core.$ZodIssue): DocumentProblem[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? "" : step));
  const one = (message: string): DocumentProblem[] => [{ ...doc.place(path), path, message }];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      ...doc.placeOfName(path, key),
      path,
      message: `${NAME.test(key) ? `${key} is` : "what stands here is"} no setting of a plan; docs/review.md lists those that there are`,
    }));
  if (issue.code === "custom")
    return one(`${issue.message}, allowed ${String(issue.params?.["allowed"] ?? "")}`);
  if (valueAt(doc.value, path) === undefined) return one(`is required and missing, allowed ${issue.message}`);
  const wrong = issue.code === "invalid_type" ? "has the wrong type" : "is out of range or not known";
  return one(`${wrong}, allowed ${issue.message}`);
}
