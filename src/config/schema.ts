/**
 * Every setting: its type, default, bounds and description. The JSON Schema for editors, the list of known names
 * behind "did you mean", and the test of the docs all come from here. Nothing that is not implemented stands here.
 */
import * as z from "zod";
import { authentication, authorization, type policy } from "./caller-settings.ts";
import { assertions } from "./credential-settings.ts";
import {
  duration,
  flag,
  folder,
  instant,
  label,
  list,
  path,
  secretRef,
  size,
  some,
  text,
  whole,
} from "./fields.ts";
import { type LimitSettings, limits } from "./limit-settings.ts";
import { admin, server } from "./listener-settings.ts";
import { redis } from "./redis-settings.ts";
import { capability, roundTrip, route } from "./route-settings.ts";
import { rules } from "./rule-settings.ts";
import { telemetry } from "./telemetry-settings.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const keys = z
  .strictObject({
    primary: label().describe("The id of the key that seals. The others only open."),
    next: z
      .strictObject({
        id: label().describe("The id of the key that takes over."),
        notBefore: instant().describe("When it begins to seal. All replicas must have it by then."),
      })
      .exactOptional()
      .describe("Takes the place of the primary at a time that is set beforehand."),
    ring: some(
      z.strictObject({
        id: label().describe("A name for people. Not secret, not part of the envelope."),
        secret: secretRef().describe("At least 32 bytes; `sealgate keys new` makes one."),
      }),
    )
      .exactOptional()
      .describe("All keys. Rotation: add everywhere, promote, remove after envelope.ttl."),
    folder: folder()
      .exactOptional()
      .describe("Instead of ring: a folder with one file per key, named by its id."),
  })
  .meta({ oneOf: [{ required: ["ring"] }, { required: ["folder"] }] });

const envelope = z.strictObject({
  ttl: duration(1_000, 24 * HOUR)
    .prefault("10m")
    .describe("Time a user has to answer one round."),
  audience: text("an audience")
    .exactOptional()
    .describe("Bound into every envelope, equal on all replicas. Default: server.publicUrl."),
  maxStateBytes: size(256, 1 * MIB)
    .prefault("64KiB")
    .describe("Largest state accepted from an upstream."),
  maxSchemaBytes: size(1 * KIB, 64 * KIB)
    .prefault("16KiB")
    .describe("Largest form schemas accepted in one question round, all together: they are sealed whole."),
  clockSkew: duration(0, 5 * MINUTE)
    .prefault("60s")
    .describe("How far ahead of its own clock a gateway accepts the time of sealing."),
});

const redemption = z.strictObject({
  store: z
    .enum(["redis", "memory"])
    .exactOptional()
    .describe("Where redeemed states are marked. Default: redis when there is a redis section, else memory."),
  epoch: z
    .enum(["on", "off"])
    .default("on")
    .describe("Refuse states that are older than the store's last failover, restart or flush."),
  eviction: z
    .enum(["refuse", "accept"])
    .default("refuse")
    .describe("Whether a Redis that may evict keys is used."),
  results: z
    .union([z.literal("off"), duration(1_000, 1 * HOUR)])
    .default("off")
    .describe(
      "How long the answer to a redeemed retry is kept, sealed, for its owner's repeat of that retry.",
    ),
  maxResultBytes: size(1 * KIB, 4 * MIB)
    .prefault("256KiB")
    .describe("Largest answer that is kept."),
});

const sink = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("stdout") }),
  z.strictObject({
    type: z.literal("file"),
    path: path().describe("File that records are appended to. Opened anew when another one stands there."),
  }),
  z.strictObject({
    type: z.literal("redis"),
    maxRecords: whole(100, 10_000_000)
      .default(10_000)
      .describe("Records that the stream is cut to, about; the oldest go. All replicas write to one stream."),
  }),
]);

/** The sections of the file, each with its own schema, so that one broken section does not hide mistakes in another. */
export const SECTIONS = {
  version: z.literal(1).describe("Version of this format."),
  server: server.prefault({}).describe("The listener for clients."),
  admin: admin.exactOptional().describe("The listener for operators. Off when absent."),
  redis: redis
    .exactOptional()
    .describe("The Redis that replicas share: one server, a master with Sentinels, or a Cluster."),
  authentication: authentication.prefault({}).describe("Who is calling."),
  keys: keys.exactOptional().describe("The keys that seal. Without them a random one, memory store only."),
  assertions: assertions
    .exactOptional()
    .describe("The keys that sign what servers are told of callers, for routes with an assertion."),
  envelope: envelope.prefault({}).describe("The sealed state."),
  roundTrip: roundTrip
    .prefault({})
    .describe("Limits and refusals of multi round-trip requests, for all routes."),
  redemption: redemption.prefault({}).describe("Single use of states."),
  capability: capability.prefault({}).describe("What servers may ask of clients, for all routes."),
  authorization: authorization.prefault({}).describe("What callers may use."),
  rules: rules.prefault({}).describe("What becomes of messages that break a rule, for all routes."),
  limits: limits.prefault({}).describe("What one caller may do."),
  routes: some(route).describe("The MCP servers served."),
  errors: z
    .strictObject({
      httpStatus: z
        .enum(["spec", "ok"])
        .default("spec")
        .describe(
          "Status of JSON-RPC errors: as the specification says, or 200 for clients that drop a session.",
        ),
    })
    .prefault({})
    .describe("The form of refusals."),
  audit: z
    .strictObject({
      sinks: list(sink)
        .prefault([{ type: "stdout" }])
        .describe("Where records go."),
      arguments: flag().default(false).describe("Write the arguments of calls into the records."),
      client: flag()
        .default(false)
        .describe("Write what clients call themselves (clientInfo, name and version) into the records."),
    })
    .prefault({})
    .describe("One record per decision."),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Least level."),
      access: z
        .enum(["off", "on"])
        .default("off")
        .describe("Whether the log has a line for each HTTP request that clients send."),
    })
    .prefault({})
    .describe("The log of the process, JSON on standard output."),
  telemetry: telemetry.exactOptional().describe("Traces, beside log, audit and metrics."),
} as const;

/** A name of a section. */
export type SectionName = keyof typeof SECTIONS;
/** The sections as read, before defaults that depend on other sections. */
export type Sections = { [K in SectionName]: Exclude<z.output<(typeof SECTIONS)[K]>, undefined> };

/** Where a secret is found; never the secret. */
export type Secret = { file: string } | { env: string };
/** What a server may ask of a client. */
export type Ask = z.output<typeof capability>["allow"][number];
/** Durations in milliseconds. */
export type RoundTrip = z.output<typeof roundTrip>;
/** What may be asked; the first entry of `tools` that matches replaces `allow`. */
export type Capability = z.output<typeof capability>;
/** One rule of `authorization`. An omitted selector means any. */
export type Policy = z.output<typeof policy>;
/** Modes of rules; the first entry of `tools` that matches is laid over them. */
export type Rules = z.output<typeof rules>;
/** One route with everything resolved: overrides merged, defaults filled. */
export type Route = Omit<
  z.output<typeof route>,
  "legacy" | "roundTrip" | "capability" | "rules" | "limits"
> & {
  legacy: "refuse" | "pass";
  roundTrip: RoundTrip;
  capability: Capability;
  rules: Rules;
  limits: LimitSettings;
};

/** The configuration with everything resolved: durations in milliseconds, sizes in bytes, file paths absolute. */
export type Config = Omit<
  Sections,
  "admin" | "redis" | "keys" | "assertions" | "telemetry" | "server" | "envelope" | "redemption" | "routes"
> & {
  server: Sections["server"] & { publicUrl: string };
  admin?: Sections["admin"];
  redis?: Sections["redis"];
  keys?: Sections["keys"];
  assertions?: Sections["assertions"];
  telemetry?: Sections["telemetry"];
  envelope: Sections["envelope"] & { audience: string };
  redemption: Sections["redemption"] & { store: "redis" | "memory" };
  routes: Route[];
};
