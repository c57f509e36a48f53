/** The sections about callers: who they are, and what they may use. */
import * as z from "zod";
import { ALGORITHMS } from "./algorithms.ts";
import { approval } from "./approval-settings.ts";
import { argumentTest } from "./argument-settings.ts";
import {
  duration,
  flag,
  glob,
  httpUrl,
  label,
  list,
  oneOf,
  path,
  scopeToken,
  sensitivity,
  some,
  text,
} from "./fields.ts";
import { clientCertificates, forwarded } from "./identity-settings.ts";
import { claims, dpop, introspection, requiredScopes, senderConstrained } from "./token-settings.ts";

const MINUTE = 60_000;

const issuer = z.strictObject({
  issuer: httpUrl({ query: false }).describe("The exact iss of its tokens. https, or http on loopback."),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted on every route. Default: the resource URL of the route."),
  jwks: oneOf(
    {
      url: httpUrl({ query: true }).describe("Where the key set is fetched."),
      file: path().describe("JSON file with the key set."),
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
  claims,
  requiredScopes,
  senderConstrained,
});

/** Section `authentication`. */
export const authentication = z.strictObject({
  mode: z.enum(["required", "anonymous"]).default("required").describe("Whether callers must bring a token."),
  issuers: list(issuer).default([]).describe("The issuers of access tokens."),
  introspection: some(introspection)
    .exactOptional()
    .describe("Issuers of opaque tokens, which they are asked about."),
  dpop: dpop
    .exactOptional()
    .describe("Tokens bound to a key, shown by DPoP proofs (RFC 9449). Off when absent."),
  clientCertificates: clientCertificates
    .exactOptional()
    .describe("Callers who show a client certificate, to server.tls or to a proxy in front."),
  forwarded: forwarded
    .exactOptional()
    .describe("Callers whom a proxy or gateway in front has asked already."),
});

const principal = z.strictObject({
  issuers: some(glob()).exactOptional().describe("Patterns of issuers."),
  subjects: some(glob()).exactOptional().describe("Patterns of subjects."),
  groups: some(glob()).exactOptional().describe("Patterns of groups; one of the caller's must match."),
  scopes: some(glob()).exactOptional().describe("Patterns of scopes; one of the caller's must match."),
  clients: some(glob()).exactOptional().describe("Patterns of clients."),
  anonymous: flag().exactOptional().describe("Only callers without (true) or with (false) a token."),
});

/** One entry of `authorization.policies`. */
export const policy = z.strictObject({
  id: label().describe("A name, for the audit log."),
  effect: z
    .enum(["allow", "deny", "approve"])
    .describe(
      "What a match does. A deny wins over all; approve allows, once the user has agreed; no allow lowers that demand.",
    ),
  principal: principal.exactOptional().describe("Who. Every selector given must match. Default: anybody."),
  methods: some(glob()).exactOptional().describe("Patterns of MCP methods. Default: any."),
  tools: some(glob()).exactOptional().describe("Patterns of tool names, for methods that name a tool."),
  prompts: some(glob()).exactOptional().describe("Patterns of prompt names, for methods that name a prompt."),
  resources: some(glob()).exactOptional().describe("Patterns of resource URIs, for methods that name one."),
  arguments: some(argumentTest)
    .exactOptional()
    .describe("Tests of the arguments of tools/call and prompts/get; all must hold. Default: any arguments."),
  when: some(z.enum(["destructive", "notReadOnly"]))
    .exactOptional()
    .describe(
      "Only with effect approve: ask where the annotations of the tool say one of these, or are not known. Such a policy allows nothing by itself.",
    ),
  sensitivity: sensitivity()
    .exactOptional()
    .describe("How sensitive the data is that this policy is about, for the audit log. Decides nothing."),
  approval: approval
    .exactOptional()
    .describe("Only with effect approve: how the user is asked, and what an answer is good for."),
});

/** One entry of `authorization.scopes`. */
const scopeRequirement = z.strictObject({
  methods: some(glob()).exactOptional().describe("Patterns of MCP methods. Default: any."),
  tools: some(glob()).exactOptional().describe("Patterns of tool names, for methods that name a tool."),
  prompts: some(glob()).exactOptional().describe("Patterns of prompt names, for methods that name a prompt."),
  resources: some(glob()).exactOptional().describe("Patterns of resource URIs, for methods that name one."),
  requires: some(scopeToken()).describe("Scopes that a caller needs for all that fits."),
});

/** Section `authorization`. */
export const authorization = z.strictObject({
  default: z.enum(["deny", "allow"]).default("deny").describe("The decision when no policy matches."),
  policies: list(policy).default([]).describe("Who may use which method, tool, prompt and resource."),
  scopes: list(scopeRequirement)
    .exactOptional()
    .describe(
      "Scopes that operations need beside what policies say; of all entries that fit. Who lacks one is told which to get.",
    ),
  scopeIncludes: z
    .record(scopeToken(), some(scopeToken()), { error: "scopes, each with a list of the scopes it includes" })
    .exactOptional()
    .describe("Scope → narrower scopes that whoever has it has too."),
  scopedLists: z
    .enum(["whole", "held"])
    .exactOptional()
    .describe(
      "Whether lists show what the caller lacks a scope for and could get it: whole, the default; or only what the scopes held reach.",
    ),
});
