/**
 * Entries as they lie in a shared store: `<until> <key id>.<mac> <JSON text>`. The code is of a key that is derived from the
 * ring, so that whoever can write to the store, and has no key, can neither grant nor take back. The beginning is for the script
 * that drops what has expired; it is covered by the code too.
 */
import { timingSafeEqual } from "node:crypto";
import type { Keyring } from "../keyring.ts";
import { type Entry, parseEntry, printEntry } from "./entry.ts";

const LABEL = "sealgate/overrides/1";
const VALUE = /^(\d{1,16}) ([0-9a-f]{8})\.([A-Za-z0-9_-]{43}) (\{.*\})$/s;

/** What can sign and tell signatures. */
export interface Signing {
  readonly ring: Keyring;
  /** `envelope.audience`: what another gateway signs with the same key is not ours. */
  readonly audience: string;
}

/** An entry that was read. */
export interface Read {
  readonly entry: Entry;
  /** A key of the ring has signed it for this audience. */
  readonly authentic: boolean;
  /** Hexadecimal id of the key that says it has signed it. */
  readonly keyId: string;
}

/** The value of an entry, signed with the key that seals at a time (milliseconds). */
export function signEntry({ ring, audience }: Signing, entry: Entry, now: number): string {
  const key = ring.sealer(now / 1000);
  const text = printEntry(entry);
  const mac = key.mac(framed(audience, entry.until, text)).toString("base64url");
  return `${entry.until} ${key.keyId.toString("hex")}.${mac} ${text}`;
}

/** Reads a value that lies in the store under `id`; undefined unless it is an entry of that id. Trusts nothing. */
export function readEntry({ ring, audience }: Signing, id: string, value: string): Read | undefined {
  const [, until = "", keyId = "", mac = "", json = ""] = VALUE.exec(value) ?? [];
  const entry = json === "" ? undefined : parseEntry(json);
  if (entry === undefined || entry.id !== id || String(entry.until) !== until) return undefined;
  const key = ring.find(Buffer.from(keyId, "hex"));
  const given = Buffer.from(mac, "base64url");
  const authentic =
    key !== undefined &&
    given.length === 32 &&
    timingSafeEqual(given, key.mac(framed(audience, entry.until, json)));
  return { entry, authentic, keyId };
}

/** A JSON array: no part can slide into the next. */
const framed = (audience: string, until: number, text: string): Buffer =>
  Buffer.from(JSON.stringify([LABEL, audience, until, text]), "utf8");
