/** What `sealgate init` was asked for and has found out, and the files that come of it. */
import type { Catalogue } from "./catalogue.ts";
import type { IssuerFacts } from "./issuer.ts";
import type { PolicyText } from "./policies.ts";

/** Where the gateway is to run. */
export const FORMS = ["laptop", "compose", "sidecar"] as const;
export type Form = (typeof FORMS)[number];

/** What the operator asked for, and what was found out. */
export interface Facts {
  readonly form: Form;
  /** The server as it was reached from here. */
  readonly upstream: string;
  /** The server as the gateway will reach it. */
  readonly seenUpstream: string;
  /** Where clients connect, `host:port`, and the origin they use for it. */
  readonly listen: string;
  readonly publicUrl: string;
  readonly issuer: IssuerFacts | undefined;
  readonly catalogue: Catalogue;
  readonly policies: PolicyText;
  /** The id of the first key. */
  readonly keyId: string;
  /** How the configuration names the server's token. */
  readonly credential: { readonly file: string } | { readonly env: string } | undefined;
  /** The day, for the first line: `2026-11-30`. */
  readonly today: string;
  /** Of this program, for the name of the image. */
  readonly version: string;
  /** How the operator calls this program. */
  readonly program: string;
  /** Port 8080 is the server's own, so that clients connect to another. */
  readonly isPortMoved: boolean;
  /** How the configuration names the authority of the server's certificate. */
  readonly authority: string | undefined;
  /** Whose the secret files are, `uid:gid`; the container runs as that. */
  readonly user: string;
}

/** One file to write. */
export interface PlannedFile {
  /** From the folder on, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Readable by its owner only. */
  readonly secret: boolean;
}
