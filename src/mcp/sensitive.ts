/**
 * Credentials and personal data in texts of a server: in the query of an address, in a state before it is sealed, in
 * a result. What is found is said by kind, never by value. Parts of the work are bounded; the rest is linear.
 */
import { isUtf8 } from "node:buffer";
import { type CredentialKind, credentialsIn } from "./credential-values.ts";
import { type PersonalKind, personalDataIn } from "./personal-data.ts";
import { plain } from "./reading.ts";
import { unescapeOnce } from "./resource-uri.ts";
import { namesSecret } from "./secret-name.ts";

/** What was found. `named`: a value under the name of a secret, or of personal data. */
export interface Sensitive {
  readonly credentials: ReadonlySet<CredentialKind | "named">;
  readonly personal: ReadonlySet<PersonalKind | "named">;
  /** Whether all of the text was looked into; if not, what is found is not all that there may be. */
  readonly isWhole: boolean;
}

/** Longest text that is looked into, in UTF-16 units: that of the largest state by default. */
const MAX_TEXT = 64 * 1024;
/** Different names whose values are looked at in one text. */
const MAX_NAMES = 512;
/** A name is read so far, in UTF-16 units. */
const MAX_NAME = 128;
/** Times that escapes are undone: JSON in a string of JSON. */
const MAX_ESCAPED = 2;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
const ESCAPED_AS: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: "\n", r: "\r", t: "\t", b: " ", f: " " }),
);
/** A member of an object with a string or a number, also in a text that is cut or only holds JSON. */
const MEMBER = /(?<!\\)"((?:[^"\\]|\\.)+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)|(-?\d[\d.eE+-]*))/gs;
/**
 * The same in other ways to write them down: one on a line (YAML, TOML, headers, settings of an environment), in
 * single quotes, names without quotes, tags.
 */
const PAIRS: readonly RegExp[] = [
  /^[ \t]{0,32}(?:[-*] |export )?([\p{L}_][\p{L}\p{M}\p{N}_.-]{0,63})[ \t]{0,8}[:=][ \t]{0,8}(["']?[^\s"']{1,512})["']?[ \t]{0,8}[,;]?$/gmu,
  /'([^'\n]{1,128})'\s{0,8}:\s{0,8}'([^'\n]{1,512})/g,
  /[{,]\s{0,16}([A-Za-z_]\w{0,63})\s{0,8}:\s{0,8}["']([^"'\n]{1,512})/g,
  /<([A-Za-z_][\w.:-]{0,63})>([^<>\s]{1,512})<\//g,
];
/** No shape is shorter: `a@b.de`. */
const SHORTEST = 6;
const NOTHING: Sensitive = { credentials: new Set(), personal: new Set(), isWhole: true };
/** Shorter ones are flags and counts rather than secrets. */
const LEAST_SECRET = 4;
const PERSONAL_NAMES: ReadonlySet<string> = new Set(
  (
    "email mail emailaddress useremail phone phonenumber tel telephone mobile mobilenumber msisdn ssn dob dateofbirth birthdate birthday " +
    "cpf dni nie aadhaar aadhaarnumber pesel bsn passportno socialsecurity vorname nachname geburtsdatum prenom nomdefamille datenaissance datedenaissance telefon telefono correo correoelectronico " +
    "apellido apellidos fechanacimiento fechadenacimiento sobrenome datanascimento datadenascimento cognome datadinascita voornaam achternaam geboortedatum imie nazwisko " +
    "firstname lastname surname fullname givenname familyname streetaddress homeaddress postaladdress passportnumber nationalid taxid " +
    "loginhint"
  ).split(" "),
);

/** Whether the name of a parameter or member says that its value is about a person. */
export function namesPerson(name: string): boolean {
  return PERSONAL_NAMES.has(plain(name.slice(0, 64)).replace(/[^a-z]/g, ""));
}

/**
 * Looks into the untrusted `text`: as it stands, with the escapes of JSON or of addresses undone, and where it is base64
 * or hexadecimal of something readable, or parts of that joined by dots, into that too, one level deep.
 */
export function sensitiveIn(text: string): Sensitive {
  if (text.length < SHORTEST) return NOTHING;
  const credentials = new Set<CredentialKind | "named">();
  const personal = new Set<PersonalKind | "named">();
  const head = text.slice(0, MAX_TEXT);
  let isWhole = head.length === text.length;
  for (const layer of [head, ...decoded(head)].flatMap(unescaped)) {
    for (const kind of credentialsIn(layer)) credentials.add(kind);
    for (const kind of personalDataIn(layer)) personal.add(kind);
    const names = longestValues(layer);
    isWhole &&= names.size <= MAX_NAMES;
    for (const [name, longest] of names) {
      if (longest >= LEAST_SECRET && namesSecret(name)) credentials.add("named");
      if (longest > 0 && namesPerson(name)) personal.add("named");
    }
  }
  return { credentials, personal, isWhole };
}

/** A text, and what it says when its escapes are undone once, twice; those of addresses once. */
function unescaped(text: string): string[] {
  const texts = [text];
  for (let layer = text; texts.length <= MAX_ESCAPED && layer.includes("\\"); texts.push(layer))
    layer = layer.replace(ESCAPE, (_, point?: string, sign = "") =>
      point === undefined ? (ESCAPED_AS.get(sign) ?? sign) : String.fromCharCode(Number.parseInt(point, 16)),
    );
  if (/%[0-9a-f]{2}/i.test(text)) texts.push(unescapeOnce(text));
  return texts;
}

/** The readable texts that a text holds as base64 or in hexadecimal, alone or in parts between dots. */
function decoded(text: string): string[] {
  const parts = text.split(".", 9);
  if (parts.length > 8) return [];
  return parts.flatMap((part) => {
    if (part.length < 8 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(part)) return [];
    const bytes = Buffer.from(part, /^(?:[0-9a-f]{2}){4,}$/i.test(part) ? "hex" : "base64");
    // What is no text was encrypted, compressed or a digest.
    if (!isUtf8(bytes)) return [];
    const inner = bytes.toString("utf8");
    return /[\p{Cc}]/u.test(inner.replace(/[\n\r\t]/g, "")) ? [] : [inner];
  });
}

/** Names in a text, by JSON or in other ways to write pairs, or joined to a value by `=`, with the length of the longest value; one more at most than are looked at. */
function longestValues(text: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  const note = (name: string, length: number): boolean => {
    const start = name.slice(0, MAX_NAME);
    names.set(start, Math.max(length, names.get(start) ?? 0));
    return names.size <= MAX_NAMES;
  };
  for (const [, name = "", string, number = ""] of text.matchAll(MEMBER))
    if (!note(name, (string ?? number).length)) return names;
  for (const shape of PAIRS)
    for (const [, name = "", value = ""] of text.matchAll(shape)) if (!note(name, value.length)) return names;
  if (!text.includes("=") || /^\s*[{[]/.test(text)) return names;
  for (const pair of text.split(/[&;,\s]+/)) {
    const at = pair.indexOf("=");
    if (at > 0 && !note(pair.slice(0, at), pair.length - at - 1)) return names;
  }
  return names;
}
