/**
 * Which era a client message belongs to: modern (MCP 2026-07-28, with `_meta` in every request) or legacy (the handshake
 * revisions). Header and body decide together, and every mix of the two is refused: a legacy message is passed with fewer
 * checks, so nothing modern may travel as one. Source: MCP 2026-07-28, versioning and Streamable HTTP.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Message } from "./message.ts";
import { trim } from "./mirrored-headers.ts";
import { fold, hasSpelling, hasTwin, knownNames } from "./twins.ts";

/** The revision the gateway serves in full. */
export const MODERN_VERSION = "2026-07-28";
/** The revisions that negotiate by `initialize`, oldest first. */
export const LEGACY_VERSIONS: readonly string[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/** The `_meta` members that every modern request has. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
/** What a client calls itself; nothing is decided by it. */
export const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";

const META_NAMES = knownNames(
  VERSION_KEY,
  CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  "io.modelcontextprotocol/logLevel",
);
const META_PREFIX = "io.modelcontextprotocol/";
const VERSION_HEADER = "MCP-Protocol-Version";
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const FIRST_MODERN_YEAR = "2026";
const CARRIERS = knownNames("requestState", "inputResponses");

/** What a route serves, newest first, by its `legacy` setting. */
export function servedVersions(legacy: "refuse" | "pass"): readonly string[] {
  return legacy === "pass" ? [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()] : [MODERN_VERSION];
}

/** A message's era; a legacy version is what the header says, if there is one. */
export type Era =
  | { readonly era: "modern"; readonly version: string }
  | { readonly era: "legacy"; readonly version: string | undefined };

/** An untrusted client message and the value of its `MCP-Protocol-Version` header, if it has one. */
export interface EraInput {
  readonly header: string | undefined;
  readonly doc: JsonText;
  readonly message: Message;
}

/**
 * Decides the era or throws Refusal:
 * `header_mismatch` (header malformed, missing on a modern request, or not what the body says),
 * `missing_meta` (a modern request without its `_meta` members), `unsupported_version` (modern-looking but not served;
 * `data.supported`, `data.requested`), `invalid_request` (a `_meta` member in another case), `invalid_request_state` (state or answers in a message that is not modern, or outside the params of one that is).
 * A modern era is only the claim of a modern message: whether its method may carry state is judged later.
 */
export function decideEra({ header: raw, doc, message }: EraInput): Era {
  const header = raw === undefined ? undefined : trim(raw);
  const isCall = message.type === "request" || message.type === "notification";
  const meta = isCall ? message.meta : undefined;
  if (header !== undefined && !DATE.test(header)) {
    // Where header and body agree on it, it is a version, and not one that is served.
    const agreed = doc.text(doc.get(meta, VERSION_KEY)) === header;
    throw agreed ? unsupported(header) : mismatch("version_header");
  }
  const holder = isCall ? message.params : message.type === "result" ? message.result : message.error;
  // Outside the params no honest message has them, and what no check reads must not go up.
  if (hasSpelling(doc, doc.root, CARRIERS) || hasSpelling(doc, doc.get(holder, "_meta"), CARRIERS))
    throw new Refusal("invalid_request_state", "misplaced_carrier");

  if (!isModern(header) && !hasModernMeta(doc, meta)) {
    if (hasSpelling(doc, holder, CARRIERS)) throw new Refusal("invalid_request_state", "legacy_carrier");
    return { era: "legacy", version: header };
  }

  if (hasTwin(doc, meta, META_NAMES)) throw new Refusal("invalid_request", "case_twin");
  const declared = doc.text(doc.get(meta, VERSION_KEY));
  if (header !== undefined && declared !== undefined && header !== declared)
    throw mismatch("version_differs");
  if (header === undefined && message.type === "request") throw mismatch("version_header");
  const version = header ?? declared;
  if (version === undefined) throw new Refusal("missing_meta", "protocol_version");
  if (version !== MODERN_VERSION) throw unsupported(version);
  if (message.type === "request") {
    if (declared === undefined) throw new Refusal("missing_meta", "protocol_version");
    const capabilities = doc.get(meta, CAPABILITIES_KEY);
    if (capabilities === undefined || doc.kind(capabilities) !== "object")
      throw new Refusal("missing_meta", "client_capabilities");
  } else if (declared === undefined && doc.get(meta, VERSION_KEY) !== undefined) {
    throw new Refusal("missing_meta", "protocol_version");
  }
  return { era: "modern", version };
}

function isModern(version: string | undefined): boolean {
  return version !== undefined && version >= FIRST_MODERN_YEAR;
}

/** Also in another case: a reader that ignores case would take such a message for a modern one. */
function hasModernMeta(doc: JsonText, meta: Node | undefined): boolean {
  if (meta === undefined) return false;
  return doc.members(meta).some(({ key }) => fold(key).startsWith(META_PREFIX));
}

function mismatch(detail: string): Refusal {
  return new Refusal("header_mismatch", detail, { data: { header: VERSION_HEADER } });
}

function unsupported(requested: string): Refusal {
  const data = { supported: [MODERN_VERSION], requested: requested.slice(0, 64) };
  return new Refusal("unsupported_version", "version", { data });
}
