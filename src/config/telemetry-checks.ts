/** Checks of telemetry against the rest. Part of `cross-checks.ts`, pure like it. */
import { isLoopback, parseUrl } from "./addresses.ts";
import type { Report, Sound } from "./report.ts";

/** See the file's header. */
export function checkTelemetry({ telemetry, log }: Sound, report: Report): void {
  const traces = telemetry?.traces;
  const url = traces === undefined ? undefined : parseUrl(traces.endpoint);
  const names = new Set<string>();
  for (const [index, { name }] of (traces?.headers ?? []).entries()) {
    const path = ["telemetry", "traces", "headers", index, "name"];
    if (names.has(name)) report.problem(path, "names a header a second time");
    if (name === "user-agent") report.problem(path, "is a header the gateway sets itself");
    names.add(name);
  }
  if (names.size > 0 && url?.protocol === "http:" && !isLoopback(url.hostname)) {
    report.warning(["telemetry", "traces", "headers"], "cross the network in clear: the endpoint is http");
  }
  if (log?.access === "on" && (log.level === "warn" || log.level === "error")) {
    report.warning(
      ["log", "access"],
      "does nothing: its lines are of level info, and log.level leaves them out",
    );
  }
}
