/** What a trace costs: CPU of one request's spans, and of their text. `node bench/traces.ts` */

import type { AuditRecord } from "../src/audit/record.ts";
import { RequestTrace } from "../src/telemetry/request-trace.ts";
import { printSpans, type Span } from "../src/telemetry/span.ts";

const ROUNDS = 9;
const REQUESTS = 20_000;
const record: AuditRecord = {
  ...{ type: "audit", time: "2026-12-01T09:00:00.000Z", requestId: "0b5f1f1e-6d6a-4f0e-9d3e-0c8f5a3f7a11" },
  ...{ route: "/mcp", era: "modern", version: "2026-07-28", method: "tools/call", outcome: "input_required" },
  target: { kind: "tool", name: "transfer" },
  principal: { issuer: "https://login.example.com", subject: "alice" },
  ...{
    chain: "q0YkP1hZ9mX2c7bTnR4v8A",
    round: 1,
    jti: "q0YkP1hZ9mX2c7bTnR4v8A",
    upstreamStatus: 200,
    latencyMs: 3,
  },
};
const headers = new Map([["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]]);
const up = { accept: "application/json", traceparent: headers.get("traceparent") ?? "" };
const upstream = new URL("http://127.0.0.1:3001/mcp");
const ended = { record, id: "7", upstream, http: { method: "POST", status: 200, version: "1.1" } };

let taken: readonly Span[] = [];
const parts = {
  sample: 1,
  server: {},
  export(spans: readonly Span[]): void {
    taken = spans;
  },
};

function best(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let count = 0; count < REQUESTS; count += 1) work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / REQUESTS);
  }
  return least;
}

const spans = best(() => {
  const trace = new RequestTrace(parts, 1_790_000_000_000);
  trace.readHeaders(headers);
  trace.headersUp(up);
  trace.beginCall();
  trace.end(ended);
});
const batch = Array.from({ length: 171 }, () => taken).flat();
let bytes = 0;
const text = best(() => {
  bytes += printSpans({}, { name: "sealgate", version: "1" }, taken).length;
});
const length = printSpans({}, { name: "sealgate", version: "1" }, batch).length / batch.length;
console.log(`three spans of a request: ${spans.toFixed(1)} µs; their text: ${text.toFixed(1)} µs`);
console.log(`${Math.round(length)} bytes a span in a batch of ${batch.length} (${bytes > 0})`);
