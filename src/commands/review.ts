/** `sealgate review`: reviews an endpoint, prints what was found, and writes the reports. */
import { setMaxListeners } from "node:events";
import { access } from "node:fs/promises";
import { errorCode } from "../error-code.ts";
import { isObject, type Json } from "../mcp/parsed.ts";
import { programVersion } from "../program-version.ts";
import { Inconclusive } from "../review/check.ts";
import { CHECKS } from "../review/checks.ts";
import {
  type Ask,
  type Discovered,
  discoveredCalls,
  isAnswered,
  isReadOnly,
  type Listing,
  NoReview,
  survey,
  unanswered,
  unreadLists,
} from "../review/discovery.ts";
import { openDryWire } from "../review/dry-run.ts";
import { missingExample, objectExample } from "../review/example-value.ts";
import { CLOCK } from "../review/pace.ts";
import { checkPermitted } from "../review/permits.ts";
import type { Plan } from "../review/plan.ts";
import { checkHost, NotHere } from "../review/reach.ts";
import { createRedaction } from "../review/redaction.ts";
import { conclusionOf, counted } from "../review/report/findings.ts";
import { progressTo } from "../review/report/progress.ts";
import { REPORTS } from "../review/report/reports.ts";
import { isColoured, terminalReport } from "../review/report/terminal.ts";
import { shown } from "../review/report/text.ts";
import { CAPABILITIES, writeRequest } from "../review/requests.ts";
import { review as run } from "../review/review.ts";
import { openWire, type Wire } from "../review/wire.ts";
import { EXIT } from "./exit.ts";
import { CannotWrite, writeNew } from "./files.ts";
import type { ReviewOptions } from "./review-options.ts";
import { heedStopSignals } from "./stop-signals.ts";
import { UsageError } from "./usage-error.ts";

/** @returns the exit code */
export async function review(options: ReviewOptions): Promise<number> {
  const { reports, dryRun } = options;
  const version = programVersion();
  // Nothing is tried for a report that could not be written.
  for (const [, file] of reports) await checkAbsent(file);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  heedStopSignals(() => {
    // Whoever asks twice does not want to wait for what is under way.
    if (controller.signal.aborted) process.exit(EXIT.undecided[0]);
    controller.abort(new Error("stopped"));
  });
  const { signal } = controller;
  let id = 0;
  const nextId = (): number => {
    id += 1;
    return id;
  };
  const wire = dryRun ? dryWire(options) : await liveWire(options, signal);
  const progress = progressTo({
    write: (text) => void process.stderr.write(text),
    live: process.stderr.isTTY === true && process.env["TERM"] !== "dumb",
    colour: isColoured(process.env, process.stderr.isTTY === true),
    columns: () => process.stderr.columns ?? 80,
  });
  try {
    const ask: Ask = (method, params = {}) => {
      const written = writeRequest(nextId(), method, params, { version, capabilities: CAPABILITIES });
      checkPermitted(written.message, written.headers, [], false);
      return wire.send({ label: `discovery: ${method}`, caller: "first", ...written });
    };
    const listing = await survey(ask, options.plan.tokens.first !== undefined);
    const { plan, left, unreviewed } = planned(options, listing);
    const redaction = createRedaction(plan, options.showArguments || plan.source === "discovery");
    if (!dryRun) for (const text of unreadLists(listing)) progress.note(redaction.found(text));
    if (plan.calls.length === 0 && !dryRun) progress.note(offered(listing));
    for (const text of left) progress.note(text);
    const { record, stopped, fault } = await run({
      ...{ plan, wire, listing, signal, version, nextId, checks: CHECKS, clock: CLOCK },
      showArguments: options.showArguments,
      forbidden: [...forbiddenBy(plan), ...left],
      unreviewed,
      watcher: dryRun ? SILENT : progress,
    });
    progress.end();
    if (dryRun) return EXIT.ok[0];
    process.stdout.write(
      terminalReport(record, {
        colour: isColoured(process.env, process.stdout.isTTY === true),
        columns: process.stdout.columns ?? 100,
      }),
    );
    for (const [format, file] of reports) await writeNew(file, REPORTS[format](record));
    if (fault !== undefined) throw fault;
    if (stopped) process.stderr.write("sealgate: stopped; what was not tried is inconclusive\n");
    const { verdict } = conclusionOf(record);
    return EXIT[verdict === "fail" ? "failed" : verdict === "inconclusive" ? "undecided" : "ok"][0];
  } catch (error) {
    progress.end();
    if (error instanceof NoReview || error instanceof NotHere || error instanceof Inconclusive) {
      const words = shown(createRedaction(options.plan, false).found(error.message), 1_000);
      process.stderr.write(`sealgate: ${options.plan.endpoint.split("?")[0]}: ${words}\n`);
      return EXIT.unavailable[0];
    }
    if (signal.aborted) return EXIT.undecided[0];
    throw error;
  } finally {
    await wire.close();
  }
}

const SILENT = { checking: () => undefined, found: () => undefined, note: () => undefined };

async function checkAbsent(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new CannotWrite(`cannot write ${file}: it exists already and is never overwritten`);
}

async function liveWire({ plan, remote }: ReviewOptions, signal: AbortSignal): Promise<Wire> {
  const url = new URL(plan.endpoint);
  try {
    await checkHost(url, remote);
  } catch (error) {
    if (error instanceof NotHere) throw new UsageError(error.message);
    const code = errorCode(error) ?? "no address";
    const hint = remote ? "" : "; an endpoint on another machine needs --remote as well";
    throw Object.assign(new Error(`${url.hostname} cannot be resolved (${code})${hint}`, { cause: error }), {
      syscall: "getaddrinfo",
    });
  }
  const { endpoint, tokens, ca, limits } = plan;
  if (remote && url.protocol === "http:" && tokens.first !== undefined)
    process.stderr.write(
      "warning: --remote with an http:// endpoint: tokens and answers cross the network in clear\n",
    );
  return openWire({ url: endpoint, tokens, ca, remote, ...limits, clock: CLOCK, signal });
}

/** Prints a line for each request. */
function dryWire({ plan, showArguments }: ReviewOptions): Wire {
  const redaction = createRedaction(plan, showArguments);
  process.stdout.write("Nothing is sent. With a server that asks once, these requests would be:\n");
  return openDryWire(plan, CLOCK, (exchange) => {
    const { number, label, caller, sent } = redaction.exchange(exchange);
    const params = isObject(sent.message["params"]) ? sent.message["params"] : {};
    const { _meta, ...rest } = params;
    process.stdout.write(
      `${number} ${caller} ${label}\n  ${String(sent.message["method"])} ${JSON.stringify(rest)}\n`,
    );
  });
}

/** The plan with what was discovered, and a sentence for all that was not allowed. */
function planned(
  { plan, allowed, probe, dryRun }: ReviewOptions,
  listing: Listing,
): Pick<Discovered, "left" | "unreviewed"> & { readonly plan: Plan } {
  if (plan.source === "file") return { plan, left: [], unreviewed: [] };
  if (dryRun)
    return { plan, left: ["without a plan, what is called depends on these lists"], unreviewed: [] };
  if (!isAnswered(listing)) throw new NoReview(unanswered(listing));
  const { calls, ...rest } = discoveredCalls(listing, allowed);
  return {
    plan: { ...plan, calls, probe: probe === undefined ? undefined : probeOf(probe, listing) },
    ...rest,
  };
}

function offered({ tools, prompts, resources }: Listing): string {
  const reading = tools.filter(isReadOnly).length;
  const say = reading === 1 ? "says it only reads" : "say they only read";
  return `the server lists ${counted(tools.length, "tool")} (${reading} ${say}), ${counted(prompts.length, "prompt")}, ${counted(resources.length, "resource")}`;
}

/** @throws NoReview for what the server does not call read-only, or what cannot be called without a plan */
function probeOf(name: string, listing: Listing): Plan["probe"] {
  const tool: Json | undefined = listing.tools.find((entry) => entry["name"] === name);
  if (tool === undefined) throw new NoReview(`the server lists no tool ${name} for --effect-probe`);
  if (!isReadOnly(tool))
    throw new NoReview(`the tool ${name} does not say that it only reads; a plan file can name it`);
  const args = objectExample(tool["inputSchema"]);
  if (!("value" in args))
    throw new NoReview(
      `the arguments of ${name} cannot be made (${missingExample(args)}); a plan file can give them`,
    );
  return { method: "tools/call", target: name, arguments: args.value };
}

/** What the plan does not allow, for the record. */
function forbiddenBy({ calls, hasSecond, limits }: Plan): string[] {
  return [
    ...calls.filter((call) => !call.complete).map(({ name }) => `${name}: the plan does not allow to accept`),
    ...(hasSecond ? [] : ["there was no second principal to try with"]),
    ...(limits.waitMs > 0 ? [] : ["waiting for a state to expire was not allowed"]),
  ];
}
