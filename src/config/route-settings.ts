/** A route, and the settings that stand both at the top of the file, for all routes, and in a route, for that route. */
import * as z from "zod";
import { upstreamCredential } from "./credential-settings.ts";
import {
  addressHost,
  duration,
  fileRef,
  flag,
  glob,
  httpUrl,
  list,
  routePath,
  scopeToken,
  sensitivity,
  serverName,
  some,
  text,
  whole,
} from "./fields.ts";
import { routeLimits } from "./limit-settings.ts";
import { routeRules } from "./rule-settings.ts";
import { routeAuthentication } from "./token-settings.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ask = z.enum(["elicitation.form", "elicitation.url", "sampling", "roots"]);

const toolAsks = z.strictObject({
  match: some(glob()).describe("Patterns of tool names. The first entry that matches a tool decides."),
  allow: list(ask)
    .exactOptional()
    .describe("What a call of these tools may ask. Replaces capability.allow for them."),
  requires: list(ask)
    .exactOptional()
    .describe("What callers of these tools must be able to answer. Replaces capability.requires for them."),
});

const allow = list(ask).describe(
  "What servers may ask of clients. A question must be declared by the client and stand here.",
);
const requires = list(ask).describe(
  "What a client must declare that it can answer, or its calls are refused before the server sees them.",
);
const tools = list(toolAsks).describe("Exceptions by tool.");

const url = z
  .strictObject({
    hosts: list(addressHost())
      .exactOptional()
      .describe(
        "Where addresses may lead: patterns of host, or of host:port for another port than 443. Default: anywhere.",
      ),
    loopbackHttp: flag()
      .exactOptional()
      .describe(
        "Whether addresses may be http:// on a loopback host. Default: only if server.publicUrl is on one.",
      ),
  })
  .describe("Addresses that servers send people to. Replaced as a whole by a route's own.");

/** Clients repeat ten times on their own; the question after the tenth still has to be sealed for their own limit to be met. */
export const ROUNDS_OF_CLIENTS = 11;
const maxRounds = whole(1, 1_000).describe(
  "Rounds one request may take, counted before the user is asked. SDK clients repeat ten times on their own, so 11 or more.",
);
const maxAge = duration(1_000, 168 * HOUR).describe("Time from the first question to the last answer.");
const rejection = z
  .enum(["error", "tool-error", "reprompt"])
  .describe(
    "Answer to a retry whose state fails: a JSON-RPC error, a tool result with isError that a model can act on, or a fresh call so that the server asks again.",
  );
const answersWithoutState = z
  .enum(["refuse", "drop", "forward"])
  .describe(
    "Answers that come without a state: refuse them, drop them, or forward them (forward undoes binding).",
  );

/** `roundTrip` at the top of the file. */
export const roundTrip = z.strictObject({
  maxRounds: maxRounds.default(32),
  maxAge: maxAge.prefault("1h"),
  rejection: rejection.default("error"),
  answersWithoutState: answersWithoutState.default("refuse"),
});

/** `roundTrip` of a route: what is absent comes from the top. */
const routeRoundTrip = z.strictObject({
  maxRounds: maxRounds.exactOptional(),
  maxAge: maxAge.exactOptional(),
  rejection: rejection.exactOptional(),
  answersWithoutState: answersWithoutState.exactOptional(),
});

/** `capability` at the top of the file. */
export const capability = z.strictObject({
  allow: allow.default(["elicitation.form", "elicitation.url", "sampling", "roots"]),
  requires: requires.default([]),
  tools: tools.default([]),
  url: url.prefault({}),
});

/** `capability` of a route: what is absent comes from the top. */
const routeCapability = z.strictObject({
  allow: allow.exactOptional(),
  requires: requires.exactOptional(),
  tools: tools.exactOptional(),
  url: url.exactOptional(),
});

const upstream = z.strictObject({
  url: httpUrl({ query: true }).describe("The full endpoint of the MCP server."),
  timeouts: z
    .strictObject({
      connect: duration(1, 5 * MINUTE)
        .prefault("5s")
        .describe("Until the connection stands."),
      headers: duration(1, DAY).prefault("5m").describe("Until the response starts."),
      idle: duration(1, DAY).prefault("5m").describe("Between two pieces of a response."),
    })
    .prefault({})
    .describe("How long to wait for the server."),
  reachCheck: z
    .enum(["on", "off"])
    .default("on")
    .describe(
      "Try every minute whether a server on this machine or pod answers at other addresses than loopback, around the gateway.",
    ),
  credential: upstreamCredential
    .exactOptional()
    .describe("What the gateway shows to the server. The caller's token is never sent."),
  tls: z
    .strictObject({
      ca: fileRef().exactOptional().describe("PEM file with the certificate authorities to trust."),
      servername: serverName().exactOptional().describe("Name the server's certificate must carry."),
      cert: fileRef()
        .exactOptional()
        .describe(
          "PEM file with the gateway's own certificate, and its chain, for a server that asks for one.",
        ),
      key: fileRef().exactOptional().describe("PEM file with its private key, without passphrase."),
    })
    .exactOptional()
    .describe("TLS details. Only with https://."),
});

const metadata = z.strictObject({
  name: text("a name for people", 256).exactOptional().describe("What the resource is called before users."),
  documentation: httpUrl({ query: true }).exactOptional().describe("Page for developers of clients."),
  policy: httpUrl({ query: true }).exactOptional().describe("Page on how data may be used."),
  terms: httpUrl({ query: true }).exactOptional().describe("Page with the terms of service."),
  scopes: list(scopeToken())
    .exactOptional()
    .describe(
      "Scopes that clients are to start with. Default: the requiredScopes of the issuers; what more a call needs, its challenge says.",
    ),
  issuers: some(httpUrl({ query: false }))
    .exactOptional()
    .describe("Issuers that clients are sent to, of authentication.issuers. Default: all."),
});

/** One route as written. */
export const route = z.strictObject({
  path: routePath().describe("Exact path, without slash at the end; or / alone."),
  upstream: upstream.describe("The MCP server behind it."),
  legacy: z
    .enum(["refuse", "pass"])
    .exactOptional()
    .describe(
      "Requests of revisions before 2026-07-28. Default: refuse; pass for anonymous use on a loopback listener.",
    ),
  tasks: z
    .enum(["refuse", "pass"])
    .default("refuse")
    .describe(
      "The tasks extension: refuse it, or pass it with ids and questions bound to their caller. Default: refuse.",
    ),
  authentication: routeAuthentication
    .exactOptional()
    .describe("Which credentials are taken on this route. Default: all that are configured."),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted on this route. Default: those of the issuer, else the resource URL."),
  metadata: metadata
    .exactOptional()
    .describe("What the protected resource metadata (RFC 9728) says of this route."),
  roundTrip: routeRoundTrip.prefault({}).describe("Overrides of roundTrip."),
  capability: routeCapability.prefault({}).describe("Overrides of capability."),
  sensitivity: sensitivity()
    .exactOptional()
    .describe(
      "How sensitive the data behind it is, for the audit log, where no policy says it. Decides nothing.",
    ),
  rules: routeRules.prefault({}).describe("Overrides of rules."),
  limits: routeLimits.prefault({}).describe("Overrides of limits."),
});
