/** Opens what the section `telemetry` asks for. */
import { hostname } from "node:os";
import type { LoadedConfig } from "../config/load.ts";
import type { Log } from "../log.ts";
import { programVersion } from "../program-version.ts";
import { SpanExporter, type SpanOutcome } from "./exporter.ts";
import { addressOf, RequestTrace, type TraceParts } from "./request-trace.ts";

/** Records requests. */
export interface Tracer {
  /** @param start unix milliseconds */
  begin(start: number): RequestTrace;
  /** Sends what waits, for a moment. */
  close(): Promise<void>;
}

/** @param count told what became of spans */
export function openTracer(
  { config, secrets }: LoadedConfig,
  { log, count }: { readonly log: Log; readonly count: (outcome: SpanOutcome, spans: number) => void },
): Tracer | undefined {
  const traces = config.telemetry?.traces;
  if (traces === undefined) return undefined;
  const version = programVersion();
  const exporter = new SpanExporter({
    endpoint: traces.endpoint,
    headers: Object.fromEntries(secrets.traceHeaders ?? []),
    resource: {
      "service.name": traces.serviceName,
      "service.version": version,
      "service.instance.id": `${hostname()}:${process.pid}`,
    },
    ...{ version, log, count },
  });
  const parts: TraceParts = {
    sample: traces.sample,
    export: (spans) => exporter.add(spans),
    server: addressOf(config.server.publicUrl),
  };
  return {
    begin: (start) => new RequestTrace(parts, start),
    close: () => exporter.close(),
  };
}
