/** The section `limits`: what one caller may do, at the top of the file for each route and in a route for that route. */
import * as z from "zod";
import { duration, whole } from "./fields.ts";

const DAY = 24 * 3_600_000;
const off = z.literal("off");

const requests = z
  .strictObject({
    points: z.union([off, whole(1, 1_000_000)]).describe("So many requests. off: any number."),
    per: duration(1_000, DAY).prefault("1m").describe("In so much time, in whole seconds."),
  })
  .describe(
    "Requests of one caller in a window of time, on all gateways together. Retries that go on with a chain are not counted; polls of tasks have a window of their own.",
  );
const concurrent = z
  .union([off, whole(1, 100_000)])
  .describe(
    "Requests of one caller in flight at once, on all gateways together. Streams that stay open are not counted.",
  );
const streams = z
  .union([off, whole(1, 100_000)])
  .describe("Streams of one caller that stay open, on each gateway.");
const openRounds = z
  .union([off, whole(1, 10_000)])
  .describe("Calls of one caller that wait for an answer to a question, on all gateways together.");

/** `limits` at the top of the file. */
export const limits = z.strictObject({
  perPrincipal: z
    .strictObject({
      requests: requests.exactOptional(),
      concurrent: concurrent.default("off"),
      streams: streams.default("off"),
      openRounds: openRounds.default("off"),
    })
    .prefault({})
    .describe("What one caller may do on each route; callers without a token are told apart by address."),
});

/** `limits` of a route: what is absent comes from the top. */
export const routeLimits = z.strictObject({
  perPrincipal: z
    .strictObject({
      requests: requests.exactOptional(),
      concurrent: concurrent.exactOptional(),
      streams: streams.exactOptional(),
      openRounds: openRounds.exactOptional(),
    })
    .prefault({})
    .describe("What one caller may do on this route."),
});

/** Limits of a route with everything resolved; durations in milliseconds. */
export type LimitSettings = z.output<typeof limits>;
