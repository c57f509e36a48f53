/** The requests of a review as a client of revision 2026-07-28 writes them: message and headers. Pure. */
import { scan } from "../json/scan.ts";
import { CAPABILITIES_KEY, CLIENT_INFO_KEY, MODERN_VERSION, VERSION_KEY } from "../mcp/era.ts";
import { encodeMirrored } from "../mcp/mirrored-headers.ts";
import { readAnnotations } from "../mcp/param-annotations.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { targetMember } from "./permits.ts";

/** Everything that the reviewer can answer. */
export const CAPABILITIES: Json = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** Bounds for a tool's schema, which is looked at for annotations. */
const SCHEMA = { bytes: 1_048_576, depth: 64 };

/** A request as it leaves. */
export interface Written {
  readonly message: Json;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @param params without `_meta`
 * @param listed what the server lists of the target: its annotations say which arguments are headers too
 */
export function writeRequest(
  id: string | number,
  method: string,
  params: Json,
  {
    version,
    capabilities,
    listed,
    protocolVersion = MODERN_VERSION,
  }: {
    readonly version: string;
    readonly capabilities: Json;
    readonly listed?: Json | undefined;
    readonly protocolVersion?: string | undefined;
  },
): Written {
  const meta = {
    [VERSION_KEY]: protocolVersion,
    [CLIENT_INFO_KEY]: { name: "sealgate-review", version },
    [CAPABILITIES_KEY]: capabilities,
  };
  const member = targetMember(method);
  const target = member === undefined ? undefined : params[member];
  return {
    message: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "accept-encoding": "identity",
      "user-agent": `sealgate-review/${version}`,
      "mcp-protocol-version": protocolVersion,
      "mcp-method": method,
      ...(typeof target === "string" ? { "mcp-name": encodeMirrored(target) } : {}),
      ...(method === "tools/call" ? paramHeaders(listed, params["arguments"]) : {}),
    },
  };
}

/** `Mcp-Param-*` of a call, by the annotations of the tool's schema. */
function paramHeaders(listed: Json | undefined, args: unknown): Record<string, string> {
  const text = JSON.stringify(listed?.["inputSchema"] ?? {});
  if (!text.includes("x-mcp-header") || Buffer.byteLength(text) > SCHEMA.bytes) return {};
  const doc = scan(Buffer.from(text), SCHEMA);
  const read = readAnnotations(doc, doc.root);
  if (!("annotations" in read)) return {};
  return Object.fromEntries(
    read.annotations.flatMap(({ header, path }) => {
      let value: unknown = args;
      for (const key of path) value = isObject(value) ? own(value, key) : undefined;
      return ["string", "number", "boolean"].includes(typeof value)
        ? [[header, encodeMirrored(String(value))]]
        : [];
    }),
  );
}
