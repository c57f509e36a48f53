/** The sections of what the gateway itself stands on: its listeners. */
import * as z from "zod";
import {
  duration,
  fileRef,
  flag,
  hostAuthority,
  list,
  listen,
  network,
  origin,
  secretRef,
  size,
  some,
  whole,
} from "./fields.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const MINUTE = 60_000;

const limits = z.strictObject({
  body: size(1 * KIB, 64 * MIB)
    .prefault("4MiB")
    .describe("Largest request or response body."),
  depth: whole(8, 512).default(64).describe("Deepest nesting of JSON."),
  event: size(1 * KIB, 64 * MIB)
    .prefault("1MiB")
    .describe("Largest SSE event from an upstream."),
  inFlight: whole(1, 1_000_000).default(1_024).describe("Requests in flight at once, streams not counted."),
  streams: whole(1, 1_000_000).default(4_096).describe("SSE streams open at once."),
  eventLoopDelay: z
    .union([z.literal("off"), duration(20, MINUTE)])
    .default("off")
    .describe("How late the event loop may be before new requests are refused. Default: off."),
});

/** Section `server`. */
export const server = z.strictObject({
  listen: listen().prefault("127.0.0.1:8080").describe("Where clients connect."),
  publicUrl: origin()
    .exactOptional()
    .describe(
      "The origin clients see, without path. Base of every resource URL. Default on a loopback listener: http://LISTEN.",
    ),
  replicas: whole(1, 10_000).default(1).describe("Gateway processes that serve this configuration."),
  allowedHosts: some(hostAuthority())
    .exactOptional()
    .describe(
      "Host headers served. Default: the host of publicUrl, on a loopback listener also the loopback names.",
    ),
  allowedOrigins: list(origin())
    .default([])
    .describe("Browser origins that may call, besides the one that the gateway itself has. None by default."),
  trustedProxies: list(network())
    .default([])
    .describe(
      "Proxies whose X-Forwarded-For is believed: for records, and to count callers without a token. Never for who is calling.",
    ),
  tls: z
    .strictObject({
      cert: fileRef().describe("PEM file with the certificate chain."),
      key: fileRef().describe("PEM file with the private key."),
      clientCa: fileRef()
        .exactOptional()
        .describe(
          "PEM file with the authorities of clients. With it clients are asked for a certificate, and may have none.",
        ),
    })
    .exactOptional()
    .describe("Serve HTTPS. Without it, plain HTTP."),
  shutdownGrace: duration(0, 10 * MINUTE)
    .prefault("25s")
    .describe("Time to drain after SIGTERM."),
  limits: limits.prefault({}).describe("Limits on what is read and held."),
});

/** Section `admin`. */
export const admin = z.strictObject({
  listen: listen().describe(
    "Where /healthz, /readyz and /metrics are served. Never the address of server.listen.",
  ),
  readiness: z
    .strictObject({
      store: z
        .enum(["optional", "required"])
        .default("optional")
        .describe("Whether /readyz fails while the redemption store is away."),
      issuers: z
        .enum(["optional", "required"])
        .exactOptional()
        .describe(
          "Whether /readyz fails while no caller can be told, since no issuer's keys are to be had. Default: optional, which only reports it.",
        ),
    })
    .prefault({})
    .describe("What /readyz depends on."),
  token: secretRef()
    .exactOptional()
    .describe(
      "Opens the verbs under /v1/, which revoke and grant: at least 16 characters. Without it there are none.",
    ),
  console: flag()
    .default(false)
    .describe("Serves a page under /console/ that shows what happens here. Opens with the token."),
});
