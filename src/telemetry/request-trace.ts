/**
 * The spans of one request: the gateway's own, that of the call to the server, and the round in the trace of its chain. Ids and the
 * decision whether to record are made when they are first needed; spans are made when the request is over. docs/tracing.md.
 */
import { createHash, randomBytes } from "node:crypto";
import type { AuditRecord } from "../audit/record.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, replace } from "../json/splice.ts";
import { chainOf, describe, ownAttributes } from "./attributes.ts";
import { type Attributes, KIND, type Link, type Span } from "./span.ts";
import { parseTraceContext, printTraceParent, type TraceContext } from "./trace-context.ts";

/** What a trace is made by. */
export interface TraceParts {
  /** Share of requests to record where nobody before the gateway has decided, 0 to 1. */
  readonly sample: number;
  readonly export: (spans: readonly Span[]) => void;
  /** Where clients reach the gateway. */
  readonly server: Attributes;
}

/** What is known of a request when it is over, beside its record. */
export interface Ended {
  readonly record: AuditRecord;
  /** JSON text of its id. */
  readonly id: string | null;
  /** Where its server is. */
  readonly upstream: URL;
  readonly http: { readonly method: string; readonly status: number; readonly version: string };
}

interface Decided {
  readonly sampled: boolean;
  readonly traceId: string;
  readonly parent: TraceContext | undefined;
  /** Of the HTTP request, where the message named another parent. */
  readonly carrier: TraceContext | undefined;
  readonly serverSpan: string;
  readonly clientSpan: string;
}

/** See the file's header. */
export class RequestTrace {
  readonly #parts: TraceParts;
  readonly #start: number;
  readonly #base = performance.now();
  #header: TraceContext | undefined;
  #message: TraceContext | undefined;
  #decided: Decided | undefined;
  #call: { readonly start: number; end?: number } | undefined;

  /** @param start unix milliseconds */
  constructor(parts: TraceParts, start: number) {
    this.#parts = parts;
    this.#start = start;
  }

  /** The trace's id, for the log; undefined where the request is not recorded. */
  get id(): string | undefined {
    const { sampled, traceId } = this.#decide();
    return sampled ? traceId : undefined;
  }

  /** Takes the context of the HTTP request. */
  readHeaders(headers: ReadonlyMap<string, string>): void {
    this.#header = parseTraceContext(headers.get("traceparent"), headers.get("tracestate"));
  }

  /** Takes the context of the message, which comes before that of the HTTP request. @param meta `_meta`, where there is one */
  readMeta(doc: JsonText, meta: Node | undefined): void {
    const parent = doc.text(doc.get(meta, "traceparent"));
    if (parent !== undefined)
      this.#message = parseTraceContext(parent, doc.text(doc.get(meta, "tracestate")));
  }

  /** What changes in the message on its way to the server: `_meta.traceparent`, where a good one was, names the gateway's call. */
  editsUp(doc: JsonText, meta: Node | undefined): readonly Edit[] {
    const node = this.#message === undefined ? undefined : doc.get(meta, "traceparent");
    const decided = this.#decide();
    return node === undefined || !decided.sampled ? [] : [replace(doc, node, `"${parentUp(decided)}"`)];
  }

  /** The headers of the request to the server. Those of a request that is not recorded stay as they came. */
  headersUp(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const decided = this.#decide();
    if (!decided.sampled) return headers;
    const { traceparent, tracestate, ...others } = headers;
    const state = decided.parent?.state;
    return {
      ...others,
      traceparent: parentUp(decided),
      ...(state === undefined ? {} : { tracestate: state }),
    };
  }

  /** The server is asked. */
  beginCall(): void {
    this.#call = { start: this.#now() };
  }

  /** The server could not be asked, or gave no answer. */
  failCall(): void {
    if (this.#call !== undefined) this.#call.end = this.#now();
  }

  /** The request is over: exports what is recorded of it. */
  end({ record, id, upstream, http }: Ended): void {
    const { traceId, parent, carrier, serverSpan, clientSpan, sampled } = this.#decide();
    // Whoever was not let in decides nothing: a flood that asks to be recorded is recorded like any other.
    const own = parent === undefined || record.principal !== undefined;
    if (!sampled || (!own && share(serverSpan) >= this.#parts.sample)) return;
    const end = this.#now();
    const { name, attributes, error } = describe(record, id);
    const failed = error !== undefined;
    const links: Link[] = carrier === undefined ? [] : [{ traceId: carrier.traceId, spanId: carrier.spanId }];
    const shared = { traceId, traceState: parent?.state, end, failed, name };
    const spans: Span[] = [];
    const round = roundOf(record);
    if (round !== undefined) {
      links.push({
        traceId: round.traceId,
        spanId: round.spanId,
        attributes: { "sealgate.chain": round.chain },
      });
      spans.push({
        ...{ traceId: round.traceId, spanId: round.spanId, parentSpanId: round.parentSpanId },
        ...{ name: "sealgate.round", kind: KIND.internal, start: this.#start, end, failed },
        attributes: { ...attributes, ...ownAttributes(record) },
        links: [{ traceId, spanId: serverSpan }],
      });
    }
    if (this.#call !== undefined) {
      spans.push({
        ...{ ...shared, end: this.#call.end ?? end, spanId: clientSpan, parentSpanId: serverSpan },
        ...{ kind: KIND.client, start: this.#call.start },
        attributes: {
          ...attributes,
          ...serverOf(upstream),
          "http.request.method": http.method,
          "http.response.status_code": record.upstreamStatus,
        },
      });
    }
    spans.push({
      ...{ ...shared, spanId: serverSpan, parentSpanId: parent?.spanId, kind: KIND.server },
      ...{ start: this.#start, links },
      attributes: {
        ...attributes,
        ...this.#parts.server,
        "network.protocol.version": http.version,
        "http.request.method": http.method,
        "http.response.status_code": http.status,
        "http.route": record.route,
        "sealgate.request_id": record.requestId,
        ...ownAttributes(record),
      },
    });
    this.#parts.export(spans);
  }

  #now(): number {
    return this.#start + performance.now() - this.#base;
  }

  #decide(): Decided {
    if (this.#decided !== undefined) return this.#decided;
    const parent = this.#message ?? this.#header;
    const other = this.#message === undefined ? undefined : this.#header;
    const traceId = parent?.traceId ?? randomId(16);
    const sampled = parent?.sampled ?? share(traceId) < this.#parts.sample;
    const same = other?.spanId === parent?.spanId && other?.traceId === parent?.traceId;
    this.#decided = {
      ...{ traceId, parent, carrier: same ? undefined : other, sampled },
      serverSpan: sampled ? randomId(8) : "",
      clientSpan: sampled ? randomId(8) : "",
    };
    return this.#decided;
  }
}

const parentUp = ({ traceId, clientSpan }: Decided): string =>
  printTraceParent({ traceId, spanId: clientSpan, sampled: true });

const serverOf = ({ hostname, port, protocol }: URL): Attributes => ({
  "server.address": hostname,
  "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
});

/** Where `server.address` and `server.port` lie in a URL. */
export const addressOf = (url: string): Attributes => serverOf(new URL(url));

/** A random id as a number from 0 to below 1. */
const share = (id: string): number => Number.parseInt(id.slice(-13), 16) / 2 ** 52;

function randomId(bytes: 8 | 16): string {
  const id = randomBytes(bytes).toString("hex");
  return /^0+$/.test(id) ? randomId(bytes) : id;
}

interface Round {
  readonly chain: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
}

/**
 * Where a request stands in the trace of its chain. All gateways make the same ids out of what the states say: the trace's of the
 * chain, and a round's of the state that it sealed, which the next round brings. No claim is needed for it.
 */
function roundOf(record: AuditRecord): Round | undefined {
  const chain = chainOf(record);
  if (chain === undefined) return undefined;
  const { outcome, state, jti, brought } = record;
  // A state is sealed once; an answer that is returned again holds one that another request has sealed.
  const sealed = outcome === "input_required" && state !== "repeated" && jti !== brought?.jti;
  return {
    chain,
    traceId: derivedId("chain", chain, 16),
    spanId: sealed && jti !== undefined ? derivedId("round", jti, 8) : randomId(8),
    parentSpanId: brought === undefined ? undefined : derivedId("round", brought.jti, 8),
  };
}

/** Ids of states are random; these tell nothing of them that audit does not. */
const derivedId = (label: string, id: string, bytes: number): string =>
  createHash("sha256")
    .update(`sealgate/trace/1/${label}/${id}`)
    .digest("hex")
    .slice(0, 2 * bytes);
