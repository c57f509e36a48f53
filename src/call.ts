/**
 * A route as it was opened at start, and one modern request on it as the request half hands it on.
 */
import type { CallerLimits } from "./allowance/allowance.ts";
import type { Config } from "./config/schema.ts";
import type { Approval } from "./envelope/format.ts";
import type { Journey } from "./journey.ts";
import type { JsonText, Node } from "./json/scan.ts";
import type { AddressPolicy } from "./mcp/address-findings.ts";
import type { Declared } from "./mcp/capabilities.ts";
import type { RequestMessage } from "./mcp/message.ts";
import type { Target } from "./mcp/methods.ts";
import type { ModesByTool } from "./rules/modes.ts";
import type { SeenLists } from "./seen-lists.ts";
import type { TaskUse } from "./tasks/task-id.ts";
import type { CredentialSource } from "./upstream/credential-source.ts";
import type { Upstream } from "./upstream/dispatch.ts";

/** What a server may be let to ask (configuration `capability.allow`). */
export type Ask = Config["capability"]["allow"][number];

/** One configured route with what was opened for it at start. */
export interface Route {
  readonly config: Config["routes"][number];
  /** The route's own URL, its OAuth resource identifier (RFC 8707). */
  readonly resource: string;
  /** Where its protected resource metadata stands (RFC 9728). */
  readonly metadataUrl: string;
  /** Algorithms of DPoP proofs; undefined where DPoP is not configured. */
  readonly proofAlgorithms?: readonly string[] | undefined;
  /** Scopes that clients start with. */
  readonly startScopes: readonly string[];
  /** By issuer: the scopes that all its tokens need. */
  readonly requiredScopes: ReadonlyMap<string, readonly string[]>;
  readonly upstream: Upstream;
  /** Where the credential for its server comes from. */
  readonly credentials: CredentialSource;
  /** What this route lets a server ask while it answers a call of `tool`. */
  allowedAsks(tool: string | undefined): ReadonlySet<Ask>;
  /** What the client must have declared for a call of `tool`; of a hidden one no more is told than of a name nobody has. */
  requiredAsks(tool: string | undefined, hidden: boolean): readonly Ask[];
  /** What one caller may do here. */
  readonly limits: CallerLimits;
  /** Where a server may send people. */
  readonly addresses: AddressPolicy;
  /** The modes of rules on this route, for a call of `tool`. */
  readonly modes: ModesByTool;
  /** What the lists of its server said when they were last seen here. */
  readonly seen: SeenLists;
  /** Whether policy asks what they say that tools do. */
  readonly readsHints: boolean;
}

/** One modern request that may be forwarded: parsed, checked against its headers, authorized. */
export interface Call {
  readonly journey: Journey;
  readonly doc: JsonText;
  readonly message: RequestMessage;
  readonly params: Node | undefined;
  /** Negotiated protocol version. */
  readonly version: string;
  readonly target: Target | undefined;
  /** What the client declared, before policy narrowed it. */
  readonly declared: Declared;
  /** Absent where the route serves no tasks, or this request does not declare the extension. */
  readonly tasks?: TaskUse | undefined;
  /** Unix seconds: when it came, or later where revocations were known by then that a new chain has to be born after. */
  readonly birth: number;
  /** The user's consent that it runs on; set before it goes to the server, where policy asks for one. */
  consent?: Approval;
  /**
   * What may be asked now, by policy and by what operators set at run time; asked again for each use, since what they forbid
   * while the server works counts for what it answers. No accessor: an object that is given one for each request has a shape
   * of its own, and each look at it then costs what a whole check does.
   */
  readonly allow: () => ReadonlySet<Ask>;
}
