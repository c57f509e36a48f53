/**
 * The audit record: one per decision, and all redaction in one place.
 * What is secret is never put in: no state, token, answer, question text or credential has a field here;
 * arguments only where `audit.arguments` asks for them.
 */
import { isIP } from "node:net";
import type * as z from "zod";
import type { Claims } from "../envelope/format.ts";
import type { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Declared } from "../mcp/capabilities.ts";
import { CLIENT_INFO_KEY } from "../mcp/era.ts";
import type { Target } from "../mcp/methods.ts";
import { optional } from "../optional.ts";
import type { Principal } from "../principal/principal.ts";
import type { Frozen } from "./members.ts";
import type { auditRecord } from "./record-schema.ts";

/** One decision, as it is written: what each member means stands in `record-schema.ts`. */
export type AuditRecord = Frozen<z.output<typeof auditRecord>>;
/** How a request ended. */
export type Outcome = AuditRecord["outcome"];

/** What stages add while the request is on its way. */
export type Draft = { -readonly [K in keyof AuditRecord]?: AuditRecord[K] };

/** Groups or scopes shown of one principal. */
const MAX_NAMES = 64;
const MAX_NAME_CHARACTERS = 256;
const MAX_ARGUMENT_CHARACTERS = 16 * 1024;
const MAX_CLIENT_CHARACTERS = 128;
const MAX_ADDRESS_CHARACTERS = 64;
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, "gu");
const NEEDS = ["form", "url", "sampling", "samplingTools", "samplingContext", "roots"] as const;
const METHOD = /^[A-Za-z][A-Za-z0-9_./-]{0,63}$/;

/** The parts of a principal that audit shows. */
export function auditPrincipal(principal: Principal): NonNullable<AuditRecord["principal"]> {
  if (principal.anonymous) return { anonymous: true };
  const { issuer, subject, client, tenant, groups, scopes } = principal;
  return {
    issuer,
    subject: shorten(subject),
    ...(client === undefined ? {} : { client: shorten(client) }),
    ...(tenant === undefined ? {} : { tenant: shorten(tenant) }),
    ...(groups.length === 0 ? {} : { groups: groups.slice(0, MAX_NAMES).map((name) => shorten(name)) }),
    ...(scopes.length === 0 ? {} : { scopes: scopes.slice(0, MAX_NAMES).map((name) => shorten(name)) }),
  };
}

/**
 * Where a request came from: an address and nothing else, since behind a proxy that passes on what it was sent it is free text.
 * @param ip undefined where the connection has gone by now
 */
export function auditAddress(ip: string | undefined): Pick<AuditRecord, "address"> {
  if (ip === undefined) return {};
  return { address: ip.length <= MAX_ADDRESS_CHARACTERS && isIP(ip) !== 0 ? ip : "(not an address)" };
}

/** A method as audit shows it: free text from a client is not repeated. */
export const auditMethod = (method: string): string => (METHOD.test(method) ? method : "(not a method name)");

/** A target as audit shows it: a uri without userinfo, query and fragment, where secrets ride. */
export function auditTarget(target: Target): Target {
  const name =
    target.kind === "resource"
      ? target.name.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1")
      : target.name;
  return { kind: target.kind, name: shorten(name) };
}

/** The arguments of a call as sent, for `audit.arguments: true` only; long ones are cut. */
export function auditArguments(doc: JsonText, params: Node | undefined): Pick<AuditRecord, "arguments"> {
  const node = doc.get(params, "arguments");
  return node === undefined ? {} : { arguments: shorten(doc.raw(node), MAX_ARGUMENT_CHARACTERS) };
}

/** The chain members of a sealed state. */
export const auditChain = (claims: Claims): Pick<AuditRecord, "chain" | "round" | "jti"> => ({
  chain: claims.chain,
  round: claims.round,
  jti: claims.jti,
});

/** The state that a request brought, as far as a record names it; whatever becomes of it. */
export const auditBrought = ({ chain, round, jti, requestId }: Claims): Pick<AuditRecord, "brought"> => ({
  brought: { chain, round, jti, rpcId: requestId },
});

/** What a client says it can be asked. */
export function auditDeclared(declared: Declared): Pick<AuditRecord, "declared"> {
  const list = NEEDS.filter((need) => declared[need]);
  return list.length === 0 ? {} : { declared: list };
}

/** What a client calls itself, for `audit.client: true` only: untrusted, cut, and without characters that cannot be seen. */
export function auditClient(doc: JsonText, meta: Node | undefined): Pick<AuditRecord, "client"> {
  const info = doc.get(meta, CLIENT_INFO_KEY);
  const name = printable(doc.text(doc.get(info, "name")));
  const version = printable(doc.text(doc.get(info, "version")));
  if (name === undefined && version === undefined) return {};
  return { client: { ...optional("name", name), ...optional("version", version) } };
}

/** What the store said of a state that it did not take. */
export function auditReplay({ code, detail }: Refusal): NonNullable<AuditRecord["replay"]> {
  if (code === "already_redeemed") return "already_redeemed";
  if (code === "outcome_unknown") return "other_epoch";
  if (code === "store_unavailable") return "store_unavailable";
  return detail === "revoked" ? "revoked" : "expired";
}

function printable(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const shown = shorten(text, MAX_CLIENT_CHARACTERS).toWellFormed();
  return UNSEEN.test(shown) ? shown.replaceAll(ALL_UNSEEN, "?") : shown;
}

function shorten(text: string, max = MAX_NAME_CHARACTERS): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
