/**
 * What a span says of a request, out of its audit record: names of OpenTelemetry's semantic conventions for MCP, and `sealgate.*`.
 * No principal, address, session, URI, argument, state or text of a user or server; names of tools and prompts only of requests
 * that were let through. Pure.
 */
import type { AuditRecord } from "../audit/record.ts";
import { REFUSALS } from "../errors.ts";
import { countedMethod } from "../mcp/methods.ts";
import type { Attributes } from "./span.ts";

/** The same name on the side of the caller and on the side of the server. */
export interface Described {
  /** Of few values, apart from names that policy let through. */
  readonly name: string;
  readonly attributes: Attributes;
  /** Value of `error.type`, where the request failed. */
  readonly error: string | undefined;
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/;
/** A text can be anybody's words. */
const PLAIN_ID = /^-?\d{1,16}$/;

/** @param id JSON text of the request's id, once one was read */
export function describe(record: AuditRecord, id: string | null): Described {
  const { method, target, outcome, code } = record;
  const counted = method === undefined ? undefined : countedMethod(method);
  const ended = outcome !== "refused" && outcome !== "cancelled";
  const passed = ended || record.upstreamStatus !== undefined;
  const named = passed && target !== undefined && target.kind !== "resource" ? target : undefined;
  const error = errorOf(record);
  const rpc = code === undefined ? record.upstreamCode : REFUSALS[code].rpc;
  return {
    name: [counted ?? "HTTP", named?.name].filter((part) => part !== undefined).join(" "),
    error,
    attributes: {
      "mcp.method.name": counted,
      "mcp.protocol.version": VERSION.test(record.version ?? "") ? record.version : undefined,
      "gen_ai.operation.name": counted === "tools/call" ? "execute_tool" : undefined,
      "gen_ai.tool.name": named?.kind === "tool" ? named.name : undefined,
      "gen_ai.prompt.name": named?.kind === "prompt" ? named.name : undefined,
      "jsonrpc.request.id": id !== null && PLAIN_ID.test(id) ? id : undefined,
      "rpc.response.status_code": rpc === undefined || error === undefined ? undefined : String(rpc),
      "error.type": error,
      "network.transport": "tcp",
      "network.protocol.name": "http",
    },
  };
}

function errorOf({ outcome, code, upstreamCode }: AuditRecord): string | undefined {
  if (outcome === "refused") return code;
  if (outcome === "error") return upstreamCode === undefined ? "_OTHER" : String(upstreamCode);
  return outcome === "tool_error" || outcome === "cancelled" ? outcome : undefined;
}

/** What only this gateway can say. */
export function ownAttributes(record: AuditRecord): Attributes {
  return {
    "sealgate.outcome": record.outcome,
    "sealgate.cause": record.cause,
    "sealgate.chain": chainOf(record),
    "sealgate.round": record.round,
    "sealgate.state": record.state,
    "sealgate.replay": record.replay,
  };
}

/** The chain a request belongs to; of a state that was refused too, if it was one of ours. */
export const chainOf = ({ chain, brought }: AuditRecord): string | undefined => chain ?? brought?.chain;
