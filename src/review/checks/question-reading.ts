/** What a server has asked, judged by the rules that the gateway holds questions to. Pure. */
import { Refusal } from "../../errors.ts";
import { scan } from "../../json/scan.ts";
import type { AddressPolicy } from "../../mcp/address-findings.ts";
import type { Declared, Need } from "../../mcp/capabilities.ts";
import { isObject, own } from "../../mcp/parsed.ts";
import { questionFindings } from "../../mcp/question-findings.ts";
import { parseQuestions } from "../../mcp/questions.ts";
import { kindOf } from "../answering.ts";
import type { Exchange } from "../exchange.ts";
import { MAX_ANSWER_BYTES } from "../reading.ts";

/** What the reviewer declares (`CAPABILITIES`). */
const DECLARED: Declared = {
  form: true,
  url: true,
  sampling: true,
  samplingTools: false,
  samplingContext: false,
  roots: true,
};
/** Reviewed servers may run on this machine, and their own pages with them. */
const ADDRESSES: AddressPolicy = { hosts: undefined, loopbackHttp: true, ownHosts: new Set() };
const MAX_DEPTH = 128;

/** One thing that a question gets wrong: the word that the gateway has for it. */
export interface Fault {
  /** Of a rule, such as `elicitation/secret-field`; `shape` of what the gateway cannot read at all. */
  readonly rule: string;
  readonly detail: string;
  readonly exchange: Exchange;
}

/** What is wrong with the questions of an exchange that asked, each judged by itself. */
export function faultsIn(exchange: Exchange): readonly Fault[] {
  const requests = requestsIn(exchange);
  if (requests === undefined) return [];
  if (!isObject(requests)) return [{ rule: "shape", detail: "input_requests", exchange }];
  return Object.entries(requests).flatMap((entry) => faultsOf(Object.fromEntries([entry]), exchange));
}

/** What the questions of an exchange need of the client, also of those that are wrong otherwise. */
export function needsIn(exchange: Exchange): readonly Need[] {
  const requests = requestsIn(exchange);
  const needs = Object.values(isObject(requests) ? requests : {}).flatMap((request): Need[] => {
    const kind = kindOf(request);
    if (kind === "unknown") return [];
    const params = isObject(request) ? own(request, "params") : undefined;
    const hasTools = isObject(params) && ["tools", "toolChoice"].some((name) => Object.hasOwn(params, name));
    return kind === "sampling" && hasTools ? ["sampling", "samplingTools"] : [kind];
  });
  return [...new Set(needs)];
}

/** `inputRequests` as the server wrote it; undefined where it wrote none. */
export function requestsIn({ received }: Exchange): unknown {
  return received.kind === "result" ? own(received.result, "inputRequests") : undefined;
}

function faultsOf(requests: Readonly<Record<string, unknown>>, exchange: Exchange): readonly Fault[] {
  const doc = scan(Buffer.from(JSON.stringify(requests)), { bytes: MAX_ANSWER_BYTES, depth: MAX_DEPTH });
  try {
    parseQuestions(doc, doc.root, MAX_ANSWER_BYTES);
    const faults = questionFindings(doc, doc.root, DECLARED, ADDRESSES);
    return faults.map(({ rule, detail }) => ({ rule, detail, exchange }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [{ rule: "shape", detail: String(error.detail), exchange }];
  }
}
