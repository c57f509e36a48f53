/**
 * Credentials and personal data in texts of a server: in the query of an address, in a state before it is sealed, in
 * a result. What is found is said by kind, never by value. Parts of the work are bounded; the rest is linear.
 */
import { isUtf8 } from "node:buffer";
import { type CredentialKind, credentialsIn } from "./credential-values.ts";
import { isObject } from "./parsed.ts";
import { type PersonalKind, personalDataIn } from "./personal-data.ts";
import { plain } from "./reading.ts";
import { namesSecret } from "./secret-name.ts";

/** What was found. `named`: a value under the name of a secret, or of personal data. */
export interface Sensitive {
  readonly credentials: ReadonlySet<CredentialKind | "named">;
  readonly personal: ReadonlySet<PersonalKind | "named">;
}

/** Longest text that is looked into, in UTF-16 units: that of the largest state by default. */
const MAX_TEXT = 64 * 1024;
/** Named values that are looked at in one text. */
const MAX_NAMES = 512;
const MAX_DEPTH = 32;
/** No shape is shorter: `a@b.de`. */
const SHORTEST = 6;
const NOTHING: Sensitive = { credentials: new Set(), personal: new Set() };
/** Shorter ones are flags and counts rather than secrets. */
const LEAST_SECRET = 4;
const PERSONAL_NAMES: ReadonlySet<string> = new Set(
  (
    "email mail emailaddress useremail phone phonenumber tel telephone mobile mobilenumber msisdn ssn dob dateofbirth birthdate birthday " +
    "firstname lastname surname fullname givenname familyname streetaddress homeaddress postaladdress passportnumber nationalid taxid " +
    "loginhint"
  ).split(" "),
);

/** Whether the name of a parameter or member says that its value is about a person. */
export function namesPerson(name: string): boolean {
  return PERSONAL_NAMES.has(plain(name.slice(0, 64)).replace(/[^a-z]/g, ""));
}

/**
 * Looks into the untrusted `text`: as it stands, and where it is JSON, base64 of something readable, or parts of that
 * joined by dots, into that too, one level deep.
 */
export function sensitiveIn(text: string): Sensitive {
  if (text.length < SHORTEST) return NOTHING;
  const credentials = new Set<CredentialKind | "named">();
  const personal = new Set<PersonalKind | "named">();
  const head = text.slice(0, MAX_TEXT);
  for (const layer of [head, ...decoded(head)]) {
    for (const kind of credentialsIn(layer)) credentials.add(kind);
    for (const kind of personalDataIn(layer)) personal.add(kind);
    for (const [name, value] of namedValues(layer)) {
      if (value.length >= LEAST_SECRET && namesSecret(name)) credentials.add("named");
      if (value !== "" && namesPerson(name)) personal.add("named");
    }
  }
  return { credentials, personal };
}

/** The readable texts that a text holds as base64, alone or in parts between dots. */
function decoded(text: string): string[] {
  const parts = text.split(".", 9);
  if (parts.length > 8) return [];
  return parts.flatMap((part) => {
    if (part.length < 8 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(part)) return [];
    const bytes = Buffer.from(part, "base64");
    // What is no text was encrypted, compressed or a digest.
    if (!isUtf8(bytes)) return [];
    const inner = bytes.toString("utf8");
    return /[\p{Cc}]/u.test(inner.replace(/[\n\r\t]/g, "")) ? [] : [inner];
  });
}

/** Names and values of a JSON text, or of pairs joined by `=`. */
function namedValues(text: string): (readonly [string, string])[] {
  const json = parsed(text);
  if (json !== undefined) return members(json);
  if (!text.includes("=")) return [];
  return text.split(/[&;,\s]+/, MAX_NAMES).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 ? [[pair.slice(0, Math.min(at, 128)), pair.slice(at + 1)] as const] : [];
  });
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function members(json: unknown): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  let level: unknown[] = [json];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (Array.isArray(value)) next.push(...value.slice(0, MAX_NAMES));
      else if (isObject(value)) {
        for (const [name, member] of Object.entries(value)) {
          if (found.length >= MAX_NAMES) return found;
          if (typeof member === "string" || typeof member === "number")
            found.push([name.slice(0, 128), String(member)]);
          else next.push(member);
        }
      }
    }
    level = next.slice(0, MAX_NAMES);
  }
  return found;
}
