/** Authentication settings and a resource for tests, with the defaults of the schema. */

import type { Config } from "../../src/config/schema.ts";
import { Refusal } from "../../src/errors.ts";
import type { Log } from "../../src/log.ts";
import type { Resource } from "../../src/principal/principal.ts";
import { AUDIENCE } from "./issuer.ts";

export type IssuerSettings = Config["authentication"]["issuers"][number];

/** One issuer as the schema would fill it in. */
export function issuerSettings(issuer: string, settings: Partial<IssuerSettings> = {}): IssuerSettings {
  return {
    issuer,
    algorithms: ["ES256", "RS256", "PS256", "EdDSA"],
    clockTolerance: 30_000,
    claims: { subject: "sub", client: ["client_id", "azp", "appid"], scope: ["scope", "scp"] },
    requiredScopes: [],
    ...settings,
  };
}

export const RESOURCE: Resource = {
  url: AUDIENCE,
  audiences: undefined,
  metadataUrl: "https://gateway.example/.well-known/oauth-protected-resource/mcp",
};

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** A log that keeps its lines. */
export function recordingLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, info: at("info"), warn: at("warn"), error: at("error") };
}

/** The refusal that a promise ends in; fails when it ends in anything else. */
export async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("was not refused");
}
