/** The options of `sealgate review`, read from the command line into a plan. Everything wrong with them is told at once. */

import { resolve } from "node:path";
import { parseUrl } from "../config/addresses.ts";
import { loadFile, loadSecret, SecretError, secretLine } from "../config/secret.ts";
import { parseDuration } from "../config/units.ts";
import type { Allowed } from "../review/discovery.ts";
import type { Plan } from "../review/plan.ts";
import { loadPlan } from "../review/plan-file.ts";
import { MAX_RATE, MAX_TIMEOUT_MS, MAX_WAIT_MS } from "../review/plan-schema.ts";
import { REPORTS, type ReportFormat } from "../review/report/reports.ts";
import { UsageError } from "./usage-error.ts";

/** What `review` is asked for. */
export interface ReviewOptions {
  /** Without calls where they are to be discovered. */
  readonly plan: Plan;
  readonly allowed: Allowed;
  /** A tool that is looked up in the server's list. */
  readonly probe: string | undefined;
  readonly remote: boolean;
  readonly dryRun: boolean;
  readonly showArguments: boolean;
  readonly reports: readonly (readonly [ReportFormat, string])[];
}

/** Options that a plan file stands in place of. */
const WITHOUT_PLAN = [
  ...[
    "url",
    "allow",
    "effect-probe",
    "token-file",
    "token-env",
    "second-token-file",
    "second-token-env",
    "ca",
  ],
];

/** @throws UsageError with one sentence for each mistake, and what the plan file throws */
export async function readReviewOptions(
  given: ReadonlyMap<string, string>,
  env: NodeJS.ProcessEnv,
): Promise<ReviewOptions> {
  const wrong: string[] = [];
  const file = given.get("plan");
  if (file !== undefined)
    for (const name of WITHOUT_PLAN)
      if (given.has(name)) wrong.push(`--${name} does not go with --plan, which says it`);
  if (file === undefined && !given.has("url")) wrong.push("review needs --plan FILE or --url URL");
  const reports = (Object.keys(REPORTS) as ReportFormat[]).flatMap((format) => {
    const path = given.get(format);
    return path === undefined ? [] : [[format, resolve(path)] as const];
  });
  if (new Set(reports.map(([, path]) => path)).size < reports.length)
    wrong.push("two reports would be written to one file");
  if (given.has("dry-run") && reports.length > 0)
    wrong.push("--dry-run tries nothing, so there is nothing to report");
  const limits = {
    perSecond: rateOf(given.get("rate"), wrong),
    waitMs: durationOf("wait", given, MAX_WAIT_MS, wrong),
    timeoutMs: durationOf("timeout", given, MAX_TIMEOUT_MS, wrong),
  };
  const url = file === undefined ? urlOf(given.get("url"), wrong) : "";
  const allowed = allowedOf(given.get("allow"), wrong);
  const secrets = file === undefined ? await secretsOf(given, env, wrong) : undefined;
  if (wrong.length > 0) throw new UsageError(wrong.join("\nsealgate: "));
  const plan = secrets === undefined ? await planOf(file ?? "", env) : discoveryPlan(url, secrets);
  return {
    plan: {
      ...plan,
      limits: {
        requests: plan.limits.requests,
        perSecond: limits.perSecond ?? plan.limits.perSecond,
        waitMs: limits.waitMs ?? plan.limits.waitMs,
        timeoutMs: limits.timeoutMs ?? plan.limits.timeoutMs,
      },
    },
    allowed,
    probe: given.get("effect-probe"),
    remote: given.has("remote"),
    dryRun: given.has("dry-run"),
    showArguments: given.has("show-arguments"),
    reports,
  };
}

async function planOf(file: string, env: NodeJS.ProcessEnv): Promise<Plan> {
  const { plan, warnings } = await loadPlan(file, env);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  return plan;
}

type Secrets = Pick<Plan, "tokens" | "ca">;

function discoveryPlan(endpoint: string, secrets: Secrets): Plan {
  return {
    source: "discovery",
    endpoint,
    ...secrets,
    hasSecond: secrets.tokens.second !== undefined,
    calls: [],
    probe: undefined,
    limits: { requests: 2_000, perSecond: 10, timeoutMs: 30_000, waitMs: 0 },
  };
}

function urlOf(text: string | undefined, wrong: string[]): string {
  if (text === undefined) return "";
  const url = parseUrl(text);
  if (url === undefined || !/^https?:\/\//i.test(text)) wrong.push("--url is not an http:// or https:// URL");
  else if (url.username !== "" || url.password !== "") wrong.push("--url must not hold credentials");
  else if (text.includes("#")) wrong.push("--url must not hold a fragment");
  return text;
}

function allowedOf(text: string | undefined, wrong: string[]): Allowed {
  if (text === undefined) return "nothing";
  if (text === "read-only") return text;
  const names = text.split(",");
  if (names.some((name) => name === "" || name === "read-only"))
    wrong.push("--allow is read-only, or names with a comma between them");
  return names;
}

function rateOf(text: string | undefined, wrong: string[]): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (rate < 1 || rate > MAX_RATE) wrong.push(`--rate is not a whole number from 1 to ${MAX_RATE}`);
  return rate;
}

function durationOf(
  name: string,
  given: ReadonlyMap<string, string>,
  most: number,
  wrong: string[],
): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0 || ms > most)
    wrong.push(`--${name} is not a duration with its unit such as 30s or 5m, of at most ${most / 60_000}m`);
  return ms;
}

async function secretsOf(
  given: ReadonlyMap<string, string>,
  env: NodeJS.ProcessEnv,
  wrong: string[],
): Promise<Secrets> {
  const reading = async <T>(option: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      // A path on the command line starts where the command was given.
      wrong.push(`--${option}: ${error.message.replace(/ \(a relative path [^)]*\)$/, "")}`);
      return undefined;
    }
  };
  const tokenOf = async (prefix: "" | "second-"): Promise<string | undefined> => {
    const [file, name] = [given.get(`${prefix}token-file`), given.get(`${prefix}token-env`)];
    if (file !== undefined && name !== undefined)
      wrong.push(`--${prefix}token-file and --${prefix}token-env are given both`);
    if (file === undefined && name === undefined) return undefined;
    const option = `${prefix}token-${file === undefined ? "env" : "file"}`;
    const secret = file === undefined ? { env: name ?? "" } : { file: resolve(file) };
    return reading(option, async () => secretLine((await loadSecret(secret, env)).bytes));
  };
  const [first, second] = [await tokenOf(""), await tokenOf("second-")];
  if (second !== undefined && second === first) wrong.push("the second token is the first one");
  if (given.has("second-token-file") || given.has("second-token-env"))
    if (!given.has("token-file") && !given.has("token-env"))
      wrong.push("a second token goes with a first one");
  const ca = given.get("ca");
  const pem =
    ca === undefined
      ? undefined
      : await reading("ca", async () => (await loadFile(resolve(ca))).bytes.toString("utf8"));
  return { tokens: { first, second }, ca: pem };
}
