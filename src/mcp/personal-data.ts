/**
 * Personal data known by its shape: addresses of mail, numbers of phones, cards and accounts, and of people at an
 * authority. Where there are check digits they have to fit. All expressions are bounded. Source: ISO/IEC 7812
 * (cards), ISO 13616 (IBAN), ITU-T E.164 (phones).
 */

/** What kind; never the value. */
export type PersonalKind = "email" | "phone" | "card" | "iban" | "national_id";

/** Names of files for dense screens (`a@2x.png`) and of repositories (`git@host:owner/name`) are none. */
const EMAIL =
  /(?<![\p{L}\p{N}._%+-])(?!(?:git|hg|svn)@[\p{L}\p{N}.-]{1,255}:)[\p{L}\p{N}._%+-]{1,64}@(?![0-9]x\.(?:png|jpe?g|gif|webp|avif)(?![\p{L}\p{N}]))(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/u;
const PHONE = /(?<![\w+])\+[1-9](?:[ ().\u00a0/-]{0,2}[0-9]){7,13}(?![0-9])/;
/** As written in North America. */
const US_PHONE = /(?<![\w(])\([2-9][0-9]{2}\) ?[2-9][0-9]{2}-[0-9]{4}(?![\w-])/;
const CARDS =
  /(?<![0-9A-Za-z_.-])(?:[2-6](?:[ \u00a0\u202f-]?[0-9]){12,18}|[2-6][0-9]{3}(?:\.[0-9]{4}){3})(?![0-9A-Za-z_])/g;
/** What numbers are grouped by. */
const SPACES = /[ .\u00a0\u202f-]/g;
/** First digits and lengths of the networks. */
const NETWORKS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[0-8]\d{14}|2(?:2[2-9]|[3-6]\d|7[0-2])\d{13}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14,17}|6(?:011|5\d\d|4[4-9]\d|2\d\d|0\d\d|7\d\d)\d{12,15})$/;
const IBANS = /(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ \u00a0\u202f-]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])/g;
const IBAN_LENGTHS =
  "NO15 BE16 DK18 FI18 FO18 GL18 NL18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 XK20 CH21 CR22 HR21 LI21 LV21 BG22 BH22 DE22 GB22 GE22 IE22 ME22 RS22 VA22 " +
  "AE23 GI23 IL23 IQ23 TL23 AD24 CZ24 ES24 MD24 PK24 RO24 SA24 SE24 SK24 TN24 VG24 PT25 ST25 IS26 TR26 FR27 GR27 IT27 MC27 MR27 SM27 AL28 AZ28 BY28 CY28 " +
  "DO28 EG29 GT28 HU28 LB28 PL28 SV28 BR29 PS29 QA29 UA29 JO30 KW30 MU30 MT31 SC31 LC32";
const LENGTHS = new Map(IBAN_LENGTHS.split(" ").map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]));
const US_SSN = /(?<![0-9A-Za-z-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9A-Za-z-])/;
const UK_NINO = /(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{2}){3} ?[A-D](?![A-Za-z0-9])/;
const IT_FISCAL = /(?<![A-Za-z0-9])[A-Z]{6}[0-9]{2}[A-EHLMPR-T][0-9]{2}[A-Z][0-9]{3}[A-Z](?![A-Za-z0-9])/i;
const BR_CPF = /(?<![0-9])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![0-9])/;
const CN_ID =
  /(?<![0-9A-Za-z])[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx](?![0-9A-Za-z])/g;
const NATIONAL = [US_SSN, UK_NINO, IT_FISCAL, BR_CPF];
/** Numbers with check digits that are looked at in one text; more are not likely to be anybody's. */
const MAX_CANDIDATES = 256;

/** The kinds of personal data that stand somewhere in the untrusted `text`. */
export function personalDataIn(text: string): PersonalKind[] {
  const kinds: PersonalKind[] = [];
  // Without one the expression would try every character as the first of a name.
  if (text.includes("@") && EMAIL.test(text)) kinds.push("email");
  if (PHONE.test(text) || US_PHONE.test(text)) kinds.push("phone");
  if (anyOf(text, CARDS, isCard)) kinds.push("card");
  if (anyOf(text, IBANS, isIban)) kinds.push("iban");
  if (NATIONAL.some((shape) => shape.test(text)) || anyOf(text, CN_ID, isChineseId))
    kinds.push("national_id");
  return kinds;
}

function anyOf(text: string, shape: RegExp, fits: (candidate: string) => boolean): boolean {
  let seen = 0;
  for (const [candidate] of text.matchAll(shape)) {
    if (fits(candidate)) return true;
    if (++seen >= MAX_CANDIDATES) return false;
  }
  return false;
}

/** A number of a card network whose check digit (Luhn) fits. */
function isCard(candidate: string): boolean {
  const digits = candidate.replace(SPACES, "");
  if (!NETWORKS.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits.at(-1 - i));
    sum += i % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
  }
  return sum % 10 === 0;
}

/** An account number of a country's length whose check digits (modulo 97) fit. */
function isIban(candidate: string): boolean {
  let text = candidate.replace(SPACES, "").toUpperCase();
  const length = LENGTHS.get(text.slice(0, 2));
  if (length === undefined || text.length < length) return false;
  text = text.slice(0, length);
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

function isChineseId(id: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
  const sum = weights.reduce((total, weight, i) => total + weight * Number(id[i]), 0);
  return "10X98765432"[sum % 11] === id[17]?.toUpperCase();
}
