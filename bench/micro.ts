/** What reading and changing a message costs, beside JSON.parse + JSON.stringify. */
import { auditQuestions } from "../src/audit/questions.ts";
import { type AuditRecord, auditDeclared } from "../src/audit/record.ts";
import { digestParams } from "../src/json/canonical.ts";
import { scan } from "../src/json/scan.ts";
import { replace, splice } from "../src/json/splice.ts";
import { parseQuestions } from "../src/mcp/questions.ts";

const ROUNDS = 9;
const LIMITS = { bytes: 8 * 1024 * 1024, depth: 64 };

interface Contestant {
  readonly name: string;
  run(): unknown | Promise<unknown>;
}

/** Runs contestants in turn, several rounds, and prints the best time of each and its ratio to the last one. */
async function compare(title: string, times: number, contestants: readonly Contestant[]): Promise<void> {
  const best = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { run }] of contestants.entries()) {
      const started = performance.now();
      for (let i = 0; i < times; i++) {
        const pending = run();
        if (pending instanceof Promise) await pending;
      }
      const each = ((performance.now() - started) * 1000) / times;
      best[index] = Math.min(best[index] ?? each, each);
    }
  }
  const yardstick = best.at(-1) ?? 1;
  console.log(title);
  for (const [index, { name }] of contestants.entries()) {
    const each = best[index] ?? 0;
    console.log(
      `  ${name.padEnd(44)} ${each.toFixed(2).padStart(10)} µs   ${(each / yardstick).toFixed(2)}×`,
    );
  }
  console.log();
}

/** What arguments may be made of: the readers do not cost the same for all. */
const SHAPES: Readonly<Record<string, (index: number) => unknown>> = {
  rows: (index) => ({ id: index, name: `row ${index}`, tags: ["a", "b"], price: 12.5, note: 'plain "text"' }),
  "long texts": () => "The quick brown fox jumps over the lazy dog. ".repeat(8),
  "one digit each": (index) => index % 10,
};

function message(bytes: number, part = SHAPES["rows"]): Buffer {
  const rows: unknown[] = [];
  const params = { name: "put", arguments: { rows }, requestState: "U1" };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
  let left = bytes - JSON.stringify(body).length;
  while (left > 0) {
    const row = part?.(rows.length);
    rows.push(row);
    left -= JSON.stringify(row).length + 1;
  }
  return Buffer.from(JSON.stringify(body));
}

/** Compares scan + splice with parse + stringify. */
export async function benchMicro(): Promise<void> {
  for (const [bytes, times] of [
    [2 * 1024, 5_000],
    [1024 * 1024, 20],
  ] as const) {
    for (const [shape, part] of Object.entries(SHAPES)) {
      const body = message(bytes, part);
      await compare(`message of ${bytes / 1024} KiB, ${shape}, one value changed`, times, [
        {
          name: "scan + splice",
          run: () => {
            const doc = scan(body, LIMITS);
            const node = doc.get(doc.get(doc.root, "params"), "requestState");
            return node === undefined ? body : splice(body, [replace(doc, node, '"sealed"')]);
          },
        },
        {
          name: "JSON.parse + JSON.stringify",
          run: () => {
            const parsed = JSON.parse(body.toString());
            parsed.params.requestState = "sealed";
            return Buffer.from(JSON.stringify(parsed));
          },
        },
      ]);
    }
  }
  await benchAudit();
  const body = message(1024);
  const doc = scan(body, LIMITS);
  await compare("digest of 1 KiB of params", 2_000, [
    { name: "digestParams", run: () => digestParams(doc, doc.get(doc.root, "params")) },
  ]);
}

/** What audit does for a plain call, and where a question goes out; beside the writing of a record, which every request has. */
async function benchAudit(): Promise<void> {
  const declared = {
    ...{ form: true, url: true, sampling: false },
    ...{ samplingTools: false, samplingContext: false, roots: true },
  };
  const plain: AuditRecord = {
    type: "audit",
    time: new Date(0).toISOString(),
    requestId: "00000000-0000-4000-8000-000000000000",
    route: "/mcp",
    address: "127.0.0.1",
    principal: { issuer: "https://login.example.com", subject: "u-1001", groups: ["staff"], scopes: ["mcp"] },
    authenticatedBy: "jwt",
    method: "tools/call",
    era: "modern",
    version: "2026-07-28",
    target: { kind: "tool", name: "transfer" },
    policy: "tools",
    outcome: "complete",
    credential: "bearer",
    upstreamStatus: 200,
    latencyMs: 3,
  };
  const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const params = { mode: "form", message: "Transfer 50 to acct-9?", requestedSchema };
  const doc = scan(Buffer.from(JSON.stringify({ q: { method: "elicitation/create", params } })), LIMITS);
  const questions = parseQuestions(doc, doc.root);
  await compare("audit of one request", 20_000, [
    { name: "plain call: what the client declares", run: () => auditDeclared(declared) },
    { name: "a question goes out: digests of one form", run: () => auditQuestions(doc, questions) },
    {
      name: "a plain record with that as JSON",
      run: () => JSON.stringify({ ...plain, ...auditDeclared(declared) }),
    },
    { name: "a plain record as JSON", run: () => JSON.stringify({ ...plain }) },
  ]);
}
