/**
 * What the address of a url question says about itself: where it leads, and what rides in it. Rules of elicitation in
 * url mode; the heuristics among them report by default. Source: MCP 2026-07-28, elicitation; Unicode Technical
 * Standard 39.
 */
import { domainToUnicode } from "node:url";
import type { RuleId } from "../rules/catalogue.ts";
import type { Finding } from "../rules/finding.ts";
import { judgeContents } from "./address-contents.ts";
import { isLoopbackHost, type QuestionUrl } from "./question-url.ts";
import { asLatin, plain } from "./reading.ts";
import { isMixed } from "./scripts.ts";

/** What hosts hold besides letters, marks, digits and what RFC 5892 lets stand between some. Addresses of machines have colons. */
const SIGNS = /^(?!\[).*[^\p{L}\p{M}\p{Nd}_\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u3007\u30fb-]/u;

/** What the operator says about addresses, compiled. */
export interface AddressPolicy {
  /**
   * Whether an address may lead to a host, given as `host` or `host:port` where the port is not that of the scheme.
   * Absent: to any.
   */
  readonly hosts: ((authority: string) => boolean) | undefined;
  /** Whether http may lead to a loopback host. */
  readonly loopbackHttp: boolean;
  /** Hosts of the issuers whose tokens the gateway accepts, and its own. */
  readonly ownHosts: ReadonlySet<string>;
}

/**
 * What an address that all readers read alike breaks.
 * @param isRead false where no more of a result's texts is read: then what may ride in the address counts as found
 */
export function addressFindings(url: QuestionUrl, policy: AddressPolicy, isRead = true): Finding[] {
  const found = new Map<RuleId, string>();
  const note = (rule: RuleId, detail: string): void => {
    if (!found.has(rule)) found.set(rule, detail);
  };
  if (url.hasUserinfo) note("elicitation/url-userinfo", "userinfo");
  if (url.scheme === "http") {
    if (!isLoopbackHost(url.host)) note("elicitation/url-insecure", "http");
    else if (!policy.loopbackHttp) note("elicitation/url-insecure", "loopback");
  }
  const authority = url.port === "" ? url.host : `${url.host}:${url.port}`;
  if (policy.hosts !== undefined && !policy.hosts(authority)) note("elicitation/url-host", "not_listed");
  if (policy.ownHosts.has(url.host)) note("elicitation/url-own-issuer", "own_host");
  judgeHost(url, note);
  if (isRead) judgeContents(url, note);
  else
    for (const rule of ["elicitation/url-credentials", "elicitation/url-personal-data"] as const)
      note(rule, "unread");
  return Array.from(found, ([rule, detail]) => ({ rule, detail }));
}

function judgeHost({ host, writtenHost }: QuestionUrl, note: (rule: RuleId, detail: string) => void): void {
  if (writtenHost.split(".").some((label) => label.startsWith("xn--")))
    note("elicitation/url-punycode", "punycode");
  const labels = domainToUnicode(host).split(".");
  if (labels.some(isMixed)) note("elicitation/url-mixed-script", "mixed");
  // Slashes, dots and other signs that no host is written with (RFC 5892, 2): `bank.example⁄login.evil.example`.
  if (labels.some((label) => SIGNS.test(label))) note("elicitation/url-mixed-script", "sign");
  // A name of one script that looks like Latin through and through, under a Latin top level.
  const isLatinTop = /^[a-z0-9-]*$/.test(labels.at(-1) ?? "");
  if (
    isLatinTop &&
    labels.some(
      (label) =>
        (/\P{ASCII}/u.test(plain(label)) || label.includes("\u0261")) &&
        /^[a-z0-9-]+$/.test(asLatin(plain(label))),
    )
  )
    note("elicitation/url-mixed-script", "look_alike");
}
