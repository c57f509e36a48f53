/**
 * Every setting: its type, default, bounds and description. The JSON Schema for editors, the list of known names
 * behind "did you mean", and the test of the docs all come from here. Nothing that is not implemented stands here.
 */
import * as z from "zod";
import {
  credentialHeader,
  duration,
  fileRef,
  flag,
  glob,
  hostAuthority,
  httpUrl,
  label,
  list,
  listen,
  network,
  oneOf,
  origin,
  redisUrl,
  routePath,
  scopeToken,
  secretRef,
  size,
  some,
  text,
  whole,
  writePath,
} from "./fields.ts";
import { capability, roundTrip, routeCapability, routeRoundTrip } from "./route-settings.ts";

const KIB = 1_024;
const MIB = 1_024 * KIB;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Signature algorithms an issuer may use: asymmetric ones only, so that a public key can never serve as a MAC secret. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const claimName = text("the name of a claim", 128);
const serverName = text("a host name for TLS", 253);

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
});

const server = z.strictObject({
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
  allowedOrigins: list(origin()).default([]).describe("Browser origins that may call. None by default."),
  trustedProxies: list(network())
    .default([])
    .describe("Proxies whose X-Forwarded-For is believed, for logs."),
  tls: z
    .strictObject({
      cert: fileRef().describe("PEM file with the certificate chain."),
      key: fileRef().describe("PEM file with the private key."),
    })
    .exactOptional()
    .describe("Serve HTTPS. Without it, plain HTTP."),
  shutdownGrace: duration(0, 10 * MINUTE)
    .prefault("25s")
    .describe("Time to drain after SIGTERM."),
  limits: limits.prefault({}).describe("Limits on what is read and held."),
});

const admin = z.strictObject({
  listen: listen().describe(
    "Where /healthz, /readyz and /metrics are served. Never the address of server.listen.",
  ),
  readiness: z
    .strictObject({
      store: z
        .enum(["optional", "required"])
        .default("optional")
        .describe("Whether /readyz fails while the redemption store is away."),
    })
    .prefault({})
    .describe("What /readyz depends on."),
});

const redis = z.strictObject({
  url: redisUrl().describe("The server and database number. rediss:// for TLS."),
  username: text("an ACL user name").exactOptional().describe("ACL user. Default: the default user."),
  password: secretRef().exactOptional().describe("Password of that user."),
  tls: z
    .strictObject({
      ca: fileRef().exactOptional().describe("PEM file with the certificate authorities to trust."),
      servername: serverName.exactOptional().describe("Name the server's certificate must carry."),
    })
    .exactOptional()
    .describe("TLS details. Only with rediss://."),
  keyPrefix: text("a prefix of Redis keys", 64)
    .prefault("sg:")
    .describe("Prefix of every key the gateway writes."),
});

const claims = z.strictObject({
  subject: claimName.prefault("sub").describe("Claim with the subject."),
  client: some(claimName)
    .prefault(["client_id", "azp", "appid"])
    .describe("Claims with the client, first hit wins."),
  groups: claimName.exactOptional().describe("Claim with the groups. Without it, nobody has any."),
  scope: some(claimName).prefault(["scope", "scp"]).describe("Claims with the scopes, first hit wins."),
  tenant: claimName.exactOptional().describe("Claim with the tenant, for issuers shared by tenants."),
});

const issuer = z.strictObject({
  issuer: httpUrl({ query: false }).describe("The exact iss of its tokens. https, or http on loopback."),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted on every route. Default: the resource URL of the route."),
  jwks: oneOf(
    {
      url: httpUrl({ query: true }).describe("Where the key set is fetched."),
      file: text("the path of a file, relative to the folder of this file or absolute", 4_096).describe(
        "JSON file with the key set.",
      ),
    },
    "{ url: URL } or { file: PATH }; leave jwks out for discovery",
  )
    .exactOptional()
    .describe("The issuer's keys. Found by discovery when absent."),
  algorithms: some(z.enum(ALGORITHMS))
    .default([...ALGORITHMS])
    .describe("Signature algorithms accepted. Asymmetric only."),
  clockTolerance: duration(0, 5 * MINUTE)
    .prefault("30s")
    .describe("Leeway for exp and nbf."),
  claims: claims.prefault({}).describe("Which claims say who is calling."),
  requiredScopes: list(scopeToken()).default([]).describe("Scopes every token needs."),
});

const authentication = z.strictObject({
  mode: z.enum(["required", "anonymous"]).default("required").describe("Whether callers must bring a token."),
  issuers: list(issuer).default([]).describe("The issuers of access tokens."),
});

const keys = z.strictObject({
  primary: label().describe("The id of the key that seals. The others only open."),
  ring: some(
    z.strictObject({
      id: label().describe("A name for people. Not secret, not part of the envelope."),
      secret: secretRef().describe("At least 32 bytes; `sealgate keys new` makes one."),
    }),
  ).describe("All keys. Rotation: add everywhere, promote, remove after envelope.ttl."),
});

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
});

const principal = z.strictObject({
  issuers: some(glob()).exactOptional().describe("Patterns of issuers."),
  subjects: some(glob()).exactOptional().describe("Patterns of subjects."),
  groups: some(glob()).exactOptional().describe("Patterns of groups; one of the caller's must match."),
  scopes: some(glob()).exactOptional().describe("Patterns of scopes; one of the caller's must match."),
  clients: some(glob()).exactOptional().describe("Patterns of clients."),
  anonymous: flag().exactOptional().describe("Only callers without (true) or with (false) a token."),
});

const policy = z.strictObject({
  id: label().describe("A name, for the audit log."),
  effect: z.enum(["allow", "deny"]).describe("What a match does. A deny wins over every allow."),
  principal: principal.exactOptional().describe("Who. Every selector given must match. Default: anybody."),
  methods: some(glob()).exactOptional().describe("Patterns of MCP methods. Default: any."),
  tools: some(glob()).exactOptional().describe("Patterns of tool names, for methods that name a tool."),
  prompts: some(glob()).exactOptional().describe("Patterns of prompt names, for methods that name a prompt."),
  resources: some(glob()).exactOptional().describe("Patterns of resource URIs, for methods that name one."),
});

const authorization = z.strictObject({
  default: z.enum(["deny", "allow"]).default("deny").describe("The decision when no policy matches."),
  policies: list(policy).default([]).describe("Who may use which method, tool, prompt and resource."),
});

const idle = 24 * HOUR;
const upstream = z.strictObject({
  url: httpUrl({ query: true }).describe("The full endpoint of the MCP server."),
  timeouts: z
    .strictObject({
      connect: duration(1, 5 * MINUTE)
        .prefault("5s")
        .describe("Until the connection stands."),
      headers: duration(1, idle).prefault("5m").describe("Until the response starts."),
      idle: duration(1, idle).prefault("5m").describe("Between two pieces of a response."),
    })
    .prefault({})
    .describe("How long to wait for the server."),
  credential: oneOf(
    {
      bearer: secretRef().describe("Sent as Authorization: Bearer."),
      header: z
        .strictObject({
          name: credentialHeader().describe("Name of the header."),
          value: secretRef().describe("Value of the header."),
        })
        .describe("Sent in a header of its own."),
    },
    "{ bearer: … } or { header: { name, value } } with the secret as { file } or { env }",
  )
    .exactOptional()
    .describe("The gateway's own credential. The caller's token is never sent."),
  tls: z
    .strictObject({
      ca: fileRef().exactOptional().describe("PEM file with the certificate authorities to trust."),
      servername: serverName.exactOptional().describe("Name the server's certificate must carry."),
    })
    .exactOptional()
    .describe("TLS details. Only with https://."),
});

/** One route as written. */
export const route = z.strictObject({
  path: routePath().describe("Exact path, without slash at the end."),
  upstream: upstream.describe("The MCP server behind it."),
  legacy: z
    .enum(["refuse", "pass"])
    .exactOptional()
    .describe(
      "Requests of revisions before 2026-07-28. Default: refuse; pass for anonymous use on a loopback listener.",
    ),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted on this route. Default: those of the issuer, else the resource URL."),
  roundTrip: routeRoundTrip.prefault({}).describe("Overrides of roundTrip."),
  capability: routeCapability.prefault({}).describe("Overrides of capability."),
});

const sink = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("stdout") }),
  z.strictObject({
    type: z.literal("file"),
    path: writePath().describe("File that records are appended to."),
  }),
]);

/** The sections of the file, each with its own schema, so that one broken section does not hide mistakes in another. */
export const SECTIONS = {
  version: z.literal(1).describe("Version of this format."),
  server: server.prefault({}).describe("The listener for clients."),
  admin: admin.exactOptional().describe("The listener for operators. Off when absent."),
  redis: redis.exactOptional().describe("The Redis server that replicas share."),
  authentication: authentication.prefault({}).describe("Who is calling."),
  keys: keys.exactOptional().describe("The keys that seal. Without them a random one, memory store only."),
  envelope: envelope.prefault({}).describe("The sealed state."),
  roundTrip: roundTrip
    .prefault({})
    .describe("Limits and refusals of multi round-trip requests, for all routes."),
  redemption: redemption.prefault({}).describe("Single use of states."),
  capability: capability.prefault({}).describe("What servers may ask of clients, for all routes."),
  authorization: authorization.prefault({}).describe("What callers may use."),
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
    })
    .prefault({})
    .describe("One record per decision."),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Least level."),
    })
    .prefault({})
    .describe("The log of the process, JSON on standard output."),
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
/** One route with everything resolved: overrides merged, defaults filled. */
export type Route = Omit<z.output<typeof route>, "legacy" | "roundTrip" | "capability"> & {
  legacy: "refuse" | "pass";
  roundTrip: RoundTrip;
  capability: Capability;
};

/** The configuration with everything resolved: durations in milliseconds, sizes in bytes, file paths absolute. */
export type Config = Omit<
  Sections,
  "admin" | "redis" | "keys" | "server" | "envelope" | "redemption" | "routes"
> & {
  server: Sections["server"] & { publicUrl: string };
  admin?: Sections["admin"];
  redis?: Sections["redis"];
  keys?: Sections["keys"];
  envelope: Sections["envelope"] & { audience: string };
  redemption: Sections["redemption"] & { store: "redis" | "memory" };
  routes: Route[];
};
