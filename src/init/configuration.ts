/** The configuration that `sealgate init` writes, with words for the operator. Pure. */
import { withoutQuery } from "../log.ts";
import type { Facts } from "./facts.ts";
import type { IssuerFacts } from "./issuer.ts";
import { quote } from "./quote.ts";

/** Scopes that a comment shows. */
const MAX_SCOPES = 40;

/** The text of sealgate.yaml. Names of the server stand in quotes; everything else is the operator's or fixed. */
export function configuration(facts: Facts): string {
  const { form, today } = facts;
  const upstream = withoutQuery(facts.upstream);
  const lines = [
    `## Sealgate for ${quote(upstream)}, written by \`sealgate init --for ${form}\` on ${today}.`,
    "##",
    "## Lines that begin with ## explain. Lines with a single # are settings that are not in force: remove the # and they are.",
    "## All other settings stand in config/sealgate.yaml of Sealgate; `sealgate schema` prints them for editors.",
    "version: 1",
    "",
    ...server(facts),
    ...authentication(facts),
    "## The keys that seal, one file per key, named by its id. `sealgate keys rotate` changes them step by step.",
    "keys:",
    `  primary: ${quote(facts.keyId)}`,
    `  folder: ${form === "laptop" ? "keys" : "../keys"}`,
    "",
    "## Marks of used states are kept in this process, so there must be one only. For more, or to let open questions outlive a",
    "## restart: a redis section, and `store: redis`.",
    "redemption:",
    "  store: memory",
    "",
    "## What the server may ask of people. sampling (their model) and roots (their folders) are left out until you want them.",
    "capability:",
    "  allow: [elicitation.form, elicitation.url]",
    "",
    ...facts.policies.lines,
    "",
    ...routes(facts),
  ];
  return `${lines.join("\n")}\n`;
}

function server({ form, listen, publicUrl }: Facts): readonly string[] {
  const lines = ["server:", `  listen: ${quote(listen)}`];
  if (form !== "laptop")
    lines.push("  ## What clients see; base of the audience that their tokens must have.");
  lines.push(`  publicUrl: ${quote(publicUrl)}`);
  if (form === "laptop") {
    const admin = ["## Health and metrics, on loopback.", "#admin:", "#  listen: 127.0.0.1:9090", ""];
    return [...lines, "", ...admin];
  }
  const grace = form === "sidecar" ? ["  shutdownGrace: 25s"] : [];
  const admin = ["## Health and metrics. Loopback: only what runs beside the gateway asks.", "admin:"];
  return [...lines, ...grace, "", ...admin, "  listen: 127.0.0.1:9090", ""];
}

function authentication({ issuer, publicUrl }: Facts): readonly string[] {
  if (issuer === undefined) {
    return [
      "## Nobody is asked for a token: for this machine only. All callers are one, so a state is bound to no person.",
      "## With an issuer: `mode: required`, and its name under issuers.",
      "authentication:",
      "  mode: anonymous",
      "",
    ];
  }
  return [
    `## Tokens must be for ${publicUrl}/mcp (audience), signed by this issuer.`,
    "authentication:",
    "  mode: required",
    "  issuers:",
    `    - issuer: ${quote(issuer.issuer)}`,
    ...scopes(issuer),
    ...algorithms(issuer),
    "      ## The claim with the groups of a caller, for policies.",
    "      #claims: { groups: groups }",
    "",
  ];
}

function scopes({ scopes: found }: IssuerFacts): readonly string[] {
  if (found.length === 0) return ["      ## Scopes every token needs.", "      #requiredScopes: [mcp]"];
  const more = found.length > MAX_SCOPES ? ["      ##   and more"] : [];
  return [
    "      ## Scopes every token needs. The issuer names these:",
    ...found.slice(0, MAX_SCOPES).map((scope) => `      ##   ${quote(scope)}`),
    ...more,
    "      #requiredScopes: []",
  ];
}

function algorithms({ algorithms: found }: IssuerFacts): readonly string[] {
  if (found.length === 0) return [];
  return [
    "      ## Signature algorithms accepted. Its keys are for these now; name them and no others are taken.",
    `      #algorithms: [${found.join(", ")}]`,
  ];
}

function routes({ form, seenUpstream, upstream, credential, authority }: Facts): readonly string[] {
  const moved = seenUpstream !== upstream;
  const where =
    form === "compose"
      ? "The server runs on the machine itself, outside of the container."
      : "The server is in the same pod and listens on loopback.";
  const bearer =
    credential === undefined
      ? []
      : "env" in credential
        ? [`      credential: { bearer: { env: ${credential.env} } }`]
        : ["      credential:", `        bearer: { file: ${quote(credential.file)} }`];
  return [
    "routes:",
    "  - path: /mcp",
    "    upstream:",
    ...(moved ? [`      ## ${where} From here it was reached at ${quote(withoutQuery(upstream))}.`] : []),
    `      url: ${quote(seenUpstream)}`,
    ...bearer,
    ...(authority === undefined ? [] : [`      tls: { ca: { file: ${quote(authority)} } }`]),
    "    ## Clients of revisions before 2026-07-28. refuse turns every one of them away. pass lets them in: their",
    "    ## calls are authorized, their questions not filtered.",
    "    legacy: refuse",
  ];
}
