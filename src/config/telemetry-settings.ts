/** The section `telemetry`: what is told to whom, beside log, audit and metrics. */
import * as z from "zod";
import { credentialHeader, httpUrl, list, secretRef, text } from "./fields.ts";

const MAX_HEADERS = 16;

const traces = z.strictObject({
  endpoint: httpUrl({ query: true }).describe(
    "Where spans are sent, the whole URL: OTLP over HTTP as JSON, such as http://127.0.0.1:4318/v1/traces.",
  ),
  headers: list(
    z.strictObject({
      name: credentialHeader().describe("Name of the header."),
      value: secretRef().describe("What stands in it."),
    }),
  )
    .max(MAX_HEADERS, { error: `at most ${MAX_HEADERS} entries` })
    .default([])
    .describe("Headers of each request to the endpoint, such as a key."),
  sample: z
    .number({ error: "a number from 0 to 1" })
    .min(0, { error: "a number from 0 to 1" })
    .max(1, { error: "a number from 0 to 1" })
    .default(1)
    .describe("Share of requests that are recorded, where no context of a caller says whether to."),
  serviceName: text("a name", 128).prefault("sealgate").describe("What the gateway is called in traces."),
});

/** Section `telemetry`. */
export const telemetry = z.strictObject({
  traces: traces.exactOptional().describe("Traces by OpenTelemetry. Without it none are made."),
});
