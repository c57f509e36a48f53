/** A collector for traces: takes OTLP over HTTP as JSON and nothing that is not exactly that. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${digits}}$`))
    .refine((id) => !/^0+$/.test(id), "an id of zeros");
const nanoseconds = z.string().regex(/^[1-9][0-9]{18}$/);
const attributes = z
  .array(
    z.strictObject({
      key: z.string().regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/),
      value: z.union([
        z.strictObject({ stringValue: z.string() }),
        z.strictObject({ intValue: z.string().regex(/^-?[0-9]{1,19}$/) }),
        z.strictObject({ boolValue: z.boolean() }),
        z.strictObject({ doubleValue: z.number() }),
      ]),
    }),
  )
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, "a key twice");

const span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    traceState: z.string().min(1).max(512).optional(),
    flags: z.literal(1),
    name: z.string().min(1).max(600),
    kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes,
    links: z.array(z.strictObject({ traceId: hex(32), spanId: hex(16), attributes })),
    status: z.union([z.strictObject({}), z.strictObject({ code: z.literal(2) })]),
  })
  .refine(({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(end) >= BigInt(start), "ends early");

const body = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeSpans: z
          .array(
            z.strictObject({
              scope: z.strictObject({ name: z.literal("sealgate"), version: z.string().min(1) }),
              spans: z.array(span).min(1),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

/** A span as it was sent, with its attributes as a map of texts. */
export interface Taken {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly traceState?: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: Taken[];
  /** Whole bodies, as they came. */
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
  /** What is wrong with what was sent. */
  readonly wrong: string[];
  /** What the next requests are answered with; the last one stays. */
  answers: { readonly status: number; readonly body?: string }[];
  /** Whether requests get no answer at all. */
  silent: boolean;
  /** Resolves when a request has come in full, answered or not. */
  arrival(): Promise<void>;
  close(): Promise<void>;
}

const flat = (list: z.output<typeof attributes>): Record<string, string> =>
  Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])]));

/** Starts a collector on port 0. */
export async function startCollector(): Promise<Collector> {
  let waiting: (() => void)[] = [];
  const collector = {
    spans: [] as Taken[],
    bodies: [] as string[],
    headers: [] as IncomingHttpHeaders[],
    wrong: [] as string[],
    answers: [{ status: 200, body: "{}" }] as Collector["answers"],
    silent: false,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      collector.bodies.push(text);
      collector.headers.push(request.headers);
      for (const resolve of waiting) resolve();
      waiting = [];
      if (collector.silent) return;
      if (request.method !== "POST" || request.url !== "/v1/traces") collector.wrong.push("not the path");
      if (request.headers["content-type"] !== "application/json") collector.wrong.push("not JSON");
      const read = body.safeParse(JSON.parse(text));
      if (!read.success) collector.wrong.push(read.error.message);
      const { status, body: answer = "" } = (collector.answers.length > 1
        ? collector.answers.shift()
        : collector.answers[0]) ?? { status: 200 };
      if (status === 200 && read.success) {
        for (const { scopeSpans } of read.data.resourceSpans)
          for (const { spans } of scopeSpans)
            for (const one of spans)
              collector.spans.push({
                ...one,
                attributes: flat(one.attributes),
                failed: "code" in one.status,
              });
      }
      response.writeHead(status, { "content-type": "application/json" }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(collector, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    arrival: () => new Promise<void>((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
