/**
 * What the address of a url question says about itself: where it leads, and what rides in it. Rules of elicitation in
 * url mode; the heuristics among them report by default. Source: MCP 2026-07-28, elicitation; Unicode Technical
 * Standard 39.
 */
import { domainToUnicode } from "node:url";
import type { RuleId } from "../rules/catalogue.ts";
import type { Finding } from "../rules/finding.ts";
import { isRandom } from "./credential-values.ts";
import { isLoopbackHost, type QuestionUrl } from "./question-url.ts";
import { asLatin, plain } from "./reading.ts";
import { isMixed } from "./scripts.ts";
import { namesSecret } from "./secret-name.ts";
import { namesPerson, sensitiveIn } from "./sensitive.ts";

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

/** Parameters looked at in one address, and how deep an address in a parameter is followed. */
const MAX_PARAMETERS = 256;
const MAX_NESTING = 2;

/** Parameters of OAuth and of usual flows that are random and no credentials. */
const OPAQUE: ReadonlySet<string> = new Set(
  (
    "state nonce codechallenge clientid request requesturi responsetype scope id flow flowid requestid elicitationid sessionhint " +
    "redirecturi returnto returnurl next continue callback correlationid traceid authrequest challenge loginchallenge samlrequest relaystate prompt"
  ).split(" "),
);
/** Names whose value opens something, beyond those that name a secret in a form. */
const OPENING: ReadonlySet<string> = new Set(
  "code authcode sid sessionid session jsessionid phpsessid sig apikey magic magiclink otp jwt assertion clientassertion idtokenhint".split(
    " ",
  ),
);
/** Sets of parameters by which stores and networks take an address for signed: all of one set. */
const PRESIGNED: readonly (readonly string[])[] = [
  ...[["xamzsignature"], ["xamzcredential"], ["xamzsecuritytoken"], ["awsaccesskeyid", "signature"]],
  ...[["xgoogsignature"], ["xgoogcredential"], ["googleaccessid", "signature"]],
  ...[
    ["sig", "se"],
    ["sig", "sv"],
    ["sig", "sp"],
    ["keypairid", "signature"],
    ["keypairid", "policy"],
  ],
  ...[
    ["ossaccesskeyid", "signature"],
    ["xosssignature"],
    ["qsignature"],
    ["xcossecuritytoken"],
    ["xbcesignature"],
    ["xobssignature"],
  ],
  ...[
    ["signature", "expires"],
    ["signature", "expiry"],
    ["signature", "exp"],
    ["sig", "exp"],
    ["sig", "expires"],
    ["hmac", "expires"],
  ],
  ...[
    ["hdnts"],
    ["hdnea"],
    ["verify", "expires"],
    ["token", "expires"],
    ["token", "expiry"],
    ["token", "exp"],
  ],
];

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
  // A name of one script that looks like Latin through and through, under a Latin top level.
  const isLatinTop = /^[a-z0-9-]*$/.test(labels.at(-1) ?? "");
  if (
    isLatinTop &&
    labels.some(
      (label) => /\P{ASCII}/u.test(label) && /^[a-z0-9-]+$/.test(asLatin(plain(label))) && !isLatin(label),
    )
  )
    note("elicitation/url-mixed-script", "look_alike");
}

function isLatin(label: string): boolean {
  return /^[\p{Script=Latin}\p{M}0-9-]+$/u.test(label);
}

function judgeContents(url: QuestionUrl, note: (rule: RuleId, detail: string) => void): void {
  const { credentials, personal } = sensitiveIn(unescaped(url.path));
  for (const kind of credentials) note("elicitation/url-credentials", kind);
  for (const kind of personal) note("elicitation/url-personal-data", kind);
  judgeParameters(url.query, 0, note);
  judgeParameters(url.fragment, 0, note);
}

function judgeParameters(text: string, depth: number, note: (rule: RuleId, detail: string) => void): void {
  if (text === "") return;
  const names = new Set<string>();
  // A fragment may be a path with a query of its own.
  const pairs = text.split(/[&;?]/, MAX_PARAMETERS + 1);
  // No flow has so many; what could hide among them counts as found.
  if (pairs.length > MAX_PARAMETERS) note("elicitation/url-credentials", "unread");
  for (const pair of pairs.slice(0, MAX_PARAMETERS)) {
    const at = pair.indexOf("=");
    const name = unescaped(at === -1 ? "" : pair.slice(0, at));
    const value = unescaped(at === -1 ? pair : pair.slice(at + 1));
    if (value === "") continue;
    const key = plain(name.slice(0, 128)).replace(/[^a-z0-9]/g, "");
    names.add(key);
    judgeValue(name, key, value, note);
    const query = /^https?:\/\/[^?#]*[?#]/i.exec(value)?.[0];
    if (query !== undefined && depth < MAX_NESTING)
      judgeParameters(value.slice(query.length), depth + 1, note);
  }
  if (PRESIGNED.some((set) => set.every((name) => names.has(name))))
    note("elicitation/url-presigned", "signed");
}

function judgeValue(
  name: string,
  key: string,
  value: string,
  note: (rule: RuleId, detail: string) => void,
): void {
  const { credentials, personal } = sensitiveIn(value);
  const [credential] = credentials;
  if (credential !== undefined) note("elicitation/url-credentials", credential);
  else if (
    key !== "" &&
    !OPAQUE.has(key) &&
    value.length >= 6 &&
    (OPENING.has(key) || namesSecret(name.slice(0, 128)))
  )
    note("elicitation/url-credentials", "named");
  else if (!OPAQUE.has(key) && isRandom(value)) note("elicitation/url-credentials", "random");
  const [person] = personal;
  if (person !== undefined) note("elicitation/url-personal-data", person);
  else if (namesPerson(name)) note("elicitation/url-personal-data", "named");
}

/** Escapes undone, twice, since an address in an address is escaped twice; what is broken stays. */
function unescaped(text: string): string {
  // A plus is a space, but at the front it is the one of a phone number.
  let plainText = text.replace(/(?<=.)\+/gs, " ");
  for (let i = 0; i < 2 && plainText.includes("%"); i++) {
    try {
      plainText = decodeURIComponent(plainText);
    } catch {
      return plainText;
    }
  }
  return plainText;
}
