/** What the breakable server asks of requests by the protocol: versions, mirrored headers, declared capabilities. */
import type { IncomingMessage } from "node:http";
import { decodeMirrored } from "../../../src/mcp/mirrored-headers.ts";
import type { Broken, Switch } from "./rules.ts";

type Json = Readonly<Record<string, unknown>>;

const VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";

/** Method → the member of its result. */
export const LISTS: Readonly<Record<string, string>> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

/** A JSON-RPC error with its HTTP status. */
export class Fault extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, status = 400, data?: Json) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** A state that is not taken. */
export const stateFault = (broken: Broken): Fault =>
  new Fault(broken("undefined-code") ? -32042 : -32602, "Invalid or expired requestState", 400, {
    reason: "invalid_request_state",
  });

/** Answer to `server/discover`. */
export const DISCOVERED: Json = {
  resultType: "complete",
  supportedVersions: [VERSION],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: "breakable", version: "1" },
  ttlMs: 0,
  cacheScope: "private",
};

/** Whether the client has declared what the questions need. @throws Fault */
export function checkCapabilities(questions: Json, params: Json, broken: Broken): void {
  if (broken("undeclared-capability")) return;
  const meta = params["_meta"] as Json | undefined;
  const declared = (meta?.[`${META}clientCapabilities`] ?? {}) as Record<string, Json>;
  for (const question of Object.values(questions) as Json[]) {
    const needed = neededFor(question);
    const has = Object.entries(needed).every(([name, modes]) => {
      const own = declared[name];
      const isBare = own !== undefined && Object.keys(own).length === 0;
      return (
        own !== undefined &&
        Object.keys(modes as Json).every((mode) => mode in own || (mode === "form" && isBare))
      );
    });
    if (!has) throw new Fault(-32021, "Missing client capability", 400, { requiredCapabilities: needed });
  }
}

/** Whether the headers say what the body says. @throws Fault */
export function checkHeaders({ headers }: IncomingMessage, message: Json, broken: Broken): void {
  const params = (message["params"] ?? {}) as Json;
  const meta = params["_meta"] as Json | undefined;
  const method = String(message["method"]);
  const isNamed = /^(tools\/call|prompts\/get|resources\/read)$/.test(method);
  const mirrored: [Switch, string, unknown][] = [
    ["version-header", "mcp-protocol-version", meta?.[`${META}protocolVersion`]],
    ["method-header", "mcp-method", method],
    ...(isNamed
      ? ([["name-header", "mcp-name", params["name"] ?? params["uri"]]] as [Switch, string, unknown][])
      : []),
  ];
  for (const [rule, header, value] of mirrored) {
    const sent = headers[header];
    if (sent === undefined ? broken("missing-headers") : broken(rule)) continue;
    const decoded = sent === undefined ? undefined : decodeMirrored(String(sent));
    if (decoded !== value) throw new Fault(-32020, `${header} does not fit the body`, 400);
  }
  if (meta?.[`${META}protocolVersion`] !== VERSION && !broken("unknown-version"))
    throw new Fault(-32022, "Unsupported protocol version", 400, {
      supported: [VERSION],
      requested: "other",
    });
}

/** The capabilities that a question needs. */
function neededFor(question: Json): Json {
  if (question["method"] === "sampling/createMessage") return { sampling: {} };
  if (question["method"] === "roots/list") return { roots: {} };
  const isUrl = (question["params"] as Json | undefined)?.["mode"] === "url";
  return { elicitation: isUrl ? { url: {} } : { form: {} } };
}

/** The same value with the members of its objects sorted. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
