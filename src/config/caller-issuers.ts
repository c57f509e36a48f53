/** Whoever can vouch for a caller by a configuration: issuers of tokens, the name of client certificates, those in front. Pure. */
import type * as z from "zod";
import type { authentication } from "./caller-settings.ts";

type Authentication = z.output<typeof authentication>;

/** One that vouches for callers, and what its callers can have besides a subject. */
export interface CallerIssuer {
  readonly issuer: string;
  readonly hasGroups: boolean;
  readonly hasTenant: boolean;
}

/** All that vouch for callers, each name once. */
export function callerIssuers(from: Authentication): CallerIssuer[] {
  const { clientCertificates, forwarded } = from;
  const named = [
    ...tokenIssuers(from).map(({ issuer, claims }) => entry(issuer, claims.groups, claims.tenant)),
    ...(clientCertificates === undefined
      ? []
      : [entry(clientCertificates.issuer, clientCertificates.groups, undefined)]),
    ...[forwarded?.assertion].flatMap((assertion) =>
      assertion === undefined
        ? []
        : [entry(assertion.issuer, assertion.claims.groups, assertion.claims.tenant)],
    ),
    ...[forwarded?.headers].flatMap((headers) =>
      headers === undefined ? [] : [entry(headers.issuer, headers.groups, headers.tenant)],
    ),
  ];
  const byName = new Map<string, CallerIssuer>();
  for (const one of named) {
    const other = byName.get(one.issuer);
    const hasGroups = one.hasGroups || other?.hasGroups === true;
    byName.set(one.issuer, { ...one, hasGroups, hasTenant: one.hasTenant || other?.hasTenant === true });
  }
  return [...byName.values()];
}

function entry(issuer: string, groups: string | undefined, tenant: string | undefined): CallerIssuer {
  return { issuer, hasGroups: groups !== undefined, hasTenant: tenant !== undefined };
}

/** One entry of `issuers` or `introspection`, and where it stands. */
export type TokenIssuer = Pick<
  Authentication["issuers"][number],
  "issuer" | "audiences" | "claims" | "requiredScopes" | "senderConstrained"
> & { readonly path: readonly ["authentication", "issuers" | "introspection", number] };

/** The issuers of access tokens, signed and opaque. One that has both stands there twice. */
export function tokenIssuers({ issuers, introspection = [] }: Authentication): TokenIssuer[] {
  const at = (list: "issuers" | "introspection") => (of: Omit<TokenIssuer, "path">, index: number) => ({
    ...of,
    path: ["authentication", list, index] as const,
  });
  return [...issuers.map(at("issuers")), ...introspection.map(at("introspection"))];
}
