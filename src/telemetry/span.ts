/**
 * Spans, and their form on the wire: OTLP 1 as JSON (opentelemetry-proto, trace.proto; ids in hexadecimal, 64-bit numbers as
 * decimal text). Pure.
 */

/** OTLP's numbers for what a span is. */
export const KIND = { internal: 1, server: 2, client: 3 } as const;

/** What may stand in an attribute; undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Another span that belongs to this one, and is not its parent. */
export interface Link {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes?: Attributes;
}

/** One span that is over. Times are unix milliseconds, with fractions. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly traceState?: string | undefined;
  readonly name: string;
  readonly kind: (typeof KIND)[keyof typeof KIND];
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly links?: readonly Link[];
  readonly failed: boolean;
}

/** The body of one request to `/v1/traces`. @param resource who speaks */
export function printSpans(
  resource: Attributes,
  scope: { readonly name: string; readonly version: string },
  spans: readonly Span[],
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope, spans: spans.map(wireSpan) }],
      },
    ],
  });
}

const STATUS_ERROR = 2;
/** W3C flag "sampled": only spans that are recorded are sent. */
const SAMPLED = 1;

function wireSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, traceState, name, kind, links = [] } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    ...(traceState === undefined ? {} : { traceState }),
    flags: SAMPLED,
    name: name.toWellFormed(),
    kind,
    startTimeUnixNano: nanoseconds(span.start),
    // Clocks are set back at times; a span that ends before it begins is refused by readers.
    endTimeUnixNano: nanoseconds(Math.max(span.start, span.end)),
    attributes: attributesOf(span.attributes),
    links: links.map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
      attributes: attributesOf(link.attributes ?? {}),
    })),
    status: span.failed ? { code: STATUS_ERROR } : {},
  };
}

function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: wireValue(value) }],
  );
}

function wireValue(value: string | number | boolean): object {
  // Protobuf holds UTF-8: half a surrogate pair would make a reader refuse the whole batch.
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
