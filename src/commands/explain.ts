/**
 * `sealgate explain`: which policy decides on a call, and why. Asks the authorizer that the gateway asks, about the operations
 * that the gateway makes of a message; nothing is decided here. What operators set at run time is not known here.
 */
import { refusalOf, scopesOf, type Wanted, wantedBy } from "../admission.ts";
import {
  type Authorizer,
  BY_DEFAULT,
  BY_DOT_SEGMENT,
  BY_OPEN_METHOD,
  BY_SPELLING,
  BY_UNREADABLE,
  createAuthorizer,
  type Decision,
  type Explanation,
  type PolicyReading,
} from "../authorization.ts";
import { compileCapability } from "../capability/policy.ts";
import type { Operation } from "../compiled-policy.ts";
import { callerIssuers, tokenIssuers } from "../config/caller-issuers.ts";
import type { Ask, Config } from "../config/schema.ts";
import { readConfig } from "../config/without-files.ts";
import { Refusal } from "../errors.ts";
import { MRTR_METHODS, TASK_METHODS } from "../mcp/methods.ts";
import type { Principal } from "../principal/principal.ts";
import { EXIT } from "./exit.ts";
import { type Approval, approvalLines, approvalOf } from "./explain-approval.ts";
import { type GivenCall, parsePrincipal, readCall } from "./explain-input.ts";
import { UsageError } from "./usage-error.ts";

const TASK_CALL =
  "--call is about a task, and only the gateway can read which tool that is of. Whoever may not call the tool has none of its tasks: explain tools/call with it";

/** One operation of the message with what was decided of it. */
interface Judged extends Explanation {
  readonly method: string;
  readonly target: Operation["target"];
}

/** The whole answer, as `--json` prints it. */
interface Report {
  readonly allowed: boolean;
  /** What the client would get instead; absent when allowed. */
  readonly refusal?: { readonly reason: string; readonly code: number; readonly message: string };
  /** Why this caller never comes as far as policy. */
  readonly lockedOut?: string;
  /** What this needs of scopes, as a challenge names it, and whether the caller has it all; absent where it needs none. */
  readonly scopes?: { readonly needed: readonly string[]; readonly held: boolean };
  readonly operations: readonly Judged[];
  /** Absent where the user is not asked before it runs. */
  readonly approval?: Approval;
  /** Route → what its server could ask while it answers, where policy lets the call pass. */
  readonly questions: Readonly<Record<string, readonly Ask[]>>;
}

/**
 * Prints the explanation.
 * @param write takes what belongs on standard output
 * @returns the exit code: 0 allowed, 77 not allowed
 * @throws UsageError, ConfigError, ConfigFileError
 */
export async function explain(
  options: GivenCall & {
    readonly config: string;
    readonly principal: string;
    readonly route: string | undefined;
    readonly json: boolean;
  },
  write: (text: string) => unknown = (text) => process.stdout.write(text),
): Promise<number> {
  const principal = parsePrincipal(options.principal);
  const { config } = await readConfig(options.config);
  const { body, depth } = config.server.limits;
  const { doc, message } = await readCall(options, { bytes: body, depth });
  if (TASK_METHODS.has(message.method)) throw new UsageError(TASK_CALL);
  const routes = routesOf(config, options.route);
  let wanted: Wanted;
  try {
    wanted = wantedBy(doc, message);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`--call is refused whatever policy says: ${error.entry.message} (${error.detail})`);
  }
  const authorizer = createAuthorizer(config.authorization);
  const operations = wanted.operations.map((operation): Judged => {
    const { decision, policies } = authorizer.explain(principal, operation);
    return { method: operation.method, target: operation.target, decision, policies };
  });
  const locked = lockedOut(principal, config);
  const scopes = scopesNeeded(authorizer, principal, config, wanted, operations);
  const report =
    locked === undefined
      ? withApproval(reportOf(wanted, operations, routes, { anonymous: principal.anonymous, scopes }), () =>
          approvalOf(config, routes, { doc, message }, principal, wanted.target, operations[0]?.decision),
        )
      : lockedReport(locked, operations);
  write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : printed(report));
  return report.allowed ? EXIT.ok[0] : EXIT.denied[0];
}

function withApproval(report: Report, approval: () => Approval | undefined): Report {
  const asked = report.allowed ? approval() : undefined;
  return asked === undefined ? report : { ...report, approval: asked };
}

/** Why the gateway lets this caller ask nothing at all; undefined where it asks policy. */
function lockedOut({ anonymous, issuer }: Principal, { authentication }: Config): string | undefined {
  const { mode } = authentication;
  if (anonymous)
    return mode === "required" ? "a caller without a token is refused before policy is asked" : undefined;
  return callerIssuers(authentication).some((entry) => entry.issuer === issuer)
    ? undefined
    : "no issuer of this name is configured, so none of its tokens is taken";
}

function lockedReport(why: string, operations: readonly Judged[]): Report {
  const { code, entry } = new Refusal("unauthorized", "authentication");
  const refusal = { reason: code, code: entry.rpc, message: entry.message };
  return { allowed: false, refusal, lockedOut: why, operations, questions: {} };
}

function routesOf({ routes }: Config, path: string | undefined): Config["routes"] {
  const chosen = routes.filter((route) => path === undefined || route.path === path);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`--route is none of ${routes.map((route) => route.path).join(", ")}`);
}

/** What the gateway would ask for before anything that policy refuses, by the same code. */
function scopesNeeded(
  authorizer: Authorizer,
  { issuer, scopes }: Principal,
  { authentication }: Config,
  { operations }: Wanted,
  judged: readonly Judged[],
): Report["scopes"] {
  const issuers = tokenIssuers(authentication).filter((entry) => entry.issuer === issuer);
  const required = issuers[0]?.requiredScopes ?? [];
  const wanted = operations.flatMap((operation, index) => {
    const decision = judged[index]?.decision;
    return decision === undefined ? [] : scopesOf(authorizer, operation, decision);
  });
  const needed = [...new Set([...required, ...wanted])];
  return needed.length === 0 ? undefined : { needed, held: authorizer.scopes.covers(scopes, needed) };
}

function reportOf(
  { target, operations }: Wanted,
  judged: readonly Judged[],
  routes: Config["routes"],
  { anonymous, scopes }: Pick<Principal, "anonymous"> & { readonly scopes: Report["scopes"] },
): Report {
  const at = judged.findIndex(({ decision }) => !decision.allowed);
  const [operation, denied] = [operations[at], judged[at]?.decision];
  const asked = scopes === undefined ? {} : { scopes };
  if (scopes?.held === false) {
    const { code, entry } = new Refusal(anonymous ? "unauthorized" : "insufficient_scope", "scope");
    const refusal = { reason: code, code: entry.rpc, message: entry.message };
    return { allowed: false, refusal, ...asked, operations: judged, questions: {} };
  }
  const tool = target?.kind === "tool" ? target.name : undefined;
  if (operation !== undefined && denied?.allowed === false) {
    const { code, entry } = refusalOf(operation, denied);
    const refusal = { reason: code, code: entry.rpc, message: entry.message };
    return { allowed: false, refusal, ...asked, operations: judged, questions: {} };
  }
  const asks = MRTR_METHODS.has(operations[0].method) ? routes : [];
  const questions = asks.map(({ path, capability }) => {
    return [path, [...compileCapability(capability).allowedAsks(tool)]] as const;
  });
  return { allowed: true, ...asked, operations: judged, questions: Object.fromEntries(questions) };
}

function printed({ refusal, lockedOut: why, scopes, operations, approval, questions }: Report): string {
  const head = why === undefined ? [] : [`denied: ${why}. Policy alone would say:`, ""];
  const lines = operations.flatMap(({ method, target, decision, policies }) => [
    `${method}${target === undefined ? "" : ` ${target.kind} ${JSON.stringify(target.name)}`}`,
    ...policies.map((policy) => `  ${policyLine(policy)}`),
    `  ${decisionLine(decision)}`,
    "",
  ]);
  if (scopes !== undefined) {
    lines.push(
      `Scopes needed: ${scopes.needed.join(" ")}; the caller ${scopes.held ? "has them" : "lacks some"}`,
    );
  }
  if (refusal !== undefined) {
    lines.push(`The client is told: ${refusal.message} (${refusal.code}, ${refusal.reason})`);
  }
  if (approval !== undefined) lines.push(...approvalLines(approval));
  for (const [path, asks] of Object.entries(questions)) {
    lines.push(`The server behind ${path} may ask: ${asks.length === 0 ? "nothing" : asks.join(", ")}`);
  }
  return `${[...head, ...lines].join("\n")}\n`;
}

function policyLine({ id, effect, asked, unfit }: PolicyReading): string {
  const found =
    unfit !== undefined
      ? `does not match: ${unfit}`
      : asked
        ? "matches"
        : "would match, but the decision falls before it is asked";
  return `${effect.padEnd(5)}  ${id}: ${found}`;
}

const WORDS: Readonly<Record<string, string>> = {
  [BY_DEFAULT]: "by authorization.default, since no policy matches",
  [BY_OPEN_METHOD]: "since the method is open to every caller; what it returns is filtered",
  [BY_DOT_SEGMENT]: "since patterns cannot judge a uri with dot segments",
  [BY_SPELLING]: "since users are asked about the method that is spelled otherwise",
  [BY_UNREADABLE]: "since patterns cannot judge a uri that is not read by all in one way",
};

function decisionLine(decision: Decision): string {
  const why = WORDS[decision.policy] ?? `by policy ${decision.policy}`;
  const more =
    !decision.allowed && decision.byArguments === true ? "; with other arguments it could be allowed" : "";
  return `${decision.allowed ? "allowed" : "denied"} ${why}${more}`;
}
