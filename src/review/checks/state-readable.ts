/** What a client can read in a state, said by kind and never by value. Pure. */
import { isUtf8 } from "node:buffer";
import { isObject, type Json } from "../../mcp/parsed.ts";
import { stateFindings } from "../../mcp/state-findings.ts";
import { unpadded } from "./state-forms.ts";

/** Fewer characters can be guessed, whatever they mean: 16 of base64 are 96 bits. */
const LEAST_OPAQUE = 16;
/** Shorter values stand in many texts by chance. */
const LEAST_VALUE = 4;
const MAX_PARTS = 8;

/**
 * What the untrusted `state` shows, as the ends of a sentence; none where it looks opaque.
 * @param args of the call it belongs to
 */
export function readableIn(state: string, args: Json): string[] {
  const shown = new Set<string>();
  const layers = [state, ...decoded(state)];
  for (const [i, layer] of layers.entries()) {
    const how = i === 0 ? "" : " in base64";
    if (isJson(layer)) shown.add(`JSON${how}`);
    else if (i > 0 || /\s/.test(layer) || /^[^=&]{1,64}=[^&]*(?:&|$)/.test(unpadded(layer)))
      shown.add(`text${how}`);
    if (valuesOf(args).some((value) => layer.includes(value))) shown.add("arguments of the call");
  }
  for (const { detail } of stateFindings(state)) {
    const kind = detail.replace(/_(?:to_\w+|over_\w+)$/, "");
    shown.add(
      kind
        .replace(/^credential_/, "a credential: ")
        .replace(/^personal_/, "personal data: ")
        .replaceAll("_", " "),
    );
  }
  if (shown.size === 0 && state.length < LEAST_OPAQUE) shown.add("so few characters that it can be guessed");
  return [...shown];
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** Texts that the state, or its parts between dots, hold as base64. */
function decoded(state: string): string[] {
  return state
    .split(".", MAX_PARTS)
    .filter((part) => part.length >= LEAST_VALUE && /^[A-Za-z0-9+/_-]+={0,2}$/.test(part))
    .flatMap((part) => {
      const bytes = Buffer.from(part, "base64");
      const text = isUtf8(bytes) ? bytes.toString("utf8") : "";
      // Few bytes are text by chance, and so is what no person has written.
      const isText = text.length >= 8 && /^[\p{L}\p{N}\p{P}\p{S}\p{Zs}\n\r\t]+$/u.test(text);
      return isText ? [text] : [];
    });
}

/** The texts and long numbers among the values of arguments. */
function valuesOf(value: unknown): string[] {
  if (typeof value === "string") return value.length >= LEAST_VALUE ? [value] : [];
  if (typeof value === "number") return String(value).length > LEAST_VALUE ? [String(value)] : [];
  if (Array.isArray(value)) return value.flatMap(valuesOf);
  return isObject(value) ? Object.values(value).flatMap(valuesOf) : [];
}
