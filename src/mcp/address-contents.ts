/**
 * What rides in the address of a url question: credentials and personal data in its parameters and in its path, by
 * name and by shape. Guesses; the rules report by default. Source: MCP 2026-07-28, elicitation in url mode.
 */
import { isRandom } from "./credential-values.ts";
import type { QuestionUrl } from "./question-url.ts";
import { plain } from "./reading.ts";
import { unescapeOnce } from "./resource-uri.ts";
import { namesSecret } from "./secret-name.ts";
import { namesPerson, sensitiveIn } from "./sensitive.ts";

/** Takes what was found, by rule and kind. */
export type Note = (
  rule: "elicitation/url-credentials" | "elicitation/url-presigned" | "elicitation/url-personal-data",
  detail: string,
) => void;

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
  "code authcode sid sessionid session sessid sess jsessionid phpsessid aspsessionid aspnetsessionid sessionkey sig apikey magic magiclink otp jwt assertion clientassertion idtokenhint oobcode".split(
    " ",
  ),
);
/** Names that go with short harmless values too, such as `auth=google`: what opens something is long and mixed. */
const OPENING_IF_LONG: ReadonlySet<string> = new Set(
  "auth authorization authz ticket authdata authinfo".split(" "),
);
/** Segments of a path behind which an identifier opens something, or an account; behind others it is a commit, an order, a flow. */
const OPENING_SEGMENTS: ReadonlySet<string> = new Set(
  "session sessions sess sessid sid sessionid token tokens magic magiclink magiclinks magiclogin otp jwt apikey apikeys resetpassword passwordreset verifyemail emailverification confirmemail activateaccount".split(
    " ",
  ),
);
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Segments of a path that are looked at. */
const MAX_SEGMENTS = 256;
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

/** Judges what stands behind the host. */
export function judgeContents(url: QuestionUrl, note: Note): void {
  judgePath(url.path, note);
  judgeParameters(url.query, 0, note);
  // Pages route by fragments that are paths, with a query of their own.
  const path = /^!?\/[^?]*/.exec(url.fragment)?.[0] ?? "";
  judgePath(path, note);
  judgeParameters(url.fragment.slice(path.length), 0, note);
}

function judgePath(path: string, note: Note): void {
  const { credentials, personal, isWhole } = sensitiveIn(unescaped(path));
  if (!isWhole) note("elicitation/url-credentials", "unread");
  for (const kind of credentials) note("elicitation/url-credentials", kind);
  for (const kind of personal) note("elicitation/url-personal-data", kind);
  judgeSegments(path, note);
}

/** Segments of a path may be parameters, have some behind a semicolon (RFC 3986, 3.3), or be an identifier. */
function judgeSegments(path: string, note: Note): void {
  const segments = path.split("/", MAX_SEGMENTS + 1);
  if (segments.length > MAX_SEGMENTS) note("elicitation/url-credentials", "unread");
  const parameters: string[] = [];
  let before = "";
  for (const segment of segments.slice(0, MAX_SEGMENTS)) {
    const [first = "", ...behind] = segment.split(";");
    if (first.includes("=")) parameters.push(first);
    parameters.push(...behind);
    const name = unescaped(first);
    if (isIdentifier(name) && speaksOfOpening(before)) note("elicitation/url-credentials", "named");
    // A name and its value in one, as in `token:abc` and `sess_abc`.
    const [, label = "", value = ""] = /^([A-Za-z-]{3,24})[:_~](.{1,4096})$/.exec(name) ?? [];
    if (isIdentifier(value) && speaksOfOpening(label)) note("elicitation/url-credentials", "named");
    before = name;
  }
  judgeParameters(parameters.join(";"), 0, note);
}

function speaksOfOpening(segment: string): boolean {
  const name = segment.slice(0, 128);
  return OPENING_SEGMENTS.has(plain(name).replace(/[^a-z]/g, "")) || namesSecret(name);
}

/** Whether a text is something a machine made: a UUID, or a long run of letters and digits. Words with a year are not. */
function isIdentifier(text: string): boolean {
  if (text.length < 20 || text.length > 4096 || !/^[A-Za-z0-9_+=.~-]+$/.test(text)) return false;
  return (
    UUID.test(text) || text.split(/[-_.~]/).some((part) => part.length >= 16 && /[0-9].*[0-9]/.test(part))
  );
}

function judgeParameters(text: string, depth: number, note: Note): void {
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

function judgeValue(name: string, key: string, value: string, note: Note): void {
  const { credentials, personal, isWhole } = sensitiveIn(value);
  if (!isWhole) note("elicitation/url-credentials", "unread");
  const [credential] = credentials;
  if (credential !== undefined) note("elicitation/url-credentials", credential);
  else if (
    key !== "" &&
    !OPAQUE.has(key) &&
    value.length >= 6 &&
    (OPENING.has(key) || namesSecret(name.slice(0, 128)))
  )
    note("elicitation/url-credentials", "named");
  else if (OPENING_IF_LONG.has(key) && value.length >= 16 && isMixed(value))
    note("elicitation/url-credentials", "named");
  else if (!OPAQUE.has(key) && isRandom(value)) note("elicitation/url-credentials", "random");
  const [person] = personal;
  if (person !== undefined) note("elicitation/url-personal-data", person);
  else if (namesPerson(name)) note("elicitation/url-personal-data", "named");
}

function isMixed(text: string): boolean {
  return /[0-9]/.test(text) && /[A-Za-z]/.test(text);
}

/** Escapes undone, twice, since an address in an address is escaped twice; what is broken stays. */
function unescaped(text: string): string {
  // A plus is a space, but at the front it is the one of a phone number.
  let plainText = text.replace(/(?<=.)\+/gs, " ");
  for (let i = 0; i < 2 && plainText.includes("%"); i++) plainText = unescapeOnce(plainText);
  return plainText;
}
